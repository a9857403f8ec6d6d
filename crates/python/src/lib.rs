//! The Python module `ndcrawl._native`: the program, its detector and its page reader.
//!
//! Thin: it converts values, lets other Python threads run, and calls the crates of this workspace. The package around it
//! is in `python/ndcrawl`, with types and documentation in `_native.pyi`. Imports between files go downward only:
//!
//! ```text
//! deduplicator  page  program  run
//! documents  verdict  errors
//! arrow  key
//! ```

#![deny(unsafe_code)]

mod arrow;
mod deduplicator;
mod documents;
mod errors;
mod key;
mod page;
mod program;
mod run;
mod verdict;

use pyo3::prelude::*;

/// The parts of ndcrawl that are written in Rust.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::deduplicator::Deduplicator;
    #[pymodule_export]
    use super::page::{Link, Page, extract};
    #[pymodule_export]
    use super::program::main;
    #[pymodule_export]
    use super::run::NativeRun;
    #[pymodule_export]
    use super::verdict::{Explanation, Match, PairVerdict, TermShare, Verdict};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
