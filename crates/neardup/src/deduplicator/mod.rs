//! *Have I had this document before?*
//!
//! A [`Deduplicator`] takes documents in, one after the other, and gives each a verdict at once. It joins the parts
//! of this crate: [`text`](crate::text) makes terms, [`index`](crate::index) names candidates,
//! [`similarity`](crate::similarity) compares them, and [`detect`](crate::detect) decides.

mod again;
mod builder;
mod document;
mod error;
mod explanation;
mod log;
mod pair;
mod shared_vocabulary;
mod snapshot;

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug};
use std::hash::Hash;

pub use builder::Builder;
pub use document::{Counted, Counter, Document};
pub use error::Error;
pub use explanation::{Explanation, TermShare};
pub use pair::PairVerdict;

use document::WEIGHTS;
use log::{Log, LogEntry};

use crate::detect::{Decider, NumberedPage, Options};
use crate::model::{self, Judged, PageId, Score, Sequence, TermOrder};
use crate::similarity::Record;

/// The decision about one document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict<K> {
    /// No kept document reaches the threshold: this one is kept, and later ones are compared with it.
    Unique,
    /// The document is similar to a kept one.
    NearDuplicate {
        /// The key of the kept document: the most similar one, of equals the one that was first.
        of: K,
        /// The similarity of weights, in [0, 1], rounded down to millionths.
        score: Score,
        /// What each says for itself; `None` where weights alone were compared.
        difference: Option<WordDifference>,
    },
    /// The document has the text (white space folded) or the weighted terms of a kept one.
    ExactDuplicate {
        /// The key of the kept document.
        of: K,
    },
}

/// How a near-duplicate and the kept document differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordDifference {
    /// Own words of the document that the kept one lacks.
    pub adds_words: u32,
    /// Own words of the kept document that this one lacks.
    pub lacks_words: u32,
    /// All words of the document, own or common.
    pub words: u32,
    /// Those of them that stand in no run of words that the kept one has: what is lost if the document is dropped.
    pub loses_words: u32,
}

impl From<model::Difference> for WordDifference {
    fn from(difference: model::Difference) -> Self {
        let model::Difference { adds, lacks, words, loses, .. } = difference;
        Self { adds_words: adds, lacks_words: lacks, words, loses_words: loses }
    }
}

impl<K> Verdict<K> {
    /// Returns whether the document is kept.
    pub fn is_unique(&self) -> bool {
        matches!(self, Verdict::Unique)
    }

    /// Returns the key of the kept document that this one repeats.
    pub fn duplicate_of(&self) -> Option<&K> {
        match self {
            Verdict::Unique => None,
            Verdict::NearDuplicate { of, .. } | Verdict::ExactDuplicate { of } => Some(of),
        }
    }
}

/// Written as `unique`, `repeats KEY (0.873, adds 3 words, lacks 12)`, `repeats KEY (0.873)` or `copy of KEY`.
impl<K: fmt::Display> fmt::Display for Verdict<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Unique => f.write_str("unique"),
            Verdict::NearDuplicate { of, score, difference: None } => write!(f, "repeats {of} ({score:.3})"),
            Verdict::NearDuplicate { of, score, difference: Some(WordDifference { adds_words, lacks_words, .. }) } => {
                let words = if *adds_words == 1 { "word" } else { "words" };
                write!(f, "repeats {of} ({score:.3}, adds {adds_words} {words}, lacks {lacks_words})")
            }
            Verdict::ExactDuplicate { of } => write!(f, "copy of {of}"),
        }
    }
}

/// A kept document that is similar to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match<K> {
    /// The key of the kept document.
    pub key: K,
    /// The similarity, in [0, 1], rounded down to millionths.
    pub score: Score,
}

