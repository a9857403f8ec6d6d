//! The class `Deduplicator`.
//!
//! Terms are counted outside of the lock, and Python's own lock is released while Rust works. So the threads of Python
//! count side by side, and only decisions wait for each other.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use neardup::{Counted, Counter, MostLost};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::documents::{self, Batch, OwnedDocument, Pairs};
use crate::errors::{exception, exception_at, file_exception};
use crate::key::Key;
use crate::verdict::{Explanation, Match, PairVerdict, TermShare, Verdict};

/// An incremental index of documents.
///
/// A text is a near-duplicate of a kept one if it says for itself what that one says for itself, as in a crawl, and the
/// similarity of their weights reaches the threshold. What several different documents say (a licence, a form, the frame
/// of a page) is nobody's own; it is learned from the documents that are taken in.
///
/// The similarity is minimum weight overlapping: the sum, over all terms, of the smaller of the two documents' shares.
/// It is a number from 0 to 1. With ``own_words=False`` it decides alone, and verdicts are those of a comparison with
/// every kept document. Weighted terms have no words in order: their weights decide alone, from 0.8 on, or from the
/// threshold if that is higher.
///
/// Threads share it. They count terms side by side, and Python's lock is released meanwhile; decisions wait for each
/// other. Verdicts are those of the order in which the documents are taken in, that of `keys`. A batch is
/// taken in without others between.
///
/// Args:
///     threshold: The similarity of weights that a near-duplicate needs, from 0 to 1, rounded to millionths. ``None``
///         for 0.3, since own words decide, and for 0.8 without them.
///     own_words: Whether texts are also compared by what each says for itself.
///     lose_at_most: The most words of a document that may stand in no run of four words that the kept one has: a number,
///         or a share of its words such as ``"1%"``. One that would lose more is unique; with 0, only what a kept document
///         contains is dropped. ``None`` for what own words allow. Weighted terms are exact duplicates or unique then.
///     min_terms: Distinct terms that a document needs to be compared by similarity. Shorter ones are exact
///         duplicates or unique: short texts resemble each other by chance.
///     language: The language whose stemmer and stop words apply, as a primary BCP 47 subtag. ``None`` keeps words as
///         they are. ``en`` also serves collections in several languages.
///     threads: Threads that work at once in one call; ``None`` for one on each core. Verdicts do not depend on it.
///
/// Raises:
///     ValueError: For a threshold outside of 0 to 1, a bound that is none, a language without rules, or no threads.
#[pyclass(frozen, module = "ndcrawl")]
pub(crate) struct Deduplicator {
    documents: RwLock<neardup::Deduplicator<Key>>,
    /// That of `documents`. It has a lock of its own: who counts waits for no decision.
    counter: RwLock<Counter>,
    threads: usize,
}

/// A number of words, or a share of them as text.
#[derive(FromPyObject)]
enum LossBound {
    Words(u32),
    Text(String),
}

impl LossBound {
    fn read(self) -> PyResult<MostLost> {
        match self {
            LossBound::Words(most) => Ok(MostLost::Words(most)),
            LossBound::Text(text) => {
                text.parse().map_err(|error| PyValueError::new_err(format!("lose_at_most '{text}': {error}")))
            }
        }
    }
}

