//! `meta[http-equiv=refresh]`: where does it lead?
//!
//! WHATWG HTML, "shared declarative refresh steps".

/// The target of a refresh as it is written, without quotes; `None` if it only reloads the page or
/// is broken.
pub(super) fn target(content: &str) -> Option<&str> {
    let rest = content.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let after_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
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
    (!url.is_empty()).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_found_in_all_spellings() {
        for content in ["0; url=/next", "3;URL='/next'", ".1, url = \"/next\" x", " 5 ;/next", "5 /next"] {
            assert_eq!(target(content), Some("/next"), "{content}");
        }
        for content in ["5", "", "url=/next", "\u{665}; url=/next", "5;", "5; url="] {
            assert_eq!(target(content), None, "{content}");
        }
    }
}
