//! What the detector says of documents, as objects of Python.

use neardup::{Score, WordDifference};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::key::Key;

const NO_PAIR_VERDICT: &str = "no verdict on a pair: give 'unique', 'near-duplicate' or 'exact-duplicate', a score from 0 \
    to 1, and all numbers of words or none";

const NO_VERDICT: &str = "no verdict: give 'unique'; or 'near-duplicate', a key, a score from 0 to 1, and all numbers \
    of words or none; or 'exact-duplicate' and a key";

/// The decision about one document.
#[pyclass(frozen, eq, module = "ndcrawl")]
#[derive(PartialEq, Eq)]
pub(crate) struct Verdict(pub neardup::Verdict<Key>);

/// What makes a verdict again, for pickle.
type NewVerdict<'a> = (&'static str, Option<&'a Key>, Option<f64>, Option<u32>, Option<u32>, Option<u32>, Option<u32>);

/// The decision about a document, given one that is kept.
#[pyclass(frozen, eq, module = "ndcrawl")]
#[derive(PartialEq, Eq)]
pub(crate) struct PairVerdict(pub neardup::PairVerdict);

/// What makes a verdict on a pair again, for pickle.
type NewPairVerdict = (&'static str, f64, Option<u32>, Option<u32>, Option<u32>, Option<u32>);

/// A kept document that is similar to a query.
#[pyclass(frozen, eq, get_all, module = "ndcrawl")]
#[derive(PartialEq)]
pub(crate) struct Match {
    /// The key of the kept document.
    pub key: Key,
    /// The similarity, from 0 to 1, rounded down to millionths.
    pub score: f64,
}

/// How two documents compare, term by term.
#[pyclass(frozen, module = "ndcrawl")]
pub(crate) struct Explanation {
    /// The similarity, from 0 to 1: the sum of `TermShare.shared` over all terms, rounded down to millionths.
    #[pyo3(get)]
    pub score: f64,
    /// Whether the two have the same text, white space folded, or the same weighted terms.
    #[pyo3(get)]
    pub is_exact: bool,
    pub terms: Vec<TermShare>,
}

/// The share that one term has of each document's weight.
#[pyclass(frozen, eq, get_all, module = "ndcrawl")]
#[derive(Clone, PartialEq)]
pub(crate) struct TermShare {
    /// The term: stemmed, if it comes from a text.
    pub term: String,
    /// Its share of the first document's weight, from 0 to 1.
    pub first: f64,
    /// Its share of the second document's weight, from 0 to 1.
    pub second: f64,
    /// What it adds to the score: the smaller share.
    pub shared: f64,
}

#[pymethods]
impl Verdict {
    #[new]
    #[pyo3(signature = (kind, of=None, score=None, adds_words=None, lacks_words=None, words=None, loses_words=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        kind: &str,
        of: Option<Key>,
        score: Option<f64>,
        adds_words: Option<u32>,
        lacks_words: Option<u32>,
        words: Option<u32>,
        loses_words: Option<u32>,
    ) -> PyResult<Self> {
        let no_verdict = || PyValueError::new_err(NO_VERDICT);
        let difference = difference(adds_words, lacks_words, words, loses_words).ok_or_else(no_verdict)?;
        match (kind, of, score.and_then(self::score)) {
            ("unique", None, None) => Ok(Self(neardup::Verdict::Unique)),
            ("near-duplicate", Some(of), Some(score)) => {
                Ok(Self(neardup::Verdict::NearDuplicate { of, score, difference }))
            }
            ("exact-duplicate", Some(of), _) => Ok(Self(neardup::Verdict::ExactDuplicate { of })),
            _ => Err(no_verdict()),
        }
    }

    /// ``unique``: kept, and later documents are compared with it.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.0 {
            neardup::Verdict::NearDuplicate { .. } => "near-duplicate",
            neardup::Verdict::ExactDuplicate { .. } => "exact-duplicate",
            _ => "unique",
        }
    }

    /// The key of the kept document that this one repeats: the most similar one, of equals the first.
    #[getter]
    fn of(&self) -> Option<&Key> {
        self.0.duplicate_of()
    }

    /// The similarity, from 0 to 1, rounded down to millionths; 1 for an exact duplicate, ``None`` for a unique.
    #[getter]
    fn score(&self) -> Option<f64> {
        match &self.0 {
            neardup::Verdict::NearDuplicate { score, .. } => Some(score.as_f64()),
            neardup::Verdict::ExactDuplicate { .. } => Some(1.0),
            _ => None,
        }
    }

    /// Words that the document says for itself and the kept one does not; ``None`` unless own words were compared.
    #[getter]
    fn adds_words(&self) -> Option<u32> {
        self.difference().map(|difference| difference.adds_words)
    }

    /// Words that the kept document says for itself and this one does not; ``None`` unless own words were compared.
    #[getter]
    fn lacks_words(&self) -> Option<u32> {
        self.difference().map(|difference| difference.lacks_words)
    }

    /// All words of the document, its own or common; ``None`` unless own words were compared.
    #[getter]
    fn words(&self) -> Option<u32> {
        self.difference().map(|difference| difference.words)
    }

    /// Those of `words` that stand in no run of four words that the kept document has: what is lost if this one is
    /// dropped.
    #[getter]
    fn loses_words(&self) -> Option<u32> {
        self.difference().map(|difference| difference.loses_words)
    }

    /// Whether the document is kept.
    #[getter]
    fn is_unique(&self) -> bool {
        self.0.is_unique()
    }

    fn __repr__(&self) -> String {
        let of = self.of().map_or(String::new(), |of| format!(", of={of:?}"));
        let score = self.score().map_or(String::new(), |score| format!(", score={score:?}"));
        format!("Verdict('{}'{of}{score}{})", self.kind(), in_words(self.difference()))
    }

    fn __getnewargs__(&self) -> NewVerdict<'_> {
        let (words, loses) = (self.words(), self.loses_words());
        (self.kind(), self.of(), self.score(), self.adds_words(), self.lacks_words(), words, loses)
    }
}

