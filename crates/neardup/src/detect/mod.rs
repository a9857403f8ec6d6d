//! *Is this page a duplicate of a stored one?*
//!
//! A [`Decider`] takes pages as weighted terms and two digests. It returns a [verdict](crate::model::Verdict) for
//! each: unique, or *which stored page* it repeats, how similar it is, and by which evidence. One owner decides the
//! pages one after the other. Of two look-alikes the first is stored, and every later one points to it, never to
//! another duplicate.
//!
//! The stages of "Web Document Duplicate Detection Using Minimum Weight Overlapping" (MWO):
//!
//! | paper (section 3) | here |
//! |---|---|
//! | rendering | before this room: terms arrive counted by field |
//! | table 1, field weights | [`Options::weights`] |
//! | dynamic thresholding | [`Options::thresholding`], off by default |
//! | threshold `t`, in [0, 1]; the paper's example is 0.5 | [`Options::threshold`], 0.8 by default |
//! | filtering, equations (1) to (3) | [`index`](crate::index): restated exactly, or as published |
//! | verification, MWO | [`similarity`](crate::similarity), in integers |
//! | the optimal set, ranked by MWO | [`Decider::matches`] with [`Mode::All`] |
//! | one input page against a finished repository | a stream: each page against those stored so far |
//!
//! **Departures.** Exact copies are found by digest before anything is compared. Pages with fewer terms than
//! [`Options::min_terms`] are compared by their bytes only. Of several matches the verdict names one, by default the
//! first found ([`Mode`]).
//!
//! **Lifecycle.** Create a decider ([`Decider::new`]), restore its log or [`load`](Decider::load) a snapshot, then
//! [`decide`](Decider::decide) batches. [`Decider::committed`] tells it which records it may drop from memory.
//!
//! Invariants: no I/O, URL, clock or runtime. A verdict depends only on the options and the pages before it.
//! [`BruteForce`] gives the same verdicts, and [`Audit`] checks the log of a whole crawl against it. Design notes:
//! `docs/design/detect.md`.

mod audit;
mod brute_force;
mod comparer;
mod corpus_stats;
mod decider;
mod decision_log;
mod detectors;
mod error;
mod exact_duplicates;
mod matching;
mod numbered_page;
mod numbering;
mod options;
mod page_match;
mod records;
mod replay;
mod representative;
mod search;
mod settling;
mod stats;
mod trust;
mod turn;
mod vocabulary;
mod withdrawals;

pub use audit::{Audit, AuditDifference};
pub use brute_force::BruteForce;
pub use comparer::{Comparer, Comparison};
pub use decider::Decider;
pub use detectors::{Measure, OwnWords, OwnWordsMeasure, PreparedText, Thresholding, ThresholdingError};
#[cfg(feature = "baselines")]
pub use detectors::{dd, fuzzy, provenance_clusters};
pub use error::DetectError;
pub use matching::MatchFilter;
pub use numbered_page::{NumberedPage, PairComparison};
pub use options::{Options, SecondCheck, Within};
pub use page_match::{Match, Mode, Page, Similarity};
pub use records::{InMemory, LoggedPage, NoLog, RecordSource};
pub use replay::{Replay, ReplayedComparison};
pub use representative::{Election, Member, elect};
pub use settling::Settling;
pub use stats::DeciderStats;
pub use trust::{Factors, Trust};
pub use turn::{TurnAnswer, TurnInput};
pub use vocabulary::Vocabulary;
pub use withdrawals::Withdrawals;

#[cfg(test)]
mod own_words_tests;
#[cfg(test)]
mod renewal_tests;
#[cfg(test)]
mod restoring_tests;
#[cfg(test)]
mod test_rows;
#[cfg(test)]
mod test_streams;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod turn_renewal_tests;
#[cfg(test)]
mod turn_tests;
#[cfg(test)]
mod verdict_tests;