#[pymethods]
impl Deduplicator {
    #[new]
    #[pyo3(
        signature = (threshold=None, *, own_words=true, lose_at_most=None, min_terms=20, language=Some("en"), threads=None),
        text_signature = "(threshold=None, *, own_words=True, lose_at_most=None, min_terms=20, language='en', threads=None)"
    )]
    fn new(
        threshold: Option<f64>,
        own_words: bool,
        lose_at_most: Option<LossBound>,
        min_terms: usize,
        language: Option<&str>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let builder = neardup::Deduplicator::builder().own_words(own_words).min_terms(min_terms).language(language);
        let most = lose_at_most.map(LossBound::read).transpose()?;
        let builder = most.into_iter().fold(builder, neardup::Builder::lose_at_most);
        let builder = threshold.into_iter().fold(builder, neardup::Builder::threshold);
        Self::with(builder.build().map_err(exception)?, threads)
    }

    /// Takes a document in and returns its verdict.
    ///
    /// Args:
    ///     document: A text, or weighted terms as a dict or pairs.
    ///     key: Names the document. Without, the first number from ``len()`` on that names none: its place, unless
    ///         documents were removed.
    ///
    /// Raises:
    ///     ValueError: If the key was inserted before, or a weight is not from 0 to 40 million. Nothing is taken in.
    #[pyo3(signature = (document, key=None))]
    fn insert(&self, py: Python<'_>, document: OwnedDocument, key: Option<Key>) -> PyResult<Verdict> {
        let verdicts = py.detach(|| {
            let counted = document.with(|document| self.counter().count(document)).map_err(exception)?;
            self.take_in(vec![counted], key.map(|key| vec![key]))
        })?;
        verdicts.into_iter().next().ok_or_else(|| PyValueError::new_err("no verdict"))
    }

    /// Takes documents in, in order, and returns their verdicts, one each.
    ///
    /// Verdicts are those of one `insert` each. Terms are counted on several threads.
    ///
    /// Raises:
    ///     ValueError: As `insert`; for a missing value; for more or fewer keys than documents. None of the documents
    ///         is taken in.
    #[pyo3(signature = (documents, keys=None))]
    fn insert_many(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Verdict>> {
        let (batch, keys) = (Batch::read(documents)?, keys.map(documents::keys).transpose()?);
        py.detach(|| self.take_in(self.count(&batch)?, keys))
    }

    /// Returns the kept documents similar to this one, most similar first. The document is not taken in.
    ///
    /// Args:
    ///     threshold: The least similarity, from 0 to 1; without, that of the verdicts.
    #[pyo3(signature = (document, threshold=None))]
    fn matches(&self, py: Python<'_>, document: OwnedDocument, threshold: Option<f64>) -> PyResult<Vec<Match>> {
        py.detach(|| {
            let counted = document.with(|document| self.counter().count(document)).map_err(exception)?;
            matches(&self.read(), &counted, threshold)
        })
    }

    /// Returns `matches` for each of the documents, in order; on several threads.
    #[pyo3(signature = (documents, threshold=None))]
    fn matches_many(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyAny>,
        threshold: Option<f64>,
    ) -> PyResult<Vec<Vec<Match>>> {
        let batch = Batch::read(documents)?;
        py.detach(|| {
            // Held for one query: others may insert in between.
            in_shares(&self.count(&batch)?, self.threads, |document| matches(&self.read(), document, threshold))
        })
    }

    /// Decides about the second document of each pair as if the first one were the only kept one.
    ///
    /// For candidate pairs of another tool. Nothing is taken in. Common text is what the documents say that were taken
    /// in; without any, all words are a document's own.
    ///
    /// Args:
    ///     pairs: Pairs of documents, the kept one first.
    ///     by_key: Whether they are keys of documents that were inserted.
    ///
    /// Raises:
    ///     KeyError: If no document has one of the keys.
    ///     ValueError: For a missing value, or a weight that is none.
    #[pyo3(signature = (pairs, *, by_key=false))]
    fn judge(&self, py: Python<'_>, pairs: &Bound<'_, PyAny>, by_key: bool) -> PyResult<Vec<PairVerdict>> {
        if by_key {
            let pairs = documents::key_pairs(pairs)?;
            let judge = |(kept, document): &(Key, Key)| self.read().judge(kept, document).map_err(exception);
            return py.detach(|| in_shares(&pairs, self.threads, |pair| judge(pair).map(PairVerdict)));
        }
        let Pairs { documents, places, first } = Pairs::read(pairs)?;
        py.detach(|| {
            let counted = documents.with(|documents| self.counter().count_all(documents, self.threads))?;
            let counted = counted.map_err(|(place, error)| exception_at((first[place], error)))?;
            let judge = |(kept, document): &(usize, usize)| {
                PairVerdict(self.read().judge_counted(&counted[*kept], &counted[*document]))
            };
            in_shares(&places, self.threads, |pair| Ok(judge(pair)))
        })
    }

    /// Removes a document, and returns the new verdicts of others, by key.
    ///
    /// See `remove_many`.
    ///
    /// Raises:
    ///     KeyError: If no document has the key.
    fn remove<'py>(&self, py: Python<'py>, key: Key) -> PyResult<Bound<'py, PyDict>> {
        self.take_out(py, &[key])
    }

    /// Removes documents, and returns the new verdicts of others, by key.
    ///
    /// All is then as if they had never been inserted: all others are decided again from what is kept of them. The first
    /// duplicate of a removed document is unique, and later ones name that one. What `save` writes has nothing of the
    /// removed ones but what others say, too. That takes the time of inserting all others without counting their
    /// terms, so remove many at once.
    ///
    /// Raises:
    ///     KeyError: If no document has one of the keys. None is removed.
    fn remove_many<'py>(&self, py: Python<'py>, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.take_out(py, &documents::keys(keys)?)
    }

    /// Returns a deduplicator that has taken in the same documents at another threshold.
    ///
    /// All are decided again, in their order, from what is kept of them: no text is read or counted again. So it may be
    /// lower or higher.
    ///
    /// Raises:
    ///     ValueError: For a threshold outside of 0 to 1.
    fn rethreshold(&self, py: Python<'_>, threshold: f64) -> PyResult<Self> {
        let again = py.detach(|| self.read().rethreshold(threshold)).map_err(exception)?;
        Self::with(again, Some(self.threads))
    }

    /// Explains how two documents compare, kept or not, term by term.
    ///
    /// Raises:
    ///     KeyError: If no document has one of the keys.
    fn explain(&self, py: Python<'_>, first: Key, second: Key) -> PyResult<Explanation> {
        let explained = py.detach(|| self.read().explain(&first, &second)).map_err(exception)?;
        let terms = explained.terms.into_iter().map(|term| TermShare {
            shared: term.shared(),
            term: term.term,
            first: term.first,
            second: term.second,
        });
        Ok(Explanation { score: explained.score.as_f64(), is_exact: explained.is_exact, terms: terms.collect() })
    }

    /// Returns the verdict on a document that was inserted.
    ///
    /// Raises:
    ///     KeyError: If no document has the key.
    fn verdict(&self, key: Key) -> PyResult<Verdict> {
        let unknown = || exception(neardup::Error::UnknownKey(format!("{key:?}")));
        self.read().verdict(&key).map(Verdict).ok_or_else(unknown)
    }

    /// Returns the keys of all documents in the order of insertion, duplicates included.
    fn keys(&self) -> Vec<Key> {
        self.read().keys().cloned().collect()
    }

    /// Writes everything to a file, with a checksum. A file that is there is replaced when all is written.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let bytes = py.detach(|| self.bytes())?;
        py.detach(|| replace_file(&path, &bytes)).map_err(|error| file_exception(&path, &error))
    }

    /// Reads what `save` wrote, settings included.
    ///
    /// Raises:
    ///     OSError: If the file cannot be read.
    ///     ValueError: If it is damaged, or another version has written it.
    #[classmethod]
    #[pyo3(signature = (path, *, threads=None))]
    fn load(_class: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf, threads: Option<usize>) -> PyResult<Self> {
        let bytes = py.detach(|| std::fs::read(&path)).map_err(|error| file_exception(&path, &error))?;
        let loaded = py.detach(|| Self::from_bytes(&bytes, threads));
        loaded.map_err(|error| match error.is_instance_of::<PyValueError>(py) {
            true => PyValueError::new_err(format!("{}: {}", path.display(), error.value(py))),
            false => error,
        })
    }

    /// The similarity of weights that a near-duplicate needs.
    #[getter]
    fn threshold(&self) -> f64 {
        self.read().threshold()
    }

    /// Returns the number of documents that were inserted, duplicates included.
    fn __len__(&self) -> usize {
        self.read().len()
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> bool {
        key.extract().is_ok_and(|key: Key| self.read().contains(&key))
    }

    fn __repr__(&self) -> String {
        let documents = self.read();
        format!("Deduplicator(threshold={}, documents={})", documents.threshold(), documents.len())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let this = slf.get();
        let bytes = py.detach(|| this.bytes())?;
        Ok((slf.get_type().getattr("_from_bytes")?, PyTuple::new(py, [PyBytes::new(py, &bytes)])?))
    }

    #[classmethod]
    fn _from_bytes(_class: &Bound<'_, PyType>, py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| Self::from_bytes(bytes, None))
    }
}