/// Returns the numbers of words as arguments, all or none.
fn in_words(difference: Option<WordDifference>) -> String {
    difference.map_or(String::new(), |it| {
        let WordDifference { adds_words, lacks_words, words, loses_words } = it;
        format!(", adds_words={adds_words}, lacks_words={lacks_words}, words={words}, loses_words={loses_words}")
    })
}

/// Reads numbers of words: `None` if some are there and others not.
fn difference(
    adds_words: Option<u32>,
    lacks_words: Option<u32>,
    words: Option<u32>,
    loses_words: Option<u32>,
) -> Option<Option<WordDifference>> {
    match (adds_words, lacks_words, words, loses_words) {
        (Some(adds_words), Some(lacks_words), Some(words), Some(loses_words)) => {
            Some(Some(WordDifference { adds_words, lacks_words, words, loses_words }))
        }
        (None, None, None, None) => Some(None),
        _ => None,
    }
}

/// Reads a score from 0 to 1.
fn score(score: f64) -> Option<Score> {
    let millionths = (score * 1e6).round();
    (0.0..=1e6).contains(&millionths).then_some(Score(millionths as u32))
}

#[pymethods]
impl PairVerdict {
    #[new]
    #[pyo3(signature = (kind, score, adds_words=None, lacks_words=None, words=None, loses_words=None))]
    fn new(
        kind: &str,
        score: f64,
        adds_words: Option<u32>,
        lacks_words: Option<u32>,
        words: Option<u32>,
        loses_words: Option<u32>,
    ) -> PyResult<Self> {
        let difference = difference(adds_words, lacks_words, words, loses_words);
        let is_duplicate = ["unique", "near-duplicate", "exact-duplicate"].contains(&kind).then_some(kind != "unique");
        match (is_duplicate, self::score(score), difference) {
            (Some(is_duplicate), Some(score), Some(difference)) => {
                let is_exact = kind == "exact-duplicate";
                Ok(Self(neardup::PairVerdict { is_duplicate, is_exact, score, difference }))
            }
            _ => Err(PyValueError::new_err(NO_PAIR_VERDICT)),
        }
    }

