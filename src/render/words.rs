//! Words and the terms they stand for, kept from page to page.
//!
//! Pages of one site share most of their words, and a stem costs some hundred times as much as
//! looking it up. What is kept is bounded: words are gathered in generations, and when the younger
//! one is full, the older is forgotten; a word of it that is met again moves up. That takes at most
//! 2^18 words and some 16 MB.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::stem::Terms;
use super::tokens;

/// Words of one generation.
const GENERATION: usize = 1 << 17;
/// Longer words, in octets, are rare, and looked at anew each time.
const LONGEST_KEPT: usize = 64;

/// The words of all languages.
#[derive(Debug, Default)]
pub(super) struct Words {
    hasher: DefaultHashBuilder,
    young: Generation,
    old: Generation,
    lower: String,
    stem: String,
}

#[derive(Debug, Default)]
struct Generation {
    /// Each word, followed by its term.
    text: String,
    words: HashTable<Word>,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    start: u32,
    length: u8,
    term_length: u8,
    language: u8,
    is_stop_word: bool,
}

impl Word {
    fn spelling<'t>(&self, text: &'t str) -> &'t str {
        let start = self.start as usize;
        &text[start..start + usize::from(self.length)]
    }

    fn term<'t>(&self, text: &'t str) -> Option<&'t str> {
        let start = self.start as usize + usize::from(self.length);
        (!self.is_stop_word).then(|| &text[start..start + usize::from(self.term_length)])
    }
}

impl Words {
    /// The hash by which words are looked up.
    #[inline]
    pub fn hash(&self, word: &str) -> u64 {
        self.hasher.hash_one(word)
    }

    /// The hasher behind [`Words::hash`].
    pub fn hasher(&self) -> DefaultHashBuilder {
        self.hasher.clone()
    }

    /// The term of a word as it is written, whose hash is given; `None` if it is a stop word.
    pub fn term(&mut self, word: &str, hash: u64, language: &Terms) -> Option<&str> {
        if word.len() > LONGEST_KEPT {
            return self.made(word, language);
        }
        let is = |kept: &Word, text: &str| kept.language == language.number() && kept.spelling(text) == word;
        if self.young.words.find(hash, |kept| is(kept, &self.young.text)).is_none() {
            let older = self.old.words.find(hash, |kept| is(kept, &self.old.text)).copied();
            match older {
                Some(kept) => {
                    self.stem.clear();
                    self.stem.push_str(kept.term(&self.old.text).unwrap_or_default());
                    self.keep(word, hash, language, kept.is_stop_word);
                }
                None => {
                    let is_stop_word = self.made(word, language).is_none();
                    self.keep(word, hash, language, is_stop_word);
                }
            }
        }
        let young = &self.young;
        young.words.find(hash, |kept| is(kept, &young.text)).and_then(|kept| kept.term(&young.text))
    }

    /// Makes the term of a word in `self.stem`.
    pub fn made(&mut self, word: &str, language: &Terms) -> Option<&str> {
        tokens::lower(word, &mut self.lower);
        self.stem.clear();
        if language.is_stop_word(&self.lower) {
            return None;
        }
        self.stem.push_str(&language.stem(&self.lower));
        Some(&self.stem)
    }

    /// Keeps the word with the term that is in `self.stem`.
    fn keep(&mut self, word: &str, hash: u64, language: &Terms, is_stop_word: bool) {
        if self.young.words.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        let Generation { text, words } = &mut self.young;
        // Words are short, and terms hardly longer; what does not fit is cut off by the bounds above.
        let (Ok(length), Ok(term_length), Ok(start)) =
            (u8::try_from(word.len()), u8::try_from(self.stem.len()), u32::try_from(text.len()))
        else {
            return;
        };
        text.push_str(word);
        text.push_str(&self.stem);
        let kept = Word { start, length, term_length, language: language.number(), is_stop_word };
        let hasher = &self.hasher;
        words.insert_unique(hash, kept, |kept| hasher.hash_one(kept.spelling(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_the_same_at_every_look_and_differ_by_language() {
        let (english, german) = (Terms::of(Some("en"), true, true), Terms::of(Some("de"), true, true));
        let mut words = Words::default();
        for _ in 0..2 {
            for (word, language, term) in [
                ("Crawling", &english, Some("crawl")),
                ("Häuser", &german, Some("haus")),
                ("die", &english, Some("die")),
                ("die", &german, None),
                ("The", &english, None),
            ] {
                let hash = words.hash(word);
                assert_eq!(words.term(word, hash, language), term, "{word}");
            }
        }
    }

    #[test]
    fn words_that_were_forgotten_are_made_anew() {
        let none = Terms::of(None, true, true);
        let mut words = Words::default();
        for number in 0..3 * GENERATION {
            let word = format!("W{number}");
            let hash = words.hash(&word);
            assert_eq!(words.term(&word, hash, &none), Some(word.to_lowercase().as_str()));
            assert!(words.young.words.len() <= GENERATION);
        }
        let hash = words.hash("W1");
        assert_eq!(words.term("W1", hash, &none), Some("w1"));
    }
}