impl Deduplicator {
    fn with(documents: neardup::Deduplicator<Key>, threads: Option<usize>) -> PyResult<Self> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(cores);
        if threads == 0 {
            return Err(PyValueError::new_err("threads: give 1 or more, or None for one on each core"));
        }
        let counter = RwLock::new(documents.counter());
        Ok(Self { documents: RwLock::new(documents), counter, threads })
    }

    fn from_bytes(mut bytes: &[u8], threads: Option<usize>) -> PyResult<Self> {
        Self::with(neardup::Deduplicator::load(&mut bytes).map_err(exception)?, threads)
    }

    fn bytes(&self) -> PyResult<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read().save(&mut bytes).map_err(exception)?;
        Ok(bytes)
    }

    fn count(&self, batch: &Batch) -> PyResult<Vec<Counted>> {
        batch.with(|documents| self.counter().count_all(documents, self.threads))?.map_err(exception_at)
    }

    /// Inserts counted documents; without keys, each is named by its number.
    fn take_in(&self, counted: Vec<Counted>, keys: Option<Vec<Key>>) -> PyResult<Vec<Verdict>> {
        if let Some(keys) = keys.as_ref().filter(|keys| keys.len() != counted.len()) {
            let message = format!("{} documents and {} keys: give one key each", counted.len(), keys.len());
            return Err(PyValueError::new_err(message));
        }
        let mut documents = self.write();
        let free = (documents.len() as i64..).map(Key::Number).filter(|key| !documents.contains(key));
        let keys = keys.unwrap_or_else(|| free.take(counted.len()).collect());
        let verdicts = documents.insert_counted(keys.into_iter().zip(counted)).map_err(exception)?;
        Ok(verdicts.into_iter().map(Verdict).collect())
    }

    fn take_out<'py>(&self, py: Python<'py>, keys: &[Key]) -> PyResult<Bound<'py, PyDict>> {
        let changed = py.detach(|| {
            let mut documents = self.write();
            let changed = documents.remove(keys).map_err(exception)?;
            // The counter from before knows the words of what was removed.
            *self.counter.write().unwrap_or_else(PoisonError::into_inner) = documents.counter();
            Ok::<_, PyErr>(changed)
        })?;
        let verdicts = PyDict::new(py);
        for (key, verdict) in changed {
            verdicts.set_item(key, Verdict(verdict))?;
        }
        Ok(verdicts)
    }

    fn counter(&self) -> Counter {
        self.counter.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    // A panic in between is a bug; the decider itself refuses to go on after an error.
    fn read(&self) -> RwLockReadGuard<'_, neardup::Deduplicator<Key>> {
        self.documents.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, neardup::Deduplicator<Key>> {
        self.documents.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does the same with each item, in order, on at most `threads` threads.
fn in_shares<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    do_it: impl Fn(&T) -> PyResult<R> + Sync,
) -> PyResult<Vec<R>> {
    let share = items.len().div_ceil(threads).max(1);
    let do_it = &do_it;
    std::thread::scope(|scope| {
        let of_share = |share: &'_ [T]| share.iter().map(do_it).collect::<PyResult<Vec<_>>>();
        let shares: Vec<_> = items.chunks(share).map(|share| scope.spawn(move || of_share(share))).collect();
        let mut all = Vec::with_capacity(items.len());
        for share in shares {
            all.extend(share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })
}

/// Writes a file so that a failure leaves the one that was there.
fn replace_file(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        // What is left of it helps nobody; the first error is the one to report.
        let _ = std::fs::remove_file(&part);
    }
    written
}

fn matches(documents: &neardup::Deduplicator<Key>, document: &Counted, threshold: Option<f64>) -> PyResult<Vec<Match>> {
    let threshold = threshold.unwrap_or_else(|| documents.threshold());
    let found = documents.matches_counted(document, threshold).map_err(exception)?;
    Ok(found.into_iter().map(|found| Match { key: found.key, score: found.score.as_f64() }).collect())
}
