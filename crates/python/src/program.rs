//! The function `main`: the program itself, and how it starts itself once more.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    tell_own_program(py);
    py.detach(|| ndcrawl::cli::main_with(arguments))
}

/// Tells the library that `python -m ndcrawl` is its program: readers of documents are started so.
pub(crate) fn tell_own_program(py: Python<'_>) {
    let python = py.import("sys").and_then(|sys| sys.getattr("executable")).and_then(|path| path.extract::<PathBuf>());
    // A program that embeds Python may have no interpreter. Then the error tells that the reader cannot be started.
    if let Ok(python) = python {
        ndcrawl::cli::set_own_program(python, vec!["-m".into(), "ndcrawl".into()]);
    }
}
