//! *How often is a detector right, and what does that cost?*
//!
//! Pages with labels are read from a folder, rendered once, and shown to detectors:
//!
//! ```text
//! labels (TSV) ─► addresses ─► pages ─┬─► pairs: scores ─► counts by kind, sweep, borderlines, levels
//!                                     └─► clusters: a stream of decisions ─► missed, extra
//! ```
//!
//! | question | type |
//! |---|---|
//! | what is said of the pages | [`PairLabels`], [`ClusterLabels`] |
//! | what the pages hold | [`Pages`] |
//! | what a detector says of two pages | [`PairScores`], by [`Comparer`](crate::detect::Comparer) |
//! | what a detector keeps of a stream | [`ClusterFigures`], by [`Decider`](crate::detect::Decider) |
//! | what all that amounts to | [`Counts`], [`Estimate`] |
//! | how it is told | [`json`], [`html`] |
//!
//! Near and dup pairs are to be called duplicates, distinct ones not; grey pairs never count. A
//! score is asked for once, and every threshold is judged by it.
//!
//! Invariants: nothing is fetched; files are read below the folder of pages only; the same files
//! give the same answers, all but times.

mod address;
mod clock;
mod clusters;
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
pub use clusters::{ClusterFigures, Extra, Missed, Outcome, Repeated};
pub use labels::{ClusterLabels, Label, Member, Pair, PairLabels, read_clusters, read_pairs};
pub use levels::{Called, Level, levels};
pub use metrics::{Counts, Estimate, wilson};
pub use pages::{Missing, Page, Pages, RenderingCost, fetched};
pub use pairs::{ALL, Borderline, KindCounts, PairScores, SweepPoint, best, label_counts};
pub use report::{ClusterReport, Input, JudgedPairs, PairReport, PairRun};
pub use stream::{DecisionCost, Stream};
pub use tsv::LabelError;
