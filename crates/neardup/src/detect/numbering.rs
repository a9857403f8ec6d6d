//! Numbers of pages that an earlier crawl stored, and of the pages of this crawl.
//!
//! Inside the decider seeded pages come first, so that there is one order: of two look-alikes the smaller number
//! stays. Outside it the pages of a log are numbered from 0, whatever they were compared with, and pages of earlier
//! crawls have [their own numbers](Sequence::of_earlier).

use crate::model::{Sequence, Verdict};

/// Converts the numbers of a log to those of a decider, and back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbering {
    /// Seeded pages, which come before the first page of the log.
    pub(super) seeds: u32,
}

impl Numbering {
    /// Returns the decider's number of a page.
    pub(super) fn inside(self, page: Sequence) -> Sequence {
        page.as_earlier().map_or(Sequence(page.0.saturating_add(self.seeds)), Sequence)
    }

    /// Returns the number of a page outside the decider.
    pub(super) fn outside(self, page: Sequence) -> Sequence {
        page.0.checked_sub(self.seeds).map_or(Sequence::of_earlier(page.0), Sequence)
    }

    /// Returns a verdict with the numbers used outside the decider.
    pub(super) fn to_outside(self, verdict: Verdict) -> Verdict {
        verdict.renumbered(|page| self.outside(page))
    }
}
