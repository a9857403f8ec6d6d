//! *Which values do the rooms exchange?*
//!
//! Plain values: terms, weights, page ids, verdicts. Nothing here does I/O.

pub mod arrays;
mod ids;
mod most_lost;
mod page_input;
mod page_terms;
mod provenance;
mod running_text;
mod terms;
mod verdict;
mod weights;

pub use ids::{Digest, PageId, Sequence, TermId};
pub use most_lost::{MostLost, MostLostError};
pub use page_input::{Judged, JudgedPage, PageInput};
pub use page_terms::PageTerms;
pub use provenance::{Markup, Provenance, Source};
pub use running_text::{RUN, RunningText};
pub use terms::{Term, TermCounts, TermOrder, WantedOrder};
pub use verdict::{DecidedBy, Detector, Difference, Score, Threshold, ThresholdError, Verdict};
pub use weights::{Field, FieldCounts, FieldWeights, FieldWeightsError};
