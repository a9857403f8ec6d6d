//! Incremental near-duplicate detection, with an explanation for every verdict.
//!
//! Documents arrive one after the other. Each gets a verdict at once: unique, or the kept document it repeats, with
//! the score and the words by which they differ. Verdicts are meant to be those of a comparison with every kept
//! document; an index makes that quick, and what it can miss has a proven bound. There is no I/O, no thread that stays, no clock and no random choice.
//!
//! ```
//! use neardup::{Deduplicator, Verdict};
//!
//! # fn main() -> Result<(), neardup::Error> {
//! let mut documents = Deduplicator::builder().min_terms(5).build()?;
//! documents.insert("sun", "The sun rose over the hills, and birds began to sing in every old tree.")?;
//! match documents.insert("dawn", "The sun rose over the hills, and birds began to call in every old tree.")? {
//!     Verdict::Unique => unreachable!(),
//!     Verdict::ExactDuplicate { of } => println!("the text of {of}"),
//!     Verdict::NearDuplicate { of, score, .. } => println!("repeats {of}, {score:.3}"),
//!     _ => {}
//! }
//! let explanation = documents.explain(&"sun", &"dawn")?;
//! assert!(explanation.terms.iter().any(|term| term.term == "sing" && term.shared() == 0.0));
//! # Ok(())
//! # }
//! ```
//!
//! | you want | use |
//! |---|---|
//! | to deduplicate texts, or terms with your own weights | [`Deduplicator`] |
//! | to ask for similar documents without taking one in | [`Deduplicator::matches`] |
//! | verdicts on pairs that another tool has found | [`Deduplicator::judge_counted`] |
//! | documents taken out again, or another threshold | [`Deduplicator::remove`], [`Deduplicator::rethreshold`] |
//! | documents of several fields, decisions from a log, other detectors | [`detect::Decider`] |
//! | an exact index for minimum weight overlapping (weighted Jaccard's sibling) | [`index::InvertedIndex`] |
//! | words, stems and runs of words | [`text::Tokenizer`] |
//!
//! The feature `baselines` adds four other published detectors to compare with. Imports between rooms go downward
//! only:
//!
//! ```text
//! deduplicator
//! detect
//! index  similarity  text
//! model
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod deduplicator;
pub mod detect;
pub mod index;
pub mod model;
pub mod similarity;
pub mod text;

pub use deduplicator::{
    Builder, Counted, Counter, Deduplicator, Document, Error, Explanation, Match, PairVerdict, TermShare, Verdict,
    WordDifference,
};
pub use model::{MostLost, Score};
