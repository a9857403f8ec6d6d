//! Rules that turn words into terms, by language: stop words are dropped, the others are stemmed.

use std::borrow::Cow;
use std::sync::Arc;

use rust_stemmers::{Algorithm, Stemmer};

use super::languages::LANGUAGES;
use super::stop_words;
use super::synonyms::Synonyms;

/// The stemming library and its version: records of another version can't be compared.
pub(super) const STEMMER: &str = "rust-stemmers 1.2.0";

/// The rules of one language.
pub(super) struct TermRules {
    /// Number of the language; 0 for languages without rules.
    number: u8,
    stemmer: Option<Stemmer>,
    stop_words: &'static [&'static str],
    /// The synonym table, and the language whose rows apply.
    synonyms: Option<(Arc<Synonyms>, &'static str)>,
}

impl TermRules {
    /// Returns the rules of a language, given as a primary subtag. `None` and unknown languages keep words as they
    /// are.
    pub fn of(language: Option<&str>, stem: bool, stop: bool) -> Self {
        let language = language.unwrap_or_default();
        let number = LANGUAGES.iter().position(|known| *known == language);
        Self {
            number: number.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0),
            stemmer: if stem { algorithm(language).map(Stemmer::create) } else { None },
            stop_words: if stop { stop_words::of(language) } else { &[] },
            synonyms: None,
        }
    }

    /// Adds a synonym table.
    pub fn mapping(self, synonyms: Option<&Arc<Synonyms>>) -> Self {
        let language = usize::from(self.number).checked_sub(1).and_then(|at| LANGUAGES.get(at)).copied();
        Self { synonyms: synonyms.map(|table| (Arc::clone(table), language.unwrap_or_default())), ..self }
    }

    /// Returns the number of the language.
    pub fn number(&self) -> u8 {
        self.number
    }

    /// Returns whether the word tells nothing of a page's subject. The word must be in lower case.
    pub fn is_stop_word(&self, word: &str) -> bool {
        self.stop_words.binary_search(&word).is_ok()
    }

    /// Returns the stem of the word, or of its synonym.
    pub fn stem<'a>(&'a self, word: &'a str) -> Cow<'a, str> {
        let word = self.synonyms.as_ref().map_or(word, |(synonyms, language)| synonyms.mapped(language, word));
        match &self.stemmer {
            Some(stemmer) => stemmer.stem(word),
            None => word.into(),
        }
    }
}

/// Returns the stemmer of a language. Greek is left out: the library panics on some Greek words.
fn algorithm(language: &str) -> Option<Algorithm> {
    Some(match language {
        "ar" => Algorithm::Arabic,
        "da" => Algorithm::Danish,
        "de" => Algorithm::German,
        "en" => Algorithm::English,
        "es" => Algorithm::Spanish,
        "fi" => Algorithm::Finnish,
        "fr" => Algorithm::French,
        "hu" => Algorithm::Hungarian,
        "it" => Algorithm::Italian,
        "nb" | "nn" | "no" => Algorithm::Norwegian,
        "nl" => Algorithm::Dutch,
        "pt" => Algorithm::Portuguese,
        "ro" => Algorithm::Romanian,
        "ru" => Algorithm::Russian,
        "sv" => Algorithm::Swedish,
        "ta" => Algorithm::Tamil,
        "tr" => Algorithm::Turkish,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stemmed_by_language_and_left_alone_without_one() {
        assert_eq!(TermRules::of(Some("en"), true, true).stem("crawling"), "crawl");
        assert_eq!(TermRules::of(Some("de"), true, true).stem("häuser"), "haus");
        assert_eq!(TermRules::of(None, true, true).stem("crawling"), "crawling");
        assert_eq!(TermRules::of(Some("el"), true, true).stem("ισαισα"), "ισαισα");
    }

    #[test]
    fn words_are_mapped_before_they_are_stemmed() {
        let table = Arc::new(Synonyms::read("", b"search, seek\nengines, motors\n[en]\nyears, ages").unwrap());
        let stem = |language, word| TermRules::of(language, true, true).mapping(Some(&table)).stem(word).into_owned();
        assert_eq!(
            ["search", "engines", "years", "crawling"].map(|word| stem(Some("en"), word)),
            ["seek", "motor", "age", "crawl"]
        );
        assert_eq!(["search", "engines", "years"].map(|word| stem(None, word)), ["seek", "motors", "years"]);
    }

    #[test]
    fn languages_with_rules_have_a_number() {
        for letters in (b'a'..=b'z').flat_map(|one| (b'a'..=b'z').map(move |two| [one, two])) {
            let language = std::str::from_utf8(&letters).unwrap();
            let has_rules = algorithm(language).is_some() || !stop_words::of(language).is_empty();
            assert_eq!(TermRules::of(Some(language), true, true).number() > 0, has_rules, "{language}");
        }
    }

    #[test]
    fn stop_words_belong_to_their_language() {
        let english = TermRules::of(Some("en"), true, true);
        assert!(english.is_stop_word("the") && !english.is_stop_word("die"));
        assert!(TermRules::of(Some("de"), true, true).is_stop_word("die"));
        assert!(!TermRules::of(Some("en"), true, false).is_stop_word("the"));
    }
}
