//! Words and the terms they stand for, kept from page to page.
//!
//! Pages of one site share most of their words, and a stem costs some hundred times as much as
//! looking it up. What is kept is bounded: words are gathered in generations, and when the younger
//! one is full, the older is forgotten as the next page begins; a word of it that is met again moves
//! up. That takes 2^18 words and some 24 MB at most, beside the words of one page.
//!
//! A word is looked up once where it stands, also if it is met again on the same page: beside its
//! term stands the term's position on the page that is rendered just now.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::short_words::{ShortWord, ShortWords, Term};
use super::stem::Terms;
use super::tokens;

/// Words of one generation, short and long ones each.
const GENERATION: usize = 1 << 17;
/// Longer words, in octets, are rare, and looked at anew each time.
const LONGEST_KEPT: usize = 64;
/// The position of what is no term.
pub(super) const STOP_WORD: u32 = u32::MAX;

/// The words of all languages.
#[derive(Debug)]
pub(super) struct Words {
    hasher: DefaultHashBuilder,
    short: ShortWords,
    old_short: ShortWords,
    long: LongWords,
    old_long: LongWords,
    /// Counts pages, so that positions on other pages are told from those on this one.
    page: u32,
    fetched: u32,
    lower: String,
    stem: String,
}

#[derive(Debug, Default)]
struct LongWords {
    /// Each word, followed by its term.
    text: String,
    words: HashTable<LongWord>,
}

#[derive(Clone, Copy, Debug)]
struct LongWord {
    start: u32,
    length: u8,
    term_length: u8,
    language: u8,
    is_stop_word: bool,
}

impl LongWord {
    fn spelling<'t>(&self, text: &'t str) -> &'t str {
        let start = self.start as usize;
        &text[start..start + usize::from(self.length)]
    }

    fn term<'t>(&self, text: &'t str) -> Option<&'t str> {
        let start = self.start as usize + usize::from(self.length);
        (!self.is_stop_word).then(|| &text[start..start + usize::from(self.term_length)])
    }
}

impl LongWords {
    fn find(&self, hash: u64, word: &str, language: u8) -> Option<LongWord> {
        self.words.find(hash, |kept| kept.language == language && kept.spelling(&self.text) == word).copied()
    }
}

impl Default for Words {
    fn default() -> Self {
        let hasher = DefaultHashBuilder::default();
        Self {
            short: ShortWords::new(&hasher),
            old_short: ShortWords::new(&hasher),
            long: LongWords::default(),
            old_long: LongWords::default(),
            page: 0,
            fetched: 0,
            lower: String::new(),
            stem: String::new(),
            hasher,
        }
    }
}

impl Words {
    /// Forgets positions of the page before, and words if there are too many.
    pub fn begin_page(&mut self) {
        self.page = match self.page.checked_add(1) {
            Some(page) => page,
            // Pages of four thousand millions ago must not be taken for this one.
            None => {
                self.short = ShortWords::new(&self.hasher);
                1
            }
        };
        if self.short.len() >= GENERATION {
            self.old_short = std::mem::replace(&mut self.short, ShortWords::new(&self.hasher));
        }
        if self.long.words.len() >= GENERATION {
            self.old_long = std::mem::take(&mut self.long);
        }
    }

    /// The hash of a word or a term.
    pub fn hash(&self, word: &str) -> u64 {
        self.hasher.hash_one(word)
    }

    /// The hasher behind [`Words::hash`].
    pub fn hasher(&self) -> DefaultHashBuilder {
        self.hasher.clone()
    }

    /// Looks all these words up at once, so that the memory in which they stand is fetched by the
    /// time it is needed: a word is in no cache that is near, and to wait for one after the other
    /// would take longer than all else that is done to it.
    #[inline]
    pub fn fetch(&mut self, words: impl Iterator<Item = ShortWord>, language: &Terms) {
        let number = language.number();
        // What is found is of no use, but not known to be.
        self.fetched = words.fold(self.fetched, |all, word| all ^ self.short.first_page(word, number));
    }

    /// The position on this page of the term of a short word. A term that is met first is handed to
    /// `place`, which answers where it gets.
    #[inline]
    pub fn position(&mut self, short: ShortWord, word: &str, language: &Terms, place: impl FnOnce(&str) -> u32) -> u32 {
        let found = self.short.find(short, language.number());
        if let Some(kept) = self.short.at(found) {
            if kept.page == self.page {
                return kept.position;
            }
            let position = kept.term.as_str().map_or(STOP_WORD, place);
            kept.position = position;
            kept.page = self.page;
            return position;
        }
        self.first_position(short, word, language, place)
    }

