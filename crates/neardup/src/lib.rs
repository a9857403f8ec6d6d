//! Exact, incremental near-duplicate detection.
//!
//! Documents arrive one after the other. Each gets a verdict at once: unique, or the earlier document it repeats,
//! with the score and the evidence.

//! Imports between rooms go downward only:
//!
//! ```text
//! deduplicator
//! detect
//! index  similarity  text
//! model
//! ```

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod deduplicator;
pub mod detect;
pub mod index;
pub mod model;
pub mod similarity;
pub mod text;

pub use deduplicator::{Builder, Deduplicator, Document, Error, Explanation, Match, TermShare, Verdict};
pub use model::Score;
