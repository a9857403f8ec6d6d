//! The languages with rules.

/// The languages with a stemmer or stop words.
pub(super) const LANGUAGES: [&str; 19] =
    ["ar", "da", "de", "en", "es", "fi", "fr", "hu", "it", "nb", "nl", "nn", "no", "pt", "ro", "ru", "sv", "ta", "tr"];

/// Returns whether there are a stemmer or stop words for a language, given as a primary BCP 47 subtag.
pub fn has_rules(language: &str) -> bool {
    LANGUAGES.contains(&language)
}
