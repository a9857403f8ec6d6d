//! What names a document: an integer or a text.

use std::fmt;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// The key of a document.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Key {
    Number(i64),
    Text(String),
}

/// As Python writes it, for messages.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Number(number) => write!(f, "{number}"),
            Key::Text(text) => write!(f, "'{}'", text.escape_debug()),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Key {
    type Error = PyErr;

    fn extract(key: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if key.is_instance_of::<pyo3::types::PyString>() {
            return Ok(Key::Text(key.extract()?));
        }
        key.extract().map(Key::Number).map_err(|error| match error.is_instance_of::<PyTypeError>(key.py()) {
            true => PyTypeError::new_err(format!("a key is a str or an int, not {}", type_name(&key))),
            false => error,
        })
    }
}

impl<'py> IntoPyObject<'py> for Key {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Key::Number(number) => Ok(number.into_pyobject(py)?.into_any()),
            Key::Text(text) => Ok(text.into_pyobject(py)?.into_any()),
        }
    }
}

impl<'py> IntoPyObject<'py> for &Key {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.clone().into_pyobject(py)
    }
}

/// Returns the name of a value's type, for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "a nameless type".to_owned(), |name| name.to_string())
}