/// An incremental index of documents.
///
/// A text is a near-duplicate of a kept one if it **says for itself what that one says for itself**, as in a crawl, and
/// the similarity of their weights reaches the [threshold](Builder::threshold). What several different documents say (a
/// licence, a form, the frame of a page) is nobody's own: see [`OwnWords`](crate::detect::OwnWords). What is common is
/// learned from the documents taken in, and settled at fixed numbers, so verdicts depend on their order and on nothing
/// else.
///
/// The similarity is *minimum weight overlapping*: the sum, over all terms, of the smaller of the two documents'
/// shares. It equals `1 − ½·‖a − b‖₁` of the two distributions of weight. [Without own words](Builder::own_words) it
/// decides alone, and verdicts are the same as those of a comparison with every kept document: nothing is sampled. With
/// them, candidates are found by a sample of their rare runs of words: a kept document that shares 43% of its own runs is
/// missed with a probability of less than 2·10⁻⁸.
///
/// Keys are of any type that can be cloned and hashed; to save and load, also serialized by serde.
///
/// **Cost.** Inserting takes time linear in the text, and one query of the index. **Memory:** some three bytes a term
/// for each document, the index of the kept ones, and with own words four bytes a word and the counts of runs, at most
/// 256 MiB. `benches/gaoya.rs` measures the rate.
pub struct Deduplicator<K> {
    builder: Builder,
    counter: Counter,
    decider: Decider<Log>,
    log: Log,
    keys: Vec<K>,
    numbers: HashMap<K, Sequence>,
}

impl Deduplicator<String> {
    /// Returns the settings to build a deduplicator from. The key type is that of the first insertion.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl<K: Clone + Eq + Hash> Deduplicator<K> {
    fn with_options(builder: Builder, options: Options) -> Self {
        let (log, counter) = (Log::default(), builder.counter());
        let decider = Decider::new(options, log.clone());
        Self { builder, counter, decider, log, keys: Vec::new(), numbers: HashMap::new() }
    }

    /// Returns a counter of terms, with which other threads prepare documents while this one decides.
    pub fn counter(&self) -> Counter {
        self.counter.clone()
    }

    /// Returns the similarity of weights that a near-duplicate needs, in [0, 1].
    pub fn threshold(&self) -> f64 {
        self.builder.threshold_in_force()
    }

