//! Counts the terms of a page by field.

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::record::{Field, FieldCounts, TermCounts};

use super::WordCache;
use super::short_words::ShortWord;
use super::stem::Terms;
use super::tokens;
use super::words::{STOP_WORD, Words};

/// Words that are looked up together.
const BATCH: usize = 24;

/// A word of a text.
#[derive(Clone, Copy, Default)]
struct Found {
    short: Option<ShortWord>,
    start: usize,
    end: usize,
}

/// The distinct terms of one page.
pub(super) struct TermTable<'w, 't> {
    language: Terms,
    cache: WordCache,
    kept: &'w mut Words,
    hasher: DefaultHashBuilder,
    terms: Vec<TermCounts>,
    by_term: HashTable<u32>,
    /// Each distinct long word and its term, [`STOP_WORD`] for none.
    long: HashTable<(&'t str, u32)>,
}

/// Distinct terms of a page of usual size.
const USUAL_TERMS: usize = 512;

impl<'w, 't> TermTable<'w, 't> {
    /// Terms of this language, looked up in `kept` as far as `cache` allows.
    pub fn new(language: Terms, cache: WordCache, kept: &'w mut Words) -> Self {
        kept.begin_page();
        Self {
            language,
            cache,
            hasher: kept.hasher(),
            kept,
            terms: Vec::with_capacity(USUAL_TERMS),
            by_term: HashTable::with_capacity(USUAL_TERMS),
            long: HashTable::new(),
        }
    }

    /// Counts every word of `text` in `field`.
    pub fn count(&mut self, field: Field, text: &'t str) {
        let cache = self.cache;
        if matches!(cache, WordCache::Plain | WordCache::None) {
            let word = |start, end| {
                let term = self.new_word(&text[start..end]);
                self.add(term, field);
            };
            return match cache {
                WordCache::Plain => tokens::for_each_by_crate(text, word),
                _ => tokens::for_each(text, word),
            };
        }
        let mut batch = [Found::default(); BATCH];
        let mut length = 0;
        tokens::for_each(text, |start, end| {
            batch[length] = Found { short: ShortWord::of(text, start, end), start, end };
            length += 1;
            if length == BATCH {
                self.count_batch(&batch, text, field);
                length = 0;
            }
        });
        self.count_batch(&batch[..length], text, field);
    }

    fn count_batch(&mut self, batch: &[Found], text: &'t str, field: Field) {
        self.kept.fetch(batch.iter().filter_map(|found| found.short), &self.language);
        for &Found { short, start, end } in batch {
            let word = &text[start..end];
            let term = match short {
                Some(short) => {
                    let Self { language, kept, terms, by_term, hasher, .. } = self;
                    kept.position(short, word, language, |term| intern(term, terms, by_term, hasher))
                }
                None => self.long_word(word),
            };
            self.add(term, field);
        }
    }

    #[inline]
    fn add(&mut self, term: u32, field: Field) {
        if let Some(term) = self.terms.get_mut(term as usize) {
            term.counts.add(field);
        }
    }

    /// The terms in order of first appearance.
    pub fn into_terms(mut self) -> Vec<TermCounts> {
        self.terms.shrink_to_fit();
        self.terms
    }

    fn long_word(&mut self, word: &'t str) -> u32 {
        let hash = self.kept.hash(word);
        if let Some((_, term)) = self.long.find(hash, |(known, _)| *known == word) {
            return *term;
        }
        let term = self.new_word(word);
        let kept = &self.kept;
        self.long.insert_unique(hash, (word, term), |(known, _)| kept.hash(known));
        term
    }

    /// The term of a word that is met first.
    fn new_word(&mut self, word: &str) -> u32 {
        let Self { language, cache, kept, terms, by_term, hasher, .. } = self;
        let term = match cache {
            WordCache::Plain | WordCache::None => kept.made(word, language),
            WordCache::Page | WordCache::Kept => kept.term(word, language),
        };
        term.map_or(STOP_WORD, |term| intern(term, terms, by_term, hasher))
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
        let mut words = Words::default();
        for cache in [WordCache::None, WordCache::Page, WordCache::Kept] {
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
