//! Documents from Python: texts, weighted terms, columns of texts, and pairs.

use neardup::Document;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString};

use std::collections::HashMap;

use crate::arrow::{self, Texts};
use crate::key::{Key, type_name};

/// A document that was copied from Python.
pub(crate) enum OwnedDocument {
    Text(String),
    Terms(Vec<(String, f64)>),
}

/// Documents of a batch, readable without Python's lock.
pub(crate) enum Batch {
    Owned(Vec<OwnedDocument>),
    Columns(Vec<Texts>),
}

/// Pairs of documents, each text once.
pub(crate) struct Pairs {
    pub documents: Batch,
    /// The places of both in `documents`.
    pub places: Vec<(usize, usize)>,
    /// The first pair that has each document.
    pub first: Vec<usize>,
}

impl Pairs {
    pub(crate) fn read(pairs: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (mut documents, mut first, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = HashMap::<String, usize>::new();
        for (number, pair) in pairs.try_iter()?.enumerate() {
            let mut place = |document: &Bound<'_, PyAny>| {
                let document = document.extract().map_err(|error: PyErr| at(number, &error, document.py()))?;
                if let OwnedDocument::Text(text) = &document
                    && let Some(place) = known.get(text)
                {
                    return Ok(*place);
                }
                if let OwnedDocument::Text(text) = &document {
                    known.insert(text.clone(), documents.len());
                }
                documents.push(document);
                first.push(number);
                Ok::<_, PyErr>(documents.len() - 1)
            };
            let (kept, document) = both(number, &pair?)?;
            places.push((place(&kept)?, place(&document)?));
        }
        Ok(Self { documents: Batch::Owned(documents), places, first })
    }
}

/// Reads pairs of keys.
pub(crate) fn key_pairs(pairs: &Bound<'_, PyAny>) -> PyResult<Vec<(Key, Key)>> {
    let key =
        |number: usize, key: &Bound<'_, PyAny>| key.extract().map_err(|error: PyErr| at(number, &error, key.py()));
    let pairs = pairs.try_iter()?.enumerate().map(|(number, pair)| {
        let (kept, document) = both(number, &pair?)?;
        Ok((key(number, &kept)?, key(number, &document)?))
    });
    pairs.collect()
}

/// Returns the two values of a pair, of which none is missing.
fn both<'py>(number: usize, pair: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let no_pair = || PyTypeError::new_err(format!("number {number}: expected a pair, the kept one first"));
    if pair.is_instance_of::<PyString>() {
        return Err(no_pair());
    }
    let values = pair.try_iter().map_err(|_| no_pair())?.collect::<PyResult<Vec<_>>>()?;
    let [kept, document] = <[_; 2]>::try_from(values).map_err(|_| no_pair())?;
    match is_missing(&kept) || is_missing(&document) {
        true => Err(PyValueError::new_err(format!("number {number}: one of the pair is missing (null)"))),
        false => Ok((kept, document)),
    }
}

impl OwnedDocument {
    /// Lends the document to `use_it`.
    pub(crate) fn with<T>(&self, use_it: impl FnOnce(Document<'_>) -> T) -> T {
        match self {
            OwnedDocument::Text(text) => use_it(Document::Text(text)),
            OwnedDocument::Terms(terms) => use_it(Document::Terms(&lent(terms))),
        }
    }
}

fn lent(terms: &[(String, f64)]) -> Vec<(&str, f64)> {
    terms.iter().map(|(term, weight)| (term.as_str(), *weight)).collect()
}

impl<'py> FromPyObject<'_, 'py> for OwnedDocument {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() {
            return Ok(Self::Text(value.extract()?));
        }
        if let Ok(terms) = value.cast::<PyDict>() {
            return Ok(Self::Terms(terms.iter().map(|pair| weighted(&pair)).collect::<PyResult<_>>()?));
        }
        if let Ok(terms) = value.cast::<PyMapping>() {
            return Ok(Self::Terms(terms.items()?.iter().map(|pair| pair.extract()).collect::<PyResult<_>>()?));
        }
        let not_a_document = || PyTypeError::new_err(format!("{NOT_A_DOCUMENT}, not {}", type_name(&value)));
        if value.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("a document is a str, not bytes: decode it first"));
        }
        let pairs = value.try_iter().map_err(|_| not_a_document())?;
        let terms = pairs.map(|pair| pair?.extract().map_err(|_| not_a_document())).collect::<PyResult<_>>()?;
        Ok(Self::Terms(terms))
    }
}

