//! Counts the terms of a page by field.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::record::{Field, FieldCounts, TermCounts};

use super::stem::Terms;
use super::tokens;

/// The distinct terms of one page. A word is stemmed when it is first met; after that its term is
/// looked up by the word.
pub(super) struct TermTable {
    language: Terms,
    hasher: DefaultHashBuilder,
    terms: Vec<TermCounts>,
    by_term: HashTable<u32>,
    /// Each distinct word and its term, `None` for a stop word.
    words: Vec<(Box<str>, Option<u32>)>,
    by_word: HashTable<u32>,
}

impl TermTable {
    pub fn new(language: Terms) -> Self {
        Self {
            language,
            hasher: DefaultHashBuilder::default(),
            terms: Vec::new(),
            by_term: HashTable::new(),
            words: Vec::new(),
            by_word: HashTable::new(),
        }
    }

    /// Counts every word of `text` in `field`.
    pub fn count(&mut self, field: Field, text: &str) {
        tokens::for_each(text, |word| {
            if let Some(term) = self.term_of(word) {
                self.terms[term as usize].counts.add(field);
            }
        });
    }

    /// The terms in order of first appearance.
    pub fn into_terms(self) -> Vec<TermCounts> {
        self.terms
    }

    fn term_of(&mut self, word: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(word);
        if let Some(&at) = self.by_word.find(hash, |&at| &*self.words[at as usize].0 == word) {
            return self.words[at as usize].1;
        }
        let term = if self.language.is_stop_word(word) { None } else { Some(self.intern(word)) };
        let at = index(self.words.len());
        self.words.push((word.into(), term));
        let (words, hasher) = (&self.words, &self.hasher);
        self.by_word.insert_unique(hash, at, |&at| hasher.hash_one(&*words[at as usize].0));
        term
    }

    fn intern(&mut self, word: &str) -> u32 {
        let stem = self.language.stem(word);
        let hash = self.hasher.hash_one(&*stem);
        if let Some(&at) = self.by_term.find(hash, |&at| *self.terms[at as usize].term == *stem) {
            return at;
        }
        let at = index(self.terms.len());
        self.terms.push(TermCounts { term: stem.into(), counts: FieldCounts::default() });
        let (terms, hasher) = (&self.terms, &self.hasher);
        self.by_term.insert_unique(hash, at, |&at| hasher.hash_one(&*terms[at as usize].term));
        at
    }
}

/// Bodies are limited to far less than 2^32 octets, so there are never more words than that.
fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_occurrence_counts_in_its_field_under_its_stem() {
        let mut table = TermTable::new(Terms::of(Some("en"), true, true));
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
