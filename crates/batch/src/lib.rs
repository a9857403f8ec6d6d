//! *How do several processes deduplicate files?* `dedup` over the cluster.
//!
//! ```text
//! manifest ─► inputs, leased ─► reader ─► arrivals ─► turns in manifest order ─► decisions ─► files of the input
//! ```
//!
//! The manifest numbers the inputs. Each worker leases inputs, reads and renders them, and sends their pages as
//! arrivals; what it reads goes to a file beside the output. Turns take the pages in the order of the manifest, so the
//! verdicts depend neither on the number of workers nor on their speed. When all pages of an input are decided, its
//! worker writes the files of that input, each under a temporary name that is changed at the end, and marks the input as
//! done. An input of a dead worker is leased again, and gives the same bytes.
//!
//! When all inputs of a manifest are done, one worker takes the second look. Inputs with pages that are decided otherwise
//! by then are written again, from what was read if its process and the disk have kept that.
//!
//! | file | question |
//! |---|---|
//! | `worker`, `waiting_inputs` | Which inputs does a process work on, how many at a time, and when is it done? |
//! | `input_work` | How does an input get from its records to its files, and a manifest to its second look? |
//! | `decisions`, `final_decision` | What was decided on the arrivals of the inputs, and what counts after the second look? |
//! | `originals` | Which page does a duplicate repeat? |
//! | `input_files`, `spools` | What is written of an input, and when, and how long is kept what was read? |
//! | `kept_file`, `verdict_file` | In which formats? |
//! | `output` | Where to? |
//!
//! Public types: [`BatchWorker`] is a process's part in a run, [`BatchEnding`] its result.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod decisions;
mod error;
mod final_decision;
mod input_files;
mod input_work;
mod json_line;
mod kept_file;
mod originals;
mod output;
mod spools;
mod verdict_file;
mod waiting_inputs;
mod worker;

pub use error::BatchError;
pub use output::{BatchOutput, KeptFormat, VerdictFormat};
pub use worker::{BatchEnding, BatchSettings, BatchWorker};