const NOT_A_DOCUMENT: &str = "a document is a str, or weighted terms as a dict or pairs of str and float";

fn weighted((term, weight): &(Bound<'_, PyAny>, Bound<'_, PyAny>)) -> PyResult<(String, f64)> {
    Ok((term.extract()?, weight.extract()?))
}

impl Batch {
    /// Reads a column or any iterable of documents.
    pub(crate) fn read(documents: &Bound<'_, PyAny>) -> PyResult<Self> {
        if documents.is_instance_of::<PyString>() || documents.cast::<PyMapping>().is_ok() {
            return Err(PyTypeError::new_err("expected several documents, not one: put it into a list"));
        }
        if let Some(columns) = arrow::texts(documents)? {
            return Ok(Self::Columns(columns));
        }
        let documents = rows(documents)?.enumerate().map(|(place, document)| {
            let document = document?;
            if is_missing(&document) {
                return Err(missing(place));
            }
            document.extract().map_err(|error: PyErr| at(place, &error, document.py()))
        });
        documents.collect::<PyResult<_>>().map(Self::Owned)
    }

    /// Lends the documents to `use_them`, in order.
    ///
    /// # Errors
    /// If one is missing.
    pub(crate) fn with<T>(&self, use_them: impl FnOnce(&[Document<'_>]) -> T) -> PyResult<T> {
        match self {
            Batch::Columns(columns) => {
                let texts = columns.iter().flat_map(Texts::iter).enumerate();
                let texts = texts.map(|(place, text)| text.map(Document::Text).ok_or_else(|| missing(place)));
                Ok(use_them(&texts.collect::<PyResult<Vec<_>>>()?))
            }
            Batch::Owned(documents) => {
                let weighted: Vec<_> = documents
                    .iter()
                    .map(|document| match document {
                        OwnedDocument::Terms(terms) => lent(terms),
                        OwnedDocument::Text(_) => Vec::new(),
                    })
                    .collect();
                let lent: Vec<_> = documents
                    .iter()
                    .zip(&weighted)
                    .map(|(document, weighted)| match document {
                        OwnedDocument::Text(text) => Document::Text(text),
                        OwnedDocument::Terms(_) => Document::Terms(weighted),
                    })
                    .collect();
                Ok(use_them(&lent))
            }
        }
    }
}

/// Reads the keys of a batch.
pub(crate) fn keys(keys: &Bound<'_, PyAny>) -> PyResult<Vec<Key>> {
    if keys.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("expected several keys, not one: put it into a list"));
    }
    let keys = rows(keys)?.enumerate().map(|(place, key)| {
        let key = key?;
        key.extract().map_err(|error: PyErr| at(place, &error, key.py()))
    });
    keys.collect()
}

/// Returns the values of an iterable; of a pyarrow array as Python's own.
fn rows<'py>(values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
    match values.getattr("to_pylist") {
        Ok(to_list) => to_list.call0()?.try_iter(),
        Err(_) => values.try_iter(),
    }
}

/// `None`, and the NaN and NA of pandas, stand for a missing value: nothing else differs from itself.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    // NA is neither equal nor unequal, and says so by a `TypeError`.
    let is_itself = || value.eq(value).unwrap_or_else(|error| !error.is_instance_of::<PyTypeError>(value.py()));
    value.is_none() || !value.is_instance_of::<PyString>() && !is_itself()
}

fn missing(place: usize) -> PyErr {
    PyValueError::new_err(format!("document {place} is missing (null): drop such rows, or fill them with ''"))
}

/// Names the place of the value that an exception is about.
fn at(place: usize, error: &PyErr, py: Python<'_>) -> PyErr {
    let message = format!("number {place}: {}", error.value(py));
    match error.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err(message),
        false => PyValueError::new_err(message),
    }
}