    /// Takes a document in and returns its verdict.
    ///
    /// # Errors
    /// [`Error::KeyExists`]; [`Error::Weight`]; [`Error::Detect`] after 2³¹ documents or 2³² terms. After the last
    /// nothing more can be inserted.
    pub fn insert<'a>(&mut self, key: K, document: impl Into<Document<'a>>) -> Result<Verdict<K>, Error>
    where
        K: Debug,
    {
        let mut verdicts = self.insert_all([(key, document)])?;
        verdicts.pop().ok_or_else(|| Error::Detect(crate::detect::DetectError::Broken))
    }

    /// Takes documents in, in order, and returns their verdicts: those of one [`insert`](Self::insert) each.
    ///
    /// # Errors
    /// As [`insert`](Self::insert). On [`Error::KeyExists`] and [`Error::Weight`] none of the documents is taken in.
    pub fn insert_all<'a, D: Into<Document<'a>>>(
        &mut self,
        documents: impl IntoIterator<Item = (K, D)>,
    ) -> Result<Vec<Verdict<K>>, Error>
    where
        K: Debug,
    {
        let counted = documents.into_iter().map(|(key, document)| Ok((key, self.counter.count(document)?)));
        let counted = counted.collect::<Result<Vec<_>, Error>>()?;
        self.insert_counted(counted)
    }

    /// Takes documents in that a [`counter`](Self::counter) of this deduplicator has counted: as
    /// [`insert_all`](Self::insert_all), for those who count on several threads.
    ///
    /// # Errors
    /// [`Error::KeyExists`]: none of the documents is taken in; [`Error::Detect`].
    pub fn insert_counted(
        &mut self,
        documents: impl IntoIterator<Item = (K, Counted)>,
    ) -> Result<Vec<Verdict<K>>, Error>
    where
        K: Debug,
    {
        let (mut keys, mut digests, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let mut new_keys = HashSet::new();
        for (key, counted) in documents {
            if self.numbers.contains_key(&key) || !new_keys.insert(key.clone()) {
                return Err(Error::KeyExists(format!("{key:?}")));
            }
            digests.push(counted.digest);
            all.push(counted);
            keys.push(key);
        }
        let first = self.keys.len();
        let pages = (first..).zip(all).map(|(number, counted)| self.page(number, counted));
        let pages = pages.collect::<Result<_, Error>>()?;
        let judged = self.decider.decide_numbered(pages)?;
        Ok(keys
            .into_iter()
            .zip(digests)
            .zip(judged)
            .map(|((key, digest), judged)| self.take_in(key, digest, judged))
            .collect())
    }

    /// Returns a document as the decider takes it. Its name follows from its number, so that no two documents have one
    /// name.
    fn page(&self, number: usize, counted: Counted) -> Result<NumberedPage, Error> {
        let vocabulary = &self.counter.vocabulary;
        let terms = counted.interned(vocabulary)?;
        let page = PageId::new("", "", number as u32);
        Ok(NumberedPage { page, body_digest: counted.digest, terms, text: counted.text })
    }

    fn take_in(&mut self, key: K, digest: model::Digest, judged: Judged) -> Verdict<K> {
        let Judged { sequence, verdict, terms, order, .. } = judged;
        self.log.push(LogEntry { digest, terms, text: order.text, verdict });
        self.keys.push(key.clone());
        self.numbers.insert(key, sequence);
        self.decider.committed(Sequence(sequence.0 + 1));
        self.told(verdict)
    }

    /// Returns the kept documents that reach `threshold`, most similar first. The document is not taken in.
    ///
    /// The threshold is in [0, 1] and need not be that of the verdicts. A document with fewer terms than
    /// [`Builder::min_terms`] matches nothing.
    ///
    /// # Errors
    /// [`Error::Threshold`], [`Error::Weight`].
    pub fn matches<'a>(&self, document: impl Into<Document<'a>>, threshold: f64) -> Result<Vec<Match<K>>, Error> {
        self.matches_counted(&self.counter.count(document)?, threshold)
    }

    /// Returns the kept documents that reach `threshold`, as [`matches`](Self::matches), for a document that a
    /// [`counter`](Self::counter) of this deduplicator has counted.
    ///
    /// # Errors
    /// [`Error::Threshold`].
    pub fn matches_counted(&self, document: &Counted, threshold: f64) -> Result<Vec<Match<K>>, Error> {
        let threshold = builder::threshold(threshold)?;
        let terms = document.looked_up(&self.counter.vocabulary, &mut HashMap::new());
        let order = TermOrder { text: document.text.clone(), ..TermOrder::default() };
        let found = self.decider.similar_numbered(0, &terms, order, threshold)?;
        Ok(found.into_iter().map(|found| Match { key: self.key(found.of), score: found.score }).collect())
    }

    /// Explains how two documents compare, kept or not, term by term.
    ///
    /// # Errors
    /// [`Error::UnknownKey`].
    pub fn explain(&self, first: &K, second: &K) -> Result<Explanation, Error>
    where
        K: Debug,
    {
        let (first, second) = (self.entry(first)?, self.entry(second)?);
        let record = |entry: &LogEntry| Record::from_counts(&entry.terms, &WEIGHTS);
        let is_exact = first.digest == second.digest;
        Ok(Explanation::new(&record(&first), &record(&second), is_exact, &self.counter.vocabulary.read()))
    }

    /// Returns the verdict on a document; `None` if the key is unknown.
    pub fn verdict(&self, key: &K) -> Option<Verdict<K>> {
        let number = self.numbers.get(key)?;
        let verdict = self.log.with(|entries| entries.get(number.index()).map(|entry| entry.verdict))?;
        Some(self.told(verdict))
    }

    /// Returns whether a document has this key.
    pub fn contains(&self, key: &K) -> bool {
        self.numbers.contains_key(key)
    }

    /// Returns the number of documents that were inserted, duplicates included.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the keys in the order of insertion.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.keys.iter()
    }

    fn entry(&self, key: &K) -> Result<LogEntry, Error>
    where
        K: Debug,
    {
        let number = self.numbers.get(key);
        number.and_then(|number| self.log.get(*number)).ok_or_else(|| Error::UnknownKey(format!("{key:?}")))
    }

    fn key(&self, document: Sequence) -> K {
        self.keys[document.index()].clone()
    }

    fn told(&self, verdict: model::Verdict) -> Verdict<K> {
        match verdict {
            model::Verdict::Unique => Verdict::Unique,
            model::Verdict::NearDuplicate { of, score, difference, .. } => {
                Verdict::NearDuplicate { of: self.key(of), score, difference: difference.map(WordDifference::from) }
            }
            model::Verdict::ExactDuplicate { of, .. } => Verdict::ExactDuplicate { of: self.key(of) },
        }
    }
}

impl<K> Debug for Deduplicator<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deduplicator").field("settings", &self.builder).field("documents", &self.keys.len()).finish()
    }
}

#[cfg(test)]
mod tests;
