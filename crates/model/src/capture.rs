//! Several captures of one URL, in archives of other programs.

use std::borrow::Cow;

/// What parts URL and number in a key. No URL contains it.
const SEPARATOR: char = '\u{1f}';

/// Returns the key of a capture in the log of URLs: the URL, for the second and later ones with their number.
pub fn capture_key(url: &str, capture: u32) -> Cow<'_, str> {
    if capture > 1 { Cow::Owned(format!("{url}{SEPARATOR}{capture}")) } else { Cow::Borrowed(url) }
}

/// Returns URL and number of a [`capture_key`].
pub fn split_capture_key(key: &str) -> (&str, u32) {
    let parts = key.rsplit_once(SEPARATOR);
    parts.and_then(|(url, number)| Some((url, number.parse().ok()?))).unwrap_or((key, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_url_and_from_the_second_capture_on_its_number() {
        for (capture, expected) in [(1, "http://a.test/"), (2, "http://a.test/\u{1f}2"), (12, "http://a.test/\u{1f}12")]
        {
            let key = capture_key("http://a.test/", capture);
            assert_eq!(key, expected);
            assert_eq!(split_capture_key(&key), ("http://a.test/", capture));
        }
    }
}
