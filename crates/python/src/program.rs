//! The function `main`: the program itself.

use std::ffi::OsString;

use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ndcrawl::cli::main_with(arguments))
}
