//! The target of a `meta[http-equiv=refresh]` (WHATWG HTML, "shared declarative refresh steps").

/// Returns the delay in seconds and the target as written, without quotes.
///
/// `None` if the refresh only reloads the page or is broken.
pub(super) fn read(content: &str) -> Option<(f64, &str)> {
    let rest = content.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let after_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let seconds = seconds(&rest[..rest.len() - after_time.len()]);
    if after_time.len() == rest.len() || !after_time.starts_with([';', ',', ' ', '\t', '\n', '\r', '\x0c']) {
        return None;
    }
    let spaces = |c: char| c.is_ascii_whitespace();
    let rest = after_time.trim_start_matches(spaces);
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start_matches(spaces);
    let url = match rest.get(..3) {
        Some(key) if key.eq_ignore_ascii_case("url") => {
            let value = rest[3..].trim_start_matches(spaces);
            value.strip_prefix('=').map_or(rest, |value| value.trim_start_matches(spaces))
        }
        _ => rest,
    };
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    let url = url.trim_matches(spaces);
    (!url.is_empty()).then_some((seconds, url))
}

/// Reads the number at the start of digits and dots; browsers drop the fraction.
fn seconds(text: &str) -> f64 {
    let end = text.match_indices('.').nth(1).map_or(text.len(), |(at, _)| at);
    text[..end].parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_found_in_all_spellings() {
        for content in ["0; url=/next", "3;URL='/next'", ".1, url = \"/next\" x", " 5 ;/next", "5 /next"] {
            assert_eq!(read(content).map(|(_, target)| target), Some("/next"), "{content}");
        }
        for content in ["5", "", "url=/next", "\u{665}; url=/next", "5;", "5; url="] {
            assert_eq!(read(content), None, "{content}");
        }
    }

    #[test]
    fn the_wait_is_the_number_at_the_start() {
        for (content, seconds) in [("3;/n", 3.0), (".1;/n", 0.1), ("3.1;/n", 3.1), ("1.2.3;/n", 1.2), (".;/n", 0.0)] {
            assert_eq!(read(content), Some((seconds, "/n")), "{content}");
        }
    }
}
