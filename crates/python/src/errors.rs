//! Errors of the detector as Python exceptions, in the same words.

use neardup::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyError, PyOSError, PyRuntimeError, PyValueError};

/// Returns the exception for an error of the detector.
pub(crate) fn exception(error: Error) -> PyErr {
    match &error {
        Error::UnknownKey(_) => PyKeyError::new_err(error.to_string()),
        Error::Detect(_) => PyRuntimeError::new_err(error.to_string()),
        Error::Io(_) => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the exception for an error that one document of a batch has.
pub(crate) fn exception_at((place, error): (usize, Error)) -> PyErr {
    PyValueError::new_err(format!("document {place}: {error}"))
}

/// Returns the exception for an error of reading or writing a file.
pub(crate) fn file_exception(path: &std::path::Path, error: &std::io::Error) -> PyErr {
    // With a number, Python makes it a FileNotFoundError and the like.
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string(), path.display().to_string())),
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}
