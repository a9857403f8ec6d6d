//! A cache of words and their terms, kept across pages.
//!
//! Pages of one site share most of their words, and stemming a word costs about a hundred times as much as looking it
//! up. The cache is bounded: there are two generations. When the younger one is full, the older is dropped as the
//! next page begins; a word of it that occurs again moves to the younger. By default that takes 2^17 short words, as
//! many long ones, and about 15 MB at most, beside the words of one page. With half as many, 24 manuals in 19 languages
//! take a quarter longer; with twice as many they take no less. Texts of many sources in random order have more words.
//!
//! A repeated word of a page takes one lookup: its term knows its position on the current page.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::model::TermId;

use super::page_counts::{CountsByNumber, NumberedTerms, PageCounts};
use super::short_word_cache::{ShortWord, ShortWordCache};
use super::stem::TermRules;
use super::term_cache::{STOP_WORD, TermCache};
use super::tokens;

/// Words of one generation by default, short and long ones each.
pub(super) const GENERATION: usize = 1 << 16;
/// Longer words, in bytes, are rare, and not cached.
const LONGEST_KEPT: usize = 64;

/// The words of all languages.
#[derive(Debug)]
pub(super) struct Words {
    hasher: DefaultHashBuilder,
    young: Generation,
    old: Generation,
    /// Words of one generation, short and long ones each.
    most: usize,
    /// Number of the page, which tells positions on other pages from those on this one.
    page: u32,
    fetched: u32,
    lower: String,
    stem: String,
}

#[derive(Debug)]
struct Generation {
    short: ShortWordCache,
    long_text: String,
    long: HashTable<LongWord>,
    terms: TermCache,
}

#[derive(Clone, Copy, Debug)]
struct LongWord {
    start: u32,
    length: u8,
    language: u8,
    term: u32,
}

impl LongWord {
    fn spelling<'t>(&self, text: &'t str) -> &'t str {
        let start = self.start as usize;
        &text[start..start + usize::from(self.length)]
    }
}

impl Generation {
    /// Creates an empty generation with room for this many short words and terms.
    fn new(hasher: &DefaultHashBuilder, room: usize) -> Self {
        Self {
            short: ShortWordCache::new(hasher, room),
            long_text: String::new(),
            long: HashTable::new(),
            terms: TermCache::with_room(room),
        }
    }

    fn is_full(&self, most: usize) -> bool {
        self.short.len().max(self.long.len()).max(self.terms.len()) >= most
    }

    /// Returns the number of the term of a long word.
    fn long_term(&self, hash: u64, word: &str, language: u8) -> Option<u32> {
        let is_same = |kept: &LongWord| kept.language == language && kept.spelling(&self.long_text) == word;
        self.long.find(hash, is_same).map(|kept| kept.term)
    }

    fn keep_long(&mut self, hash: u64, word: &str, language: u8, term: u32, hasher: &DefaultHashBuilder) {
        let (Ok(length), Ok(start)) = (u8::try_from(word.len()), u32::try_from(self.long_text.len())) else { return };
        self.long_text.push_str(word);
        let text = &self.long_text;
        let kept = LongWord { start, length, language, term };
        self.long.insert_unique(hash, kept, |kept| hasher.hash_one(kept.spelling(text)));
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::new(GENERATION)
    }
}

impl Words {
    /// Creates an empty cache of two generations of this many words, short and long ones each.
    pub fn new(most: usize) -> Self {
        let hasher = DefaultHashBuilder::default();
        let (young, old) = (Generation::new(&hasher, 0), Generation::new(&hasher, 0));
        Self { hasher, young, old, most, page: 0, fetched: 0, lower: String::new(), stem: String::new() }
    }

    /// Invalidates positions of the page before, and drops the older generation if the younger is full.
    pub fn begin_page(&mut self) {
        let next = self.page.checked_add(1);
        // A page 2³² pages ago must not be taken for this one.
        self.page = next.unwrap_or(1);
        if next.is_none() || self.young.is_full(self.most) {
            // It will be as full as the one before: growing by doubling would hash each word twice.
            let next = Generation::new(&self.hasher, self.young.short.len());
            self.old = std::mem::replace(&mut self.young, next);
        }
    }

    /// Looks up all these words at once to bring their slots into the cache.
    ///
    /// A slot is rarely in a near cache. Waiting for one after the other would take longer than all other work on the
    /// words.
    #[inline]
    pub fn fetch(&mut self, words: impl Iterator<Item = ShortWord>, language: &TermRules) {
        let number = language.number();
        // The result is unused, but the compiler must not know.
        self.fetched = words.fold(self.fetched, |all, word| all ^ self.young.short.touch(word, number));
    }

    /// Returns the position of a short word's term on the page.
    #[inline]
    pub fn short(&mut self, short: ShortWord, word: &str, language: &TermRules, on_page: &mut impl PageCounts) -> u32 {
        let term = match self.young.short.term(short, language.number()) {
            Some(term) => term,
            None => self.new_short(short, word, language),
        };
        self.young.terms.place(term, self.page, on_page)
    }

