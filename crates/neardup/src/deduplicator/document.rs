//! What can be compared: a text, or terms with weights.

use std::sync::Arc;

use super::Error;
use crate::detect::EarlySearch;
use crate::model::{Digest, Field, FieldCounts, FieldWeights, TermCounts, WantedOrder};
use crate::text::{LanguageRules, Tokenizer, TokenizerOptions, WordCache};

/// Weights that make [`Field::Body`] count in ones and [`Field::Url`] in hundredths.
///
/// Words of a text count as body. A weight of 3.25 is three times body and 25 times URL, so that texts and weighted
/// terms can stand in one index.
pub(super) const WEIGHTS: FieldWeights = FieldWeights([1, 0, 0, 0, 0, 0, 0, 100]);

/// Words that are cached, at most: 36,000 pages of manuals in random order have 360,000.
const WORDS: u32 = 1 << 19;

/// With fewer documents, counting takes less time than starting a thread.
const FEWEST_FOR_A_THREAD: usize = 32;

/// The largest weight of a term: as many hundredths as 32 bits hold, rounded down.
const MOST_WEIGHT: f64 = 40_000_000.0;

/// A document to compare: a text, or your own weighted terms.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Document<'a> {
    /// A text. Its words are folded to lower case and stemmed, stop words are dropped, and each occurrence weighs 1.
    Text(&'a str),
    /// Terms and their weights, each from 0 to 40 million, rounded to hundredths. Only shares of the total count.
    /// The weights of a term that stands twice are added. Terms are compared byte by byte.
    Terms(&'a [(&'a str, f64)]),
}

impl<'a> From<&'a str> for Document<'a> {
    fn from(text: &'a str) -> Self {
        Document::Text(text)
    }
}

impl<'a> From<&'a String> for Document<'a> {
    fn from(text: &'a String) -> Self {
        Document::Text(text)
    }
}

impl<'a> From<&'a [(&'a str, f64)]> for Document<'a> {
    fn from(terms: &'a [(&'a str, f64)]) -> Self {
        Document::Terms(terms)
    }
}

/// A document whose terms are counted, ready to be compared.
#[derive(Clone, Debug)]
pub struct Counted {
    pub(super) digest: Digest,
    pub(super) terms: Vec<TermCounts>,
    pub(super) early: Option<Early>,
}

/// What a deduplicator found for a document ahead of its insertion.
#[derive(Clone, Debug)]
pub(super) struct Early {
    /// The deduplicator's [identity](super::Deduplicator): what another one found means nothing here.
    pub(super) by: Arc<()>,
    pub(super) search: EarlySearch,
}

/// Counts the terms of documents, as the [`Deduplicator`](super::Deduplicator) that it comes from does.
///
/// Threads share it, and no thread waits for a deduplicator that another one uses. Clones share a cache of words.
#[derive(Clone, Debug)]
pub struct Counter {
    tokenizer: Tokenizer,
    language: Option<String>,
}

impl Counter {
    /// Creates a counter for texts of this language; `None` keeps words as they are.
    pub(super) fn new(language: Option<String>) -> Self {
        let has_rules = language.is_some();
        let rules = LanguageRules::OfLanguage;
        let (stop_words, word_cache) = (has_rules, WordCache::Room(WORDS));
        let options =
            TokenizerOptions { rules, stem: has_rules, stop_words, word_cache, ..TokenizerOptions::default() };
        Self { tokenizer: Tokenizer::new(options), language }
    }

    /// Counts the terms of a document. Cost: linear.
    ///
    /// # Errors
    /// [`Error::Weight`].
    pub fn count<'a>(&self, document: impl Into<Document<'a>>) -> Result<Counted, Error> {
        match document.into() {
            Document::Text(text) => {
                let tokenized = self.tokenizer.tokenize(text, self.language.as_deref(), WantedOrder::default());
                let digest = tokenized.digest.unwrap_or_else(|| Digest::of(b""));
                Ok(Counted { digest, terms: tokenized.terms, early: None })
            }
            Document::Terms(terms) => count_weights(terms),
        }
    }

    /// Counts the terms of several documents on at most `threads` threads, in order.
    ///
    /// # Errors
    /// [`Error::Weight`], with the place of the first document that has it.
    pub fn count_all(&self, documents: &[Document<'_>], threads: usize) -> Result<Vec<Counted>, (usize, Error)> {
        let share = documents.len().div_ceil(threads.max(1)).max(FEWEST_FOR_A_THREAD);
        let count = |first: usize, documents: &[Document<'_>]| {
            let counted = documents
                .iter()
                .enumerate()
                .map(|(n, document)| self.count(document.clone()).map_err(|error| (first + n, error)));
            counted.collect::<Result<Vec<_>, _>>()
        };
        let mut shares = documents.chunks(share).enumerate();
        let Some((_, first)) = shares.next() else { return Ok(Vec::new()) };
        std::thread::scope(|scope| {
            let others: Vec<_> = shares.map(|(n, others)| scope.spawn(move || count(n * share, others))).collect();
            let mut counted = count(0, first)?;
            for other in others {
                counted.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(counted)
        })
    }
}

fn count_weights(weighted: &[(&str, f64)]) -> Result<Counted, Error> {
    let mut hundredths = std::collections::BTreeMap::<&str, u64>::new();
    for &(term, weight) in weighted {
        if !(0.0..=MOST_WEIGHT).contains(&weight) {
            return Err(Error::Weight { term: term.to_owned(), weight });
        }
        *hundredths.entry(term).or_default() += (weight * 100.0).round() as u64;
    }
    hundredths.retain(|_, weight| *weight > 0);
    let mut bytes = b"terms\0".to_vec();
    for (term, weight) in &hundredths {
        bytes.extend((term.len() as u64).to_le_bytes());
        bytes.extend(term.as_bytes());
        bytes.extend(weight.to_le_bytes());
    }
    let terms = hundredths.into_iter().map(|(term, weight)| TermCounts { term: term.into(), counts: counts(weight) });
    Ok(Counted { digest: Digest::of(&bytes), terms: terms.collect(), early: None })
}

/// Field counts that weigh so many hundredths under [`WEIGHTS`].
fn counts(hundredths: u64) -> FieldCounts {
    let mut counts = FieldCounts::default();
    counts.0[Field::Body as usize] = u32::try_from(hundredths / 100).unwrap_or(u32::MAX);
    counts.0[Field::Url as usize] = (hundredths % 100) as u32;
    counts
}
