//! Pages that somebody else stored before: how they and the pages of this crawl are numbered.
//!
//! A decider counts what it was seeded with first, so that the order is one: of two look-alikes the smaller number
//! stays. Outside it the pages of a log are numbered from 0 whatever they were compared with, and pages of
//! others have [numbers of their own](Sequence::of_earlier).

use crate::model::{Sequence, Verdict};

/// From the numbers of a log to those of a decider, and back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbering {
    /// Pages that came before the first one of the log.
    pub(super) seeds: u32,
}

impl Numbering {
    /// The decider's number of a page.
    pub(super) fn inside(self, page: Sequence) -> Sequence {
        page.as_earlier().map_or(Sequence(page.0.saturating_add(self.seeds)), Sequence)
    }

    /// The number of a page outside the decider.
    pub(super) fn outside(self, page: Sequence) -> Sequence {
        page.0.checked_sub(self.seeds).map_or(Sequence::of_earlier(page.0), Sequence)
    }

    /// What is told of a verdict.
    pub(super) fn told(self, verdict: Verdict) -> Verdict {
        verdict.renumbered(|page| self.outside(page))
    }
}