    /// ``unique``: both are kept.
    #[getter]
    fn kind(&self) -> &'static str {
        match (self.0.is_exact, self.0.is_duplicate) {
            (true, _) => "exact-duplicate",
            (false, true) => "near-duplicate",
            (false, false) => "unique",
        }
    }

    /// The similarity of weights, from 0 to 1, rounded down to millionths, whatever the threshold.
    #[getter]
    fn score(&self) -> f64 {
        self.0.score.as_f64()
    }

    /// Words that the document says for itself and the kept one does not; ``None`` unless own words are compared.
    #[getter]
    fn adds_words(&self) -> Option<u32> {
        self.0.difference.map(|difference| difference.adds_words)
    }

    /// Words that the kept document says for itself and this one does not; ``None`` unless own words are compared.
    #[getter]
    fn lacks_words(&self) -> Option<u32> {
        self.0.difference.map(|difference| difference.lacks_words)
    }

    /// All words of the document, its own or common; ``None`` unless own words are compared.
    #[getter]
    fn words(&self) -> Option<u32> {
        self.0.difference.map(|difference| difference.words)
    }

    /// Those of `words` that stand in no run of four words that the kept document has.
    #[getter]
    fn loses_words(&self) -> Option<u32> {
        self.0.difference.map(|difference| difference.loses_words)
    }

    /// The share of `words` that stand in a run of four words that the kept document has, from 0 to 1; ``None`` without
    /// words.
    #[getter]
    fn contained(&self) -> Option<f64> {
        let WordDifference { words, loses_words, .. } = self.0.difference?;
        (words > 0).then(|| f64::from(words - loses_words.min(words)) / f64::from(words))
    }

    /// Whether the document is a duplicate of the kept one.
    #[getter]
    fn is_duplicate(&self) -> bool {
        self.0.is_duplicate
    }

    fn __repr__(&self) -> String {
        format!("PairVerdict('{}', score={:?}{})", self.kind(), self.score(), in_words(self.0.difference))
    }

    fn __getnewargs__(&self) -> NewPairVerdict {
        let (words, loses) = (self.words(), self.loses_words());
        (self.kind(), self.score(), self.adds_words(), self.lacks_words(), words, loses)
    }
}

impl Verdict {
    fn difference(&self) -> Option<WordDifference> {
        match &self.0 {
            neardup::Verdict::NearDuplicate { difference, .. } => *difference,
            _ => None,
        }
    }
}

#[pymethods]
impl Match {
    #[new]
    fn new(key: Key, score: f64) -> Self {
        Self { key, score }
    }

    fn __repr__(&self) -> String {
        format!("Match(key={:?}, score={:?})", self.key, self.score)
    }

    fn __getnewargs__(&self) -> (&Key, f64) {
        (&self.key, self.score)
    }
}

#[pymethods]
impl Explanation {
    /// All terms of both: first those that add most to the score, then those that differ most.
    #[getter]
    fn terms(&self) -> Vec<TermShare> {
        self.terms.clone()
    }

    fn __repr__(&self) -> String {
        let is_exact = if self.is_exact { "True" } else { "False" };
        format!("Explanation(score={:?}, is_exact={is_exact}, terms={})", self.score, self.terms.len())
    }
}

#[pymethods]
impl TermShare {
    fn __repr__(&self) -> String {
        format!("TermShare(term={:?}, first={:.6}, second={:.6})", self.term, self.first, self.second)
    }
}
