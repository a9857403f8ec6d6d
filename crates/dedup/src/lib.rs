//! *Which of these pages do we keep?* The crawl's verdicts on pages from files.
//!
//! ```text
//! files ─► reader ─► renderers, one a core ─► intake (decide) ─► committer ─► the output folder of a crawl
//! ```
//!
//! Pages are decided in the order of the input and rendered on all cores. Each core takes every n-th page, so the
//! intake gets them back in order without sorting. Memory is bounded by the channels between the parts, and by what
//! the index and the decision log keep of each page.
//!
//! **Lifecycle.** [`Dedup::open`] restores the state of the last commit, [`Dedup::run`] reads the input and closes
//! the store. Committed pages are not decided again: a run that was stopped resumes, and a run with more files adds
//! them. Of several captures of one URL one is a document, or each of them ([`SameUrl`]). A document without URL is
//! never passed over: if its id came before, it is known by its file and line. At the end the input
//! is read once more to decide again what would be decided otherwise by now.
//!
//! Public types: [`Dedup`] is a run, [`Inputs`] its files, [`DedupEnding`] its result. [`Contamination`] is what a test set has
//! in common with documents.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod decontaminate;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod input;
mod input_report;
mod intake;
mod names;
mod own_rows;
mod rendering;
mod run;
mod setup;
mod shared_input;

pub use decontaminate::{
    Contamination, ContaminationHit, DecontaminationSetup, DocumentPlace, LEAST as SHORTEST_ITEM, MOST_ITEMS,
};
pub use input::{IgnoredFile, InputDamage, InputFile, Inputs, NoInput, Options as InputOptions, SeenFields};
pub use input_report::{InputReport, InputReports};
pub use own_rows::{OwnRows, OwnRowsError, RowsGiven, give_rows_back};
pub use run::{Dedup, DedupEnding, DedupWatch, InputCounts};
pub use setup::{DedupSetup, SameUrl};
pub use shared_input::{
    Accepts, InputReader, PageToDecide, ReadDocument, SharedInputReport, enter_earlier_verdict, enter_verdict,
};
