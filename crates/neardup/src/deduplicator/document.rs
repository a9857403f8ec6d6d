//! What can be compared: a text, or terms with weights.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};

use super::Error;
use super::shared_vocabulary::SharedVocabulary;
use crate::detect::DetectError;
use crate::model::{Digest, Field, FieldCounts, FieldWeights, PageTerms, RunningText, Term, TermId, WantedOrder};
use crate::text::{LanguageRules, NumberedTerms, TokenizedText, Tokenizer, TokenizerOptions, WordCache};

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
    /// What it says for itself is compared, too, unless [`Builder::own_words`](super::Builder::own_words) is off.
    Text(&'a str),
    /// Terms and their weights, each from 0 to 40 million, rounded to hundredths. Only shares of the total count.
    /// The weights of a term that stands twice are added. Terms are compared byte by byte. Weights alone decide: where
    /// own words are compared, from 0.8 on, or from the threshold if that is higher; and never against a text.
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
    /// The terms that the vocabulary had, ascending.
    pub(super) known: Vec<(TermId, Weight)>,
    /// Those that it had not.
    pub(super) unknown: Vec<(Term, Weight)>,
    /// Its words in order, if they are compared.
    pub(super) text: RunningText,
    /// What gave the numbers.
    pub(super) vocabulary: SharedVocabulary,
}

/// The weight of a term: whole units and hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weight {
    whole: u32,
    hundredths: u8,
}

impl Weight {
    fn of_hundredths(hundredths: u64) -> Self {
        let whole = u32::try_from(hundredths / 100).unwrap_or(u32::MAX);
        Self { whole, hundredths: (hundredths % 100) as u8 }
    }

    /// Field counts that weigh the same under [`WEIGHTS`].
    fn counts(self) -> FieldCounts {
        let mut counts = FieldCounts::default();
        counts.0[Field::Body as usize] = self.whole;
        counts.0[Field::Url as usize] = u32::from(self.hundredths);
        counts
    }
}

type UnknownTerms<'a> = Cow<'a, [(Term, Weight)]>;

impl Counted {
    /// Numbers the terms without adding any to `vocabulary`: those that it lacks get unused numbers, which `new` keeps.
    pub(super) fn looked_up(&self, vocabulary: &SharedVocabulary, new: &mut HashMap<Term, TermId>) -> PageTerms {
        let (known, others) = self.parts(vocabulary);
        let vocabulary = vocabulary.read();
        let mut number = |term: &Term| {
            let unused = TermId((vocabulary.len() + new.len()) as u32);
            vocabulary.get(term).unwrap_or_else(|| *new.entry(term.clone()).or_insert(unused))
        };
        let others = others.iter().map(|(term, weight)| (number(term), weight.counts()));
        known.iter().map(|(id, weight)| (*id, weight.counts())).chain(others).collect()
    }

    /// Numbers the terms. Those that `vocabulary` lacks are added to it.
    pub(super) fn interned(&self, vocabulary: &SharedVocabulary) -> Result<PageTerms, DetectError> {
        let (known, others) = self.parts(vocabulary);
        let mut terms = Vec::with_capacity(known.len() + others.len());
        terms.extend(known.iter().map(|(id, weight)| (*id, weight.counts())));
        if !others.is_empty() {
            let mut vocabulary = vocabulary.write();
            for (term, weight) in others.iter() {
                terms.push((vocabulary.intern(term)?.0, weight.counts()));
            }
        }
        Ok(PageTerms::new(terms))
    }

    /// Returns the terms whose numbers are those of `vocabulary`, and the others.
    ///
    /// Numbers of another vocabulary are given up. Both locks are never held at once.
    fn parts(&self, vocabulary: &SharedVocabulary) -> (&[(TermId, Weight)], UnknownTerms<'_>) {
        if self.vocabulary.is(vocabulary) {
            return (&self.known, Cow::Borrowed(&self.unknown));
        }
        let own = self.vocabulary.read();
        let known = self.known.iter().filter_map(|(id, weight)| Some((own.term(*id)?.into(), *weight)));
        (&[], known.chain(self.unknown.iter().cloned()).collect())
    }
}

