//! The words in a page's own URL.

use crate::model::CanonicalUrl;

/// Returns the labels of the host below the public suffix and the path segments, percent-decoded. IP addresses have no
/// words.
pub(super) fn words(url: &CanonicalUrl) -> String {
    let mut words = String::new();
    if let Some(name) = url.domain() {
        let labels = match psl::suffix_str(name) {
            Some(suffix) if suffix.len() < name.len() => &name[..name.len() - suffix.len()],
            _ => name,
        };
        words.push_str(labels);
    }
    for segment in url.as_url().path().split('/') {
        words.push(' ');
        words.push_str(&percent_decoded(segment));
    }
    // Everything but letters and digits separates words, underscores too.
    words.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect()
}

/// Returns the words of the path without the file name extension, cut as by [`cut_words`].
pub(super) fn words_of_path(url: &CanonicalUrl) -> String {
    let path = url.as_url().path();
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let stem = if stem.eq_ignore_ascii_case("index") { "" } else { stem };
    cut_words(&format!("{} {}", percent_decoded(directory), percent_decoded(stem)))
}

/// Cuts compound words: at everything but letters and digits, between `aB`, and between a letter and a digit.
pub(super) fn cut_words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        if (before.is_lowercase() && c.is_uppercase()) || (before.is_alphabetic() && c.is_numeric()) {
            words.push(' ');
        }
        words.push(if c.is_alphanumeric() { c } else { ' ' });
        before = c;
    }
    words
}

fn percent_decoded(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match byte.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                decoded.push(byte);
                at += 3;
            }
            _ => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Normalizer;

    fn split(url: &str) -> Vec<String> {
        words(&Normalizer::default().absolute(url).unwrap()).split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn host_labels_below_the_public_suffix_and_path_segments_are_words() {
        assert_eq!(
            split("https://docs.example.co.uk/user-guide/caf%C3%A9_menu.html?q=no"),
            ["docs", "example", "user", "guide", "café", "menu", "html"]
        );
        assert_eq!(split("http://127.0.0.1:8080/a%"), ["a"]);
    }

    #[test]
    fn of_a_path_compound_words_are_cut_and_the_ending_is_left_out() {
        let words = |url: &str| {
            let words = words_of_path(&Normalizer::default().absolute(url).unwrap());
            words.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(words("http://h.test/lang/StringUtils.html?q"), ["lang", "String", "Utils"]);
        assert_eq!(words("http://h.test/asyncio-stream/v2.0/gtk3"), ["asyncio", "stream", "v", "2", "0", "gtk", "3"]);
        assert!(words("http://h.test/index.html").is_empty());
    }
}