    #[cold]
    fn first_position(
        &mut self,
        short: ShortWord,
        word: &str,
        language: &Terms,
        place: impl FnOnce(&str) -> u32,
    ) -> u32 {
        let older = self.old_short.find(short, language.number());
        let term = match self.old_short.at(older) {
            Some(kept) => Some(kept.term),
            None => Term::of(self.made(word, language)),
        };
        let Some(term) = term else {
            // A stem that is longer than its word.
            return place(&self.stem);
        };
        let position = term.as_str().map_or(STOP_WORD, place);
        self.short.insert(short, language.number(), term, self.page, position);
        position
    }

    /// The term of a long word; `None` if it is a stop word.
    pub fn term(&mut self, word: &str, language: &Terms) -> Option<&str> {
        if word.len() > LONGEST_KEPT {
            return self.made(word, language);
        }
        let hash = self.hash(word);
        let number = language.number();
        if let Some(kept) = self.long.find(hash, word, number) {
            return kept.term(&self.long.text);
        }
        let is_stop_word = match self.old_long.find(hash, word, number) {
            Some(kept) => {
                self.stem.clear();
                self.stem.push_str(kept.term(&self.old_long.text).unwrap_or_default());
                kept.is_stop_word
            }
            None => self.made(word, language).is_none(),
        };
        self.keep(word, hash, number, is_stop_word);
        (!is_stop_word).then_some(&self.stem)
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

    /// Keeps the long word with the term that is in `self.stem`.
    fn keep(&mut self, word: &str, hash: u64, language: u8, is_stop_word: bool) {
        let LongWords { text, words } = &mut self.long;
        // Words are short, and terms hardly longer; what does not fit is made anew each time.
        let (Ok(length), Ok(term_length), Ok(start)) =
            (u8::try_from(word.len()), u8::try_from(self.stem.len()), u32::try_from(text.len()))
        else {
            return;
        };
        text.push_str(word);
        text.push_str(&self.stem);
        let kept = LongWord { start, length, term_length, language, is_stop_word };
        let hasher = &self.hasher;
        words.insert_unique(hash, kept, |kept| hasher.hash_one(kept.spelling(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(words: &mut Words, word: &str, language: &Terms) -> Option<String> {
        let mut placed = None;
        match ShortWord::of(word, 0, word.len()) {
            Some(short) => {
                let position = words.position(short, word, language, |term| {
                    placed = Some(term.to_owned());
                    7
                });
                assert_eq!(position, if placed.is_some() { 7 } else { STOP_WORD });
            }
            None => placed = words.term(word, language).map(str::to_owned),
        }
        placed
    }

    #[test]
    fn terms_are_the_same_on_every_page_and_differ_by_language() {
        let (english, german) = (Terms::of(Some("en"), true, true), Terms::of(Some("de"), true, true));
        let mut words = Words::default();
        for _ in 0..2 {
            words.begin_page();
            for (word, language, expected) in [
                ("Crawling", &english, Some("crawl")),
                ("Häuser", &german, Some("haus")),
                ("die", &english, Some("die")),
                ("die", &german, None),
                ("The", &english, None),
                ("straightforwardness", &english, Some("straightforward")),
                ("sixteen_letters_", &english, Some("sixteen_letters_")),
            ] {
                assert_eq!(term(&mut words, word, language).as_deref(), expected, "{word}");
            }
        }
    }

    #[test]
    fn a_word_that_comes_again_has_its_position() {
        let english = Terms::of(Some("en"), true, true);
        let mut words = Words::default();
        words.begin_page();
        let short = ShortWord::of("word", 0, 4).unwrap();
        assert_eq!(words.position(short, "word", &english, |_| 3), 3);
        assert_eq!(words.position(short, "word", &english, |_| 4), 3);
        words.begin_page();
        assert_eq!(words.position(short, "word", &english, |_| 5), 5);
    }

    #[test]
    fn words_that_were_forgotten_are_made_anew() {
        let none = Terms::of(None, true, true);
        let mut words = Words::default();
        for number in 0..3 * GENERATION {
            if number % 1000 == 0 {
                words.begin_page();
            }
            for word in [format!("W{number}"), format!("a_long_word_that_is_kept_W{number}")] {
                assert_eq!(term(&mut words, &word, &none), Some(word.to_lowercase()));
            }
            assert!(words.short.len() <= GENERATION + 1000 && words.long.words.len() <= GENERATION + 1000);
        }
        words.begin_page();
        assert_eq!(term(&mut words, "W1", &none).as_deref(), Some("w1"));
    }
}
