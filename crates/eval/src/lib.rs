//! *How often is a detector right, and what does that cost?*
//!
//! The room reads labeled pages from a folder, renders them once, and runs detectors on them:
//!
//! ```text
//! labels (TSV) ─► addresses ─► pages ─┬─► pairs: scores ─► counts by kind, sweep, borderline pairs, levels
//!                                     └─► clusters: stream of decisions ─► missed, extra
//! ```
//!
//! | question | type |
//! |---|---|
//! | Which labels do pages have? | [`PairLabels`], [`ClusterLabels`] |
//! | What do pages contain? | [`Pages`] |
//! | How similar are two pages? | [`PairScores`], by [`Comparer`](neardup::detect::Comparer) |
//! | What does a crawl know of their hosts? | [`HostPages`] |
//! | Which pages of a stream are kept? | [`ClusterFigures`], by [`Decider`](neardup::detect::Decider) |
//! | How good is that? | [`Counts`], [`Estimate`] |
//! | How is it reported? | [`json`], [`html`] |
//!
//! Pairs labeled `near` or `dup` are duplicates, `distinct` ones are not, and `grey` ones never count. Each pair is
//! scored once; every threshold applies to that score.
//!
//! Invariants: nothing is fetched. Files are read only below the folder of pages. The same files give the same results,
//! except for times.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod address;
mod clock;
mod clusters;
mod host_pages;
pub mod html;
pub mod json;
mod labels;
mod levels;
mod metrics;
mod pages;
mod pairs;
mod report;
mod stream;
mod tsv;

pub use address::Address;
pub use clusters::{ClusterFigures, ExtraPage, MemberOutcome, MissedPage, RepeatedPage};
pub use host_pages::HostPages;
pub use labels::{ClusterLabels, Label, LabeledMember, LabeledPair, PairLabels, read_clusters, read_pairs};
pub use levels::{CalledPairs, EditLevel, levels};
pub use metrics::{Counts, Estimate, wilson};
pub use pages::{EvalPage, MissingPage, Pages, RenderingCost, fetched};
pub use pairs::{ALL, Borderline, KindCounts, PairScores, SweepPoint, best, label_counts};
pub use report::{ClusterReport, EvalInput, JudgedPairs, PairReport, PairRun};
pub use stream::{DecisionCost, DecisionStream};
pub use tsv::LabelError;