/// Counts the terms of documents, as the [`Deduplicator`](super::Deduplicator) that it comes from does.
///
/// Threads share it, and no thread waits for a deduplicator that another one uses. Clones share a cache of words, which
/// knows the numbers that the deduplicator gave to their terms.
#[derive(Clone, Debug)]
pub struct Counter {
    tokenizer: Tokenizer,
    language: Option<String>,
    own_words: bool,
    pub(super) vocabulary: SharedVocabulary,
}

impl Counter {
    /// Creates a counter for texts of this language; `None` keeps words as they are. `own_words`: the order of words
    /// counts, too.
    pub(super) fn new(language: Option<String>, own_words: bool) -> Self {
        let has_rules = language.is_some();
        let rules = LanguageRules::OfLanguage;
        let (stop_words, word_cache) = (has_rules, WordCache::Room(WORDS));
        let options =
            TokenizerOptions { rules, stem: has_rules, stop_words, word_cache, ..TokenizerOptions::default() };
        Self { tokenizer: Tokenizer::new(options), language, own_words, vocabulary: SharedVocabulary::default() }
    }

    /// Counts the terms of a document. Cost: linear.
    ///
    /// # Errors
    /// [`Error::Weight`].
    pub fn count<'a>(&self, document: impl Into<Document<'a>>) -> Result<Counted, Error> {
        match document.into() {
            Document::Text(text) if self.own_words => Ok(self.count_words(text)),
            Document::Text(text) => Ok(self.count_text(text)),
            Document::Terms(terms) => self.count_weights(terms),
        }
    }

    fn count_text(&self, text: &str) -> Counted {
        // Most words of most texts have been found before, and nobody waits for the lock.
        let vocabulary = LazyCell::new(|| self.vocabulary.read());
        let find = |term: &str| vocabulary.get(term);
        let (NumberedTerms { known, unknown }, digest) =
            self.tokenizer.tokenize_numbered(text, self.language.as_deref(), find);
        drop(vocabulary);
        let weight = |count| Weight { whole: count, hundredths: 0 };
        let mut known: Vec<_> = known.into_iter().map(|(id, count)| (id, weight(count))).collect();
        known.sort_unstable_by_key(|(id, _)| *id);
        let unknown = unknown.into_iter().map(|(term, count)| (term, weight(count))).collect();
        let digest = digest.unwrap_or_else(|| Digest::of(b""));
        let (text, vocabulary) = (RunningText::default(), self.vocabulary.clone());
        Counted { digest, known, unknown, text, vocabulary }
    }

    /// As [`count_text`](Self::count_text), with the words in order.
    fn count_words(&self, text: &str) -> Counted {
        let wanted = WantedOrder { text: true, ..WantedOrder::default() };
        let TokenizedText { terms, order, digest } = self.tokenizer.tokenize(text, self.language.as_deref(), wanted);
        let weighed = terms.into_iter().map(|term| {
            let weight = Weight { whole: term.counts.0[Field::Body as usize], hundredths: 0 };
            (term.term, weight)
        });
        self.counted(weighed, order.text, digest.unwrap_or_else(|| Digest::of(b"")))
    }

    fn count_weights(&self, weighted: &[(&str, f64)]) -> Result<Counted, Error> {
        let mut hundredths = BTreeMap::<&str, u64>::new();
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
        let weighed =
            hundredths.into_iter().map(|(term, hundredths)| (Term::from(term), Weight::of_hundredths(hundredths)));
        Ok(self.counted(weighed, RunningText::default(), Digest::of(&bytes)))
    }

    fn counted(&self, terms: impl Iterator<Item = (Term, Weight)>, text: RunningText, digest: Digest) -> Counted {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        let vocabulary = self.vocabulary.read();
        for (term, weight) in terms {
            match vocabulary.get(&term) {
                Some(id) => known.push((id, weight)),
                None => unknown.push((term, weight)),
            }
        }
        drop(vocabulary);
        known.sort_unstable_by_key(|(id, _)| *id);
        Counted { digest, known, unknown, text, vocabulary: self.vocabulary.clone() }
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
