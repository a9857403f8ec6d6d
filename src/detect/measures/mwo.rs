//! Minimum weight overlapping (`mwo`, section 3 of "Web Document Duplicate Detection Using Minimum
//! Weight Overlapping").
//!
//! The measure itself is [`verify`](crate::verify); the filter's view of a page is its record, and
//! the filter's floor is the threshold.

use super::{Measure, Page, Similarity};
use crate::record::Threshold;
use crate::verify::score_reaching;

/// The paper's weights alone decide.
#[derive(Debug, Default)]
pub(super) struct Mwo;

impl Measure for Mwo {
    fn bounds_are_scores(&self) -> bool {
        true
    }

    fn compare(&self, probe: &Page, stored: &Page, bar: Threshold) -> Option<Similarity> {
        score_reaching(&probe.record, &stored.record, bar).map(|score| Similarity { score, second: None })
    }
}
