//! Counts the terms of a page by field.

use crate::record::{Field, TermCounts};

use super::WordCache;
use super::shingles;
use super::short_words::ShortWord;
use super::stem::Terms;
use super::text::Text;
use super::tokens;
use super::words::Words;

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
pub(super) struct TermTable<'w> {
    language: Terms,
    cache: WordCache,
    kept: &'w mut Words,
    terms: Vec<TermCounts>,
    /// The terms of the visible text in order, by position, if they are asked for.
    sequence: Option<Vec<u32>>,
}

/// Distinct terms of a page of usual size.
const USUAL_TERMS: usize = 512;

impl<'w> TermTable<'w> {
    /// Terms of this language, looked up in `kept` as far as `cache` allows.
    pub fn new(language: Terms, cache: WordCache, kept: &'w mut Words) -> Self {
        kept.begin_page();
        Self { language, cache, kept, terms: Vec::with_capacity(USUAL_TERMS), sequence: None }
    }

    /// Notes the order of terms from now on.
    pub fn note_order(&mut self) {
        self.sequence = Some(Vec::with_capacity(4 * USUAL_TERMS));
    }

    /// Counts every word of `text` in `field`.
    pub fn count(&mut self, field: Field, text: &str) {
        self.count_each(text, |_| field);
    }

    /// Counts every word of a page. All parts are read at once: between two of them stands a space,
    /// and most are a word or two.
    pub fn count_parts(&mut self, text: &Text) {
        if matches!(self.cache, WordCache::Plain | WordCache::None) {
            return text.parts().for_each(|(field, part)| self.count(field, part));
        }
        let mut fields = text.fields();
        self.count_each(text.as_str(), |position| fields.at(position));
    }

    /// Counts every word in the field that belongs to its position.
    fn count_each(&mut self, text: &str, mut field: impl FnMut(usize) -> Field) {
        let cache = self.cache;
        if matches!(cache, WordCache::Plain | WordCache::None) {
            let word = |start, end| {
                let term = self.kept.anew(&text[start..end], &self.language, &mut self.terms);
                self.add(term, field(start));
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
                self.count_batch(&batch, text, &mut field);
                length = 0;
            }
        });
        self.count_batch(&batch[..length], text, &mut field);
    }

    fn count_batch(&mut self, batch: &[Found], text: &str, field: &mut impl FnMut(usize) -> Field) {
        self.kept.fetch(batch.iter().filter_map(|found| found.short), &self.language);
        for &Found { short, start, end } in batch {
            let word = &text[start..end];
            let Self { language, kept, terms, .. } = self;
            let term = match short {
                Some(short) => kept.short(short, word, language, terms),
                None => kept.long(word, language, terms),
            };
            self.add(term, field(start));
        }
    }

    #[inline]
    fn add(&mut self, term: u32, field: Field) {
        if let Some(counted) = self.terms.get_mut(term as usize) {
            counted.counts.add(field);
            if let Some(sequence) = &mut self.sequence
                && !matches!(field, Field::Keywords | Field::Description)
            {
                sequence.push(term);
            }
        }
    }

    /// The terms in order of first appearance, and the shingles.
    pub fn into_terms(mut self) -> (Vec<TermCounts>, Vec<u32>) {
        self.terms.shrink_to_fit();
        let shingles = self.sequence.map(|sequence| shingles::of(&sequence, &self.terms)).unwrap_or_default();
        (self.terms, shingles)
    }
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
            let (terms, _) = table.into_terms();
            let counts: Vec<(&str, u32, u32)> = terms
                .iter()
                .map(|t| (&*t.term, t.counts.0[Field::Title as usize], t.counts.0[Field::Body as usize]))
                .collect();
            assert_eq!(counts, [("crawler", 1, 2), ("crawl", 0, 1)]);
        }
    }
}
