//! Counts the terms of a page by field.

use hashbrown::HashTable;

use crate::record::{Field, FieldCounts, TermCounts};

use super::WordCache;
use super::stem::Terms;
use super::tokens;
use super::words::Words;

/// The distinct terms of one page. A word is turned into its term when it is first met on the page;
/// after that its term is looked up by the word as it is written.
pub(super) struct TermTable<'w, 't> {
    language: Terms,
    cache: WordCache,
    kept: &'w mut Words,
    terms: Vec<TermCounts>,
    by_term: HashTable<u32>,
    /// Each distinct word and its term, [`STOP_WORD`] for none.
    words: HashTable<(&'t str, u32)>,
}

const STOP_WORD: u32 = u32::MAX;
/// Distinct words of a page of usual size.
const USUAL_WORDS: usize = 1024;

impl<'w, 't> TermTable<'w, 't> {
    /// Terms of this language, looked up in `kept` as far as `cache` allows.
    pub fn new(language: Terms, cache: WordCache, kept: &'w mut Words) -> Self {
        Self {
            language,
            cache,
            kept,
            terms: Vec::new(),
            by_term: HashTable::with_capacity(USUAL_WORDS),
            words: HashTable::with_capacity(USUAL_WORDS),
        }
    }

    /// Counts every word of `text` in `field`.
    pub fn count(&mut self, field: Field, text: &'t str) {
        if self.cache == WordCache::None {
            return tokens::for_each_by_crate(text, |word| self.count_word(field, word));
        }
        tokens::for_each(text, |word| self.count_word(field, word));
    }

    #[inline]
    fn count_word(&mut self, field: Field, word: &'t str) {
        let term = self.term_of(word);
        if let Some(term) = self.terms.get_mut(term as usize) {
            term.counts.add(field);
        }
    }

    /// The terms in order of first appearance.
    pub fn into_terms(self) -> Vec<TermCounts> {
        self.terms
    }

    #[inline]
    fn term_of(&mut self, word: &'t str) -> u32 {
        let hash = self.kept.hash(word);
        if self.cache != WordCache::None
            && let Some((_, term)) = self.words.find(hash, |(known, _)| *known == word)
        {
            return *term;
        }
        self.new_word(word, hash)
    }

    fn new_word(&mut self, word: &'t str, hash: u64) -> u32 {
        let Self { language, cache, kept, terms, by_term, words } = self;
        let hasher = kept.hasher();
        let term = match cache {
            WordCache::Kept => kept.term(word, hash, language),
            WordCache::Page | WordCache::None => kept.made(word, language),
        };
        let term = match term {
            Some(term) => intern(term, terms, by_term, &hasher),
            None => STOP_WORD,
        };
        if *cache != WordCache::None {
            words.insert_unique(hash, (word, term), |(known, _)| std::hash::BuildHasher::hash_one(&hasher, *known));
        }
        term
    }
}

/// The position of a term, which is added if it is new.
fn intern(
    term: &str,
    terms: &mut Vec<TermCounts>,
    by_term: &mut HashTable<u32>,
    hasher: &impl std::hash::BuildHasher,
) -> u32 {
    let hash = hasher.hash_one(term);
    if let Some(&at) = by_term.find(hash, |&at| *terms[at as usize].term == *term) {
        return at;
    }
    // Bodies are limited to far less than 2^32 octets, so there are never more words than that.
    let at = u32::try_from(terms.len()).unwrap_or(STOP_WORD);
    terms.push(TermCounts { term: term.into(), counts: FieldCounts::default() });
    by_term.insert_unique(hash, at, |&at| hasher.hash_one(&*terms[at as usize].term));
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_occurrence_counts_in_its_field_under_its_stem() {
        for cache in [WordCache::None, WordCache::Page, WordCache::Kept] {
            let mut words = Words::default();
            let mut table = TermTable::new(Terms::of(Some("en"), true, true), cache, &mut words);
            table.count(Field::Title, "The crawlers");
            table.count(Field::Body, "a crawler crawls the crawler");
            let terms = table.into_terms();
            let counts: Vec<(&str, u32, u32)> = terms
                .iter()
                .map(|t| (&*t.term, t.counts.0[Field::Title as usize], t.counts.0[Field::Body as usize]))
                .collect();
            assert_eq!(counts, [("crawler", 1, 2), ("crawl", 0, 1)]);
        }
    }
}
