//! *Which of these pages do we keep?* The crawl's verdicts on pages that are there already.
//!
//! ```text
//! files ─► reader ─► renderers, one a core ─► judge (decide) ─► committer ─► the folder that a crawl writes
//! ```
//!
//! Pages are judged in the order in which they are read, and rendered on all cores: each core takes every
//! n-th page, so that the judge gets them back in order without sorting. Memory is bounded by the channels
//! between the parts, and by what index and ledger hold of each page.
//!
//! What was committed is not judged again: a run that was stopped goes on where it was, and a run with
//! more files adds them. An address that comes again is passed over and counted, since a page is never its
//! own duplicate.

#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod input;
mod intake;
mod run;

pub use input::{InputDamage, Inputs, NoInput, Options as InputOptions};
pub use run::{Dedup, DedupEnding, DedupSetup, DedupWatch, InputCounts};