    #[cold]
    fn new_short(&mut self, short: ShortWord, word: &str, language: &TermRules) -> u32 {
        let term = match self.old.short.term(short, language.number()) {
            Some(older) => self.moved_up(older),
            None => self.made(word, language),
        };
        self.young.short.insert(short, language.number(), term);
        term
    }

    /// Returns the position of a long word's term on the page.
    pub fn long(&mut self, word: &str, language: &TermRules, on_page: &mut impl PageCounts) -> u32 {
        if word.len() > LONGEST_KEPT {
            return self.uncached(word, language, on_page);
        }
        let hash = self.hasher.hash_one(word);
        let number = language.number();
        let term = match self.young.long_term(hash, word, number) {
            Some(term) => term,
            None => {
                let term = match self.old.long_term(hash, word, number) {
                    Some(older) => self.moved_up(older),
                    None => self.made(word, language),
                };
                self.young.keep_long(hash, word, number, term, &self.hasher);
                term
            }
        };
        self.young.terms.place(term, self.page, on_page)
    }

    /// Returns the position of a word's term on the page, without the cache.
    pub fn uncached(&mut self, word: &str, language: &TermRules, on_page: &mut impl PageCounts) -> u32 {
        let term = self.made(word, language);
        self.young.terms.place(term, self.page, on_page)
    }

    /// Returns a page's terms by their numbers in the vocabulary in which `find` looks: once found, a number is cached.
    pub fn numbered(
        &mut self,
        CountsByNumber(counts): CountsByNumber,
        mut find: impl FnMut(&str) -> Option<TermId>,
    ) -> NumberedTerms {
        let mut numbered = NumberedTerms { known: Vec::with_capacity(counts.len()), unknown: Vec::new() };
        let terms = &mut self.young.terms;
        for (number, count) in counts {
            if let Some(id) = terms.id(number) {
                numbered.known.push((id, count));
                continue;
            }
            let Some(term) = terms.get(number) else { continue };
            match find(term) {
                Some(id) => {
                    numbered.known.push((id, count));
                    terms.set_id(number, id);
                }
                None => numbered.unknown.push((term.into(), count)),
            }
        }
        numbered
    }

    /// Returns the number in the younger generation of a term of the older one.
    fn moved_up(&mut self, older: u32) -> u32 {
        let Some(term) = self.old.terms.get(older) else { return STOP_WORD };
        let number = self.young.terms.number(term, &self.hasher);
        if let Some(id) = self.old.terms.id(older) {
            self.young.terms.set_id(number, id);
        }
        number
    }

    /// Makes the term of a word, and returns its number.
    fn made(&mut self, word: &str, language: &TermRules) -> u32 {
        tokens::lower(word, &mut self.lower);
        if language.is_stop_word(&self.lower) {
            return STOP_WORD;
        }
        self.stem.clear();
        self.stem.push_str(&language.stem(&self.lower));
        self.young.terms.number(&self.stem, &self.hasher)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TermCounts;

    fn term(words: &mut Words, word: &str, language: &TermRules) -> Option<String> {
        let mut on_page: Vec<TermCounts> = Vec::new();
        let position = match ShortWord::of(word, 0, word.len()) {
            Some(short) => words.short(short, word, language, &mut on_page),
            None => words.long(word, language, &mut on_page),
        };
        assert_eq!(position, if on_page.is_empty() { STOP_WORD } else { 0 });
        on_page.pop().map(|term| term.term.into())
    }

    #[test]
    fn terms_are_the_same_on_every_page_and_differ_by_language() {
        let (english, german) = (TermRules::of(Some("en"), true, true), TermRules::of(Some("de"), true, true));
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
        let english = TermRules::of(Some("en"), true, true);
        let mut words = Words::default();
        for _ in 0..2 {
            words.begin_page();
            let mut on_page: Vec<TermCounts> = Vec::new();
            for (word, position) in [("zebra", 0), ("word", 1), ("words", 1), ("Word", 1), ("straightforwardness", 2)] {
                for _ in 0..2 {
                    let found = match ShortWord::of(word, 0, word.len()) {
                        Some(short) => words.short(short, word, &english, &mut on_page),
                        None => words.long(word, &english, &mut on_page),
                    };
                    assert_eq!(found, position);
                    assert_eq!(words.uncached(word, &english, &mut on_page), position);
                }
            }
        }
    }

    #[test]
    fn words_that_were_forgotten_get_terms_again() {
        let none = TermRules::of(None, true, true);
        let mut words = Words::default();
        for number in 0..3 * GENERATION {
            words.begin_page();
            for word in [format!("W{number}"), format!("a_long_word_that_is_kept_W{number}")] {
                assert_eq!(term(&mut words, &word, &none), Some(word.to_lowercase()));
            }
            assert!(words.young.short.len() <= GENERATION && words.young.terms.len() <= GENERATION + 1);
        }
        words.begin_page();
        assert_eq!(term(&mut words, "W1", &none).as_deref(), Some("w1"));
    }
}
