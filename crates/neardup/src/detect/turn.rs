//! Turns: numbered groups of pages that are decided together, in a log that several deciders follow.
//!
//! One decider [decides](super::Decider::decide_turn) a turn; each of the others [takes it
//! in](super::Decider::take_turn) with the verdicts that the log has, without comparing anything. **Law.** All that have
//! the same turns, in whichever of the two ways, decide the next one alike, given [`Settling::AtMarks`](super::Settling).
//!
//! A turn may *withdraw* pages that earlier turns have decided: before its pages are decided, they leave the index, and
//! nothing passes on their verdicts any more. What was learned from them stays. A page of a turn may
//! [renew](PageInput::renews) the decision on a page of an earlier turn; one of the same turn is refused.
//!
//! A turn may end without [settling](TurnInput::is_unsettled): then what it teaches counts from the end of a later one.

use super::DetectError;
use crate::model::{Judged, PageInput, Sequence, Verdict};

/// What a turn is about.
#[derive(Clone, Debug, Default)]
pub struct TurnInput {
    /// Pages of earlier turns that leave the index before this turn's pages are decided. Some may have left before.
    pub withdrawn: Vec<Sequence>,
    /// The pages to decide, in order.
    pub pages: Vec<PageInput>,
    /// Whether what is learned from the turn does not count yet where it ends.
    pub is_unsettled: bool,
}

impl From<Vec<PageInput>> for TurnInput {
    fn from(pages: Vec<PageInput>) -> Self {
        Self { withdrawn: Vec::new(), pages, is_unsettled: false }
    }
}

impl TurnInput {
    /// Checks that all pages that the turn withdraws or renews were decided before page `next`.
    pub(super) fn check_earlier(&self, next: Sequence) -> Result<(), DetectError> {
        let renewed = self.pages.iter().filter_map(|page| page.renews);
        let unknown = self.withdrawn.iter().copied().chain(renewed).find(|page| *page >= next);
        unknown.map_or(Ok(()), |page| Err(DetectError::NotDecided { page }))
    }
}

/// The decision on a submitted page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnAnswer {
    /// The page's place in the order of decisions.
    pub sequence: Sequence,
    /// The decision.
    pub verdict: Verdict,
    /// Whether it was made before.
    pub redelivered: bool,
    /// See [`Judged::displaced`].
    pub displaced: Option<Sequence>,
}

impl From<&Judged> for TurnAnswer {
    fn from(judged: &Judged) -> Self {
        let Judged { sequence, verdict, redelivered, displaced, .. } = *judged;
        Self { sequence, verdict, redelivered, displaced }
    }
}
