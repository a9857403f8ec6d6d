//! *Have we kept this text before?*
//!
//! A page comes in as weighted terms and two digests; a [verdict](crate::model::Verdict) comes
//! out: unique, or *which stored page* it repeats, how similar it is, and by which evidence. Pages
//! are judged one after the other by one owner: of two look-alikes the first is stored, and every
//! later one points to it, never to another duplicate.
//!
//! The three stages of "Web Document Duplicate Detection Using Minimum Weight Overlapping" and
//! where they live:
//!
//! | paper (section 3) | here |
//! |---|---|
//! | rendering | before this room: terms arrive counted by field |
//! | table 1, field weights | [`Options::weights`] |
//! | dynamic thresholding | [`Options::thresholding`], off by default |
//! | threshold `t`, in [0, 1]; the paper's example is 0.5 | [`Options::threshold`], 0.8 by default |
//! | filtering, equations (1)-(3) | [`filter`](crate::index): restated exactly, or as published |
//! | verification, MWO | [`verify`](crate::similarity), in integers |
//! | the optimal set, ranked by MWO | [`Decider::matches`] with [`Mode::All`] |
//! | one input page against a finished repository | a stream: each page against those kept so far |
//!
//! **Departures.** Exact copies are found by digest before anything is compared; pages with fewer
//! terms than [`Options::min_terms`] are compared by their bytes only; of several matches the best
//! is named.
//!
//! Invariants: this room does no I/O and knows no URL, clock or runtime; a verdict depends on the
//! options and the pages before it and nothing else; [`BruteForce`] gives the same verdicts,
//! and [`Audit`] holds the log of a whole crawl against it.
//!
//! # Example
//!
//! Someone with a folder of texts and no crawler:
//!
//! ```
//! use std::collections::HashMap;
//!
//! use neardup::detect::{Decider, Options};
//! use neardup::model::{PageInput, Digest, Field, FieldCounts, PageId, TermCounts, TermOrder};
//!
//! fn page(name: &str, text: &str) -> PageInput {
//!     let mut terms = HashMap::<String, FieldCounts>::new();
//!     for word in text.split_whitespace() {
//!         terms.entry(word.to_lowercase()).or_default().add(Field::Body);
//!     }
//!     PageInput {
//!         page: PageId::new("my folder", name, 0),
//!         group: 0,
//!         body_digest: Digest::of(text.as_bytes()),
//!         text_digest: None,
//!         terms: terms.into_iter().map(|(term, counts)| TermCounts { term: term.into(), counts }).collect(),
//!         order: TermOrder::default(),
//!         renews: None,
//!     }
//! }
//!
//! # fn main() -> Result<(), neardup::detect::DetectError> {
//! let texts = [
//!     ("sun.txt", "the sun rose over the hills and the birds began to sing in the old trees"),
//!     ("rain.txt", "rain fell on the town all day and nobody went out to the market"),
//!     ("dawn.txt", "the sun rose over the hills and the birds began to call in the old trees"),
//! ];
//! let mut decider = Decider::in_memory(Options { min_terms: 5, ..Options::default() });
//! let judged = decider.decide(texts.map(|(name, text)| page(name, text)).to_vec())?;
//!
//! assert!(judged[0].verdict.is_unique());
//! assert!(judged[1].verdict.is_unique());
//! let original = judged[2].verdict.duplicate_of().map(|of| texts[of.index()].0);
//! assert_eq!(original, Some("sun.txt"));
//! # Ok(())
//! # }
//! ```

mod audit;
mod brute_force;
mod comparer;
mod corpus_stats;
mod decider;
mod decision_log;
mod detectors;
mod earlier;
mod error;
mod exact_duplicates;
mod matching;
mod options;
mod records;
mod replay;
mod representative;
mod search;
mod stats;
mod trust;
mod vocabulary;

pub use audit::{Audit, AuditDifference};
pub use brute_force::BruteForce;
pub use comparer::{Comparer, Comparison};
pub use decider::Decider;
pub use detectors::{
    Measure, Page, SecondCheck, SecondCheckBasis, Similarity, TemplateAware, Thresholding, ThresholdingError,
};
#[cfg(feature = "baselines")]
pub use detectors::{dd, fuzzy, provenance_clusters};
pub use error::DetectError;
pub use matching::{Condition, Match, Mode};
pub use options::{Options, Within};
pub use records::{InMemory, LoggedPage, NoLog, RecordSource};
pub use replay::{Replay, ReplayedComparison};
pub use representative::{Election, Member, elect};
pub use stats::DeciderStats;
pub use trust::{Factors, Trust};
pub use vocabulary::Vocabulary;

#[cfg(test)]
mod test_rows;
#[cfg(test)]
mod tests;
