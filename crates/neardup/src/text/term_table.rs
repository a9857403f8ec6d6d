//! Counts the terms of a page by field.

use std::ops::Range;

use crate::model::{Field, TermCounts, TermId, TermOrder, WantedOrder};

use super::WordCache;
use super::fielded_text::FieldedText;
use super::folding;
use super::page_counts::{CountsByNumber, NumberedTerms, PageCounts};
use super::running_text::TermSequence;
use super::sentences::Sentences;
use super::short_word_cache::ShortWord;
use super::stem::TermRules;
use super::tokens;
use super::words::Words;

/// Words that are looked up together.
const BATCH: usize = 24;

/// A word of a text.
#[derive(Clone, Copy, Default)]
struct Word {
    short: Option<ShortWord>,
    start: usize,
    end: usize,
}

/// Called with each word of a document: its first byte, its field, and its term unless it is a stop word.
pub type WordObserver<'t> = dyn FnMut(usize, Field, Option<u32>) + 't;

/// The distinct terms of one page.
pub struct TermTable<'w, 't, P = Vec<TermCounts>> {
    language: TermRules,
    cache: WordCache,
    kept: &'w mut Words,
    terms: P,
    sentences: Option<Sentences<'t>>,
    sequence: Option<TermSequence>,
    /// Where the page's name is in the text.
    names: [Range<usize>; 2],
    /// Called with each word.
    observer: Option<&'t mut WordObserver<'t>>,
}

/// Distinct terms of a page of usual size.
const USUAL_TERMS: usize = 512;

impl<'w, 't, P: PageCounts> TermTable<'w, 't, P> {
    /// Creates an empty table with the rules of `language`, which uses `kept` as far as `cache` allows.
    pub(super) fn new(language: TermRules, cache: WordCache, kept: &'w mut Words) -> Self {
        kept.begin_page();
        Self {
            language,
            cache,
            kept,
            terms: P::with_room(USUAL_TERMS),
            sentences: None,
            sequence: None,
            names: [0..0, 0..0],
            observer: None,
        }
    }

    /// Counts every word of `text` in `field`.
    pub fn count(&mut self, field: Field, text: &str) {
        self.count_each(&folding::folded(text), |_| (field, false));
    }

    /// Counts every word in the field of its position; that also tells whether the word is about the site.
    fn count_each(&mut self, text: &str, mut field: impl FnMut(usize) -> (Field, bool)) {
        let cache = self.cache;
        if matches!(cache, WordCache::Plain | WordCache::None) {
            let word = |start, end| {
                let term = self.kept.uncached(&text[start..end], &self.language, &mut self.terms);
                let (field, is_aside) = field(start);
                self.add(term, field, is_aside);
                self.place(term, field, start, end);
            };
            return match cache {
                WordCache::Plain => tokens::for_each_by_crate(text, word),
                _ => tokens::for_each(text, word),
            };
        }
        let mut batch = [Word::default(); BATCH];
        let mut length = 0;
        tokens::for_each(text, |start, end| {
            batch[length] = Word { short: ShortWord::of(text, start, end), start, end };
            length += 1;
            if length == BATCH {
                self.count_batch(&batch, text, &mut field);
                length = 0;
            }
        });
        self.count_batch(&batch[..length], text, &mut field);
    }

    fn count_batch(&mut self, batch: &[Word], text: &str, field: &mut impl FnMut(usize) -> (Field, bool)) {
        self.kept.fetch(batch.iter().filter_map(|found| found.short), &self.language);
        for &Word { short, start, end } in batch {
            let word = &text[start..end];
            let Self { language, kept, terms, .. } = self;
            let term = match short {
                Some(short) => kept.short(short, word, language, terms),
                None => kept.long(word, language, terms),
            };
            let (field, is_aside) = field(start);
            self.add(term, field, is_aside);
            self.place(term, field, start, end);
        }
    }

    #[inline]
    fn add(&mut self, term: u32, field: Field, is_aside: bool) {
        self.terms.add(term, field);
        if let Some(sequence) = &mut self.sequence {
            sequence.add(term, field, is_aside);
        }
    }

    /// Reports the position of a term to the sentences and the observer.
    #[inline]
    fn place(&mut self, term: u32, field: Field, start: usize, end: usize) {
        let is_term = (term as usize) < self.terms.distinct();
        if self.names.iter().any(|name| name.contains(&start))
            && let Some(sequence) = &mut self.sequence
        {
            sequence.name(term);
        }
        if let Some(sentences) = &mut self.sentences {
            sentences.add(start, end, is_term.then_some(term));
        }
        if let Some(observer) = &mut self.observer {
            observer(start, field, is_term.then_some(term));
        }
    }
}

impl<'t> TermTable<'_, 't> {
    /// Counts every word of a document, and returns the word order that the caller wants.
    ///
    /// The document must be [folded](FieldedText::fold). Calls `observer` with every word, in order. All parts are tokenized together: they are separated by a space,
    /// and most are a word or two.
    pub fn count_parts(
        &mut self,
        text: &'t FieldedText,
        wanted: WantedOrder,
        observer: Option<&'t mut WordObserver<'t>>,
    ) -> TermOrder {
        self.sentences = Sentences::new(text, wanted);
        self.sequence = wanted.text.then(TermSequence::default);
        self.names = if wanted.text { text.names() } else { Default::default() };
        self.observer = observer;
        self.count_all(text);
        self.observer = None;
        let mut order = self.sentences.take().map(Sentences::finish).unwrap_or_default();
        if let Some(sequence) = self.sequence.take() {
            order.text = sequence.finish(&self.terms);
        }
        self.names = Default::default();
        order
    }

    fn count_all(&mut self, text: &FieldedText) {
        if self.sentences.is_none()
            && self.observer.is_none()
            && self.names.iter().all(Range::is_empty)
            && matches!(self.cache, WordCache::Plain | WordCache::None)
        {
            return text.parts().for_each(|(field, part)| self.count(field, part));
        }
        let mut fields = text.fields();
        self.count_each(text.as_str(), |position| fields.at(position));
    }

    /// Returns the terms in order of first appearance.
    pub fn into_terms(mut self) -> Vec<TermCounts> {
        self.terms.shrink_to_fit();
        self.terms
    }
}

impl TermTable<'_, '_, CountsByNumber> {
    /// Returns the terms by their numbers in the vocabulary in which `find` looks. It must be the same for all pages of
    /// a cache of words: what it found is not asked for again.
    pub fn into_numbered(self, find: impl FnMut(&str) -> Option<TermId>) -> NumberedTerms {
        self.kept.numbered(self.terms, find)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_occurrence_counts_in_its_field_under_its_stem() {
        let mut words = Words::default();
        for cache in [WordCache::None, WordCache::Page, WordCache::Kept] {
            let mut table: TermTable<'_, '_> = TermTable::new(TermRules::of(Some("en"), true, true), cache, &mut words);
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
