//! Refreshes: `meta[http-equiv=refresh]` and the header line `Refresh` (WHATWG HTML, "shared declarative refresh
//! steps").

use url::Url;

use crate::model::{Normalizer, PageSource, Refresh};

/// Reads a refresh whose target is relative to `base`. `None` if it names no URL to crawl.
pub(super) fn resolved(content: &str, base: &Url, normalizer: &Normalizer) -> Option<Refresh> {
    let (seconds, target) = read(content)?;
    Some(Refresh { seconds, to: normalizer.resolve_spelled(base, target).ok()? })
}

/// Returns the refresh of the header line, which comes before those of the page. `address` is the page's.
pub fn header_refresh(page: PageSource<'_>, address: &Url, normalizer: &Normalizer) -> Option<Refresh> {
    let (_, value) = page.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("refresh"))?;
    // A browser takes each byte for a character; servers that send UTF-8 mean UTF-8.
    let latin_1 = || value.iter().copied().map(char::from).collect();
    let text = String::from_utf8(value.clone()).unwrap_or_else(|_| latin_1());
    resolved(&text, address, normalizer)
}

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
    fn a_header_line_is_read_like_the_element_and_relative_to_the_address() {
        let address = Url::parse("http://h.test/d/page?x").unwrap();
        let page = Normalizer::default().absolute(address.as_str()).unwrap();
        let refresh = |value: &[u8]| {
            let headers = [("REFRESH".to_owned(), value.to_vec())];
            let source = PageSource::new(&page, b"").with_headers(&headers);
            header_refresh(source, &address, &Normalizer::default())
        };
        for (value, target, is_instant) in [
            (&b"0; url=next?"[..], "http://h.test/d/next?", true),
            (b"0;URL=\"/next;jsessionid=1\"", "http://h.test/next;jsessionid=1", true),
            (b"0.9, '/%7Ea'", "http://h.test/%7Ea", true),
            (b"1; url=/next#top", "http://h.test/next", false),
            (b"0; url=/caf\xc3\xa9", "http://h.test/caf%C3%A9", true),
            (b"0; url=/caf\xe9", "http://h.test/caf%C3%A9", true),
        ] {
            let refresh = refresh(value).unwrap();
            assert_eq!((refresh.to.spelling.as_str(), refresh.is_instant()), (target, is_instant));
        }
        for value in [&b"0"[..], b"5; url=", b"url=/next", b"0; url=mailto:a@b", b""] {
            assert_eq!(refresh(value), None, "{value:?}");
        }
        assert_eq!(refresh(b"0; url=next?").unwrap().to.url.as_str(), "http://h.test/d/next");
    }

    #[test]
    fn the_wait_is_the_number_at_the_start() {
        for (content, seconds) in [("3;/n", 3.0), (".1;/n", 0.1), ("3.1;/n", 3.1), ("1.2.3;/n", 1.2), (".;/n", 0.0)] {
            assert_eq!(read(content), Some((seconds, "/n")), "{content}");
        }
    }
}
