//! The phase of each URL: queued, leased, done or held back.

use super::chunks::Chunks;
use ndcrawl_model::{Deferral, UrlId};

/// Where a URL is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlPhase {
    /// In the queue of its host.
    Queued,
    /// On lease.
    Leased,
    /// With an outcome.
    Done,
    /// Out of the queue until another URL has ended, which it may repeat.
    Waiting,
    /// Out of the queue.
    HeldBack(HeldBack),
    /// In another slot, which has its real phase.
    Elsewhere,
}

/// Why a URL that was seen is not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// It waits for a better path, or for a budget.
    Deferred(Deferral),
    /// A rule kept it out at first sight; its row in the log names the rule.
    Excluded,
    /// Its pattern keeps repeating itself, see
    /// [`EmbeddedFrontier::closed_pattern`](super::EmbeddedFrontier::closed_pattern).
    Closed,
    /// A rule predicts that it repeats another page, see
    /// [`EmbeddedFrontier::prediction`](super::EmbeddedFrontier::prediction).
    Predicted,
}

impl UrlPhase {
    /// All phases; the place of a phase is its code.
    const ALL: [UrlPhase; 15] = [
        UrlPhase::Queued,
        UrlPhase::Leased,
        UrlPhase::Done,
        UrlPhase::HeldBack(HeldBack::Excluded),
        UrlPhase::HeldBack(HeldBack::Closed),
        UrlPhase::HeldBack(HeldBack::Predicted),
        UrlPhase::Waiting,
        UrlPhase::Elsewhere,
        UrlPhase::HeldBack(HeldBack::Deferred(Deferral::Depth)),
        UrlPhase::HeldBack(HeldBack::Deferred(Deferral::Budget)),
        UrlPhase::HeldBack(HeldBack::Deferred(Deferral::DuplicateLink)),
        UrlPhase::HeldBack(HeldBack::Deferred(Deferral::NoFollow)),
        UrlPhase::HeldBack(HeldBack::Deferred(Deferral::NotAsked)),
        UrlPhase::HeldBack(HeldBack::Deferred(Deferral::NotInSitemap)),
        UrlPhase::HeldBack(HeldBack::Deferred(Deferral::HostTrouble)),
    ];

    fn code(self) -> u8 {
        match self {
            UrlPhase::Queued => 0,
            UrlPhase::Leased => 1,
            UrlPhase::Done => 2,
            UrlPhase::HeldBack(HeldBack::Excluded) => 3,
            UrlPhase::HeldBack(HeldBack::Closed) => 4,
            UrlPhase::HeldBack(HeldBack::Predicted) => 5,
            UrlPhase::Waiting => 6,
            UrlPhase::Elsewhere => 7,
            UrlPhase::HeldBack(HeldBack::Deferred(Deferral::Depth)) => 8,
            UrlPhase::HeldBack(HeldBack::Deferred(Deferral::Budget)) => 9,
            UrlPhase::HeldBack(HeldBack::Deferred(Deferral::DuplicateLink)) => 10,
            UrlPhase::HeldBack(HeldBack::Deferred(Deferral::NoFollow)) => 11,
            UrlPhase::HeldBack(HeldBack::Deferred(Deferral::NotAsked)) => 12,
            UrlPhase::HeldBack(HeldBack::Deferred(Deferral::NotInSitemap)) => 13,
            UrlPhase::HeldBack(HeldBack::Deferred(Deferral::HostTrouble)) => 14,
        }
    }
}

/// The part of a state byte that holds the phase.
const PHASE: u8 = 0b1111;
/// The URL is a seed, or redirects alone lead to it from one.
const FROM_SEED: u8 = 1 << 4;
/// The URL was queued again for a new verdict, which happens at most once.
const REVISED: u8 = 1 << 5;

/// The state bytes of all URLs, and the number of URLs in each phase.
pub(super) struct UrlPhases {
    codes: Chunks<u8>,
    counts: [u64; UrlPhase::ALL.len()],
}

impl UrlPhases {
    pub(super) fn new() -> Self {
        Self { codes: Chunks::new(), counts: [0; UrlPhase::ALL.len()] }
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.codes.bytes()
    }

    pub(super) fn push(&mut self, phase: UrlPhase, from_seed: bool) {
        self.codes.push(phase.code() | if from_seed { FROM_SEED } else { 0 });
        self.counts[usize::from(phase.code())] += 1;
    }

    /// Returns the phase of a URL; `None` if it was never seen.
    pub(super) fn get(&self, id: UrlId) -> Option<UrlPhase> {
        let code = self.codes.get(id.index())?;
        UrlPhase::ALL.get(usize::from(code & PHASE)).copied()
    }

    /// Changes the phase of a URL that was seen.
    pub(super) fn set(&mut self, id: UrlId, phase: UrlPhase) {
        if let Some(code) = self.codes.get_mut(id.index()) {
            self.counts[usize::from(*code & PHASE)] -= 1;
            self.counts[usize::from(phase.code())] += 1;
            *code = *code & !PHASE | phase.code();
        }
    }

    pub(super) fn is_from_seed(&self, id: UrlId) -> bool {
        self.has_mark(id, FROM_SEED)
    }

    pub(super) fn mark_from_seed(&mut self, id: UrlId) {
        self.set_mark(id, FROM_SEED);
    }

    pub(super) fn is_revised(&self, id: UrlId) -> bool {
        self.has_mark(id, REVISED)
    }

    pub(super) fn mark_revised(&mut self, id: UrlId) {
        self.set_mark(id, REVISED);
    }

    fn set_mark(&mut self, id: UrlId, mark: u8) {
        if let Some(code) = self.codes.get_mut(id.index()) {
            *code |= mark;
        }
    }

    /// Returns the number of URLs in this phase.
    pub(super) fn count(&self, phase: UrlPhase) -> u64 {
        self.counts[usize::from(phase.code())]
    }

    /// Returns the number of deferred URLs.
    pub(super) fn deferred(&self) -> u64 {
        UrlPhase::ALL
            .into_iter()
            .filter(|phase| matches!(phase, UrlPhase::HeldBack(HeldBack::Deferred(_))))
            .map(|phase| self.count(phase))
            .sum()
    }

    fn has_mark(&self, id: UrlId, mark: u8) -> bool {
        self.codes.get(id.index()).is_some_and(|code| code & mark != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_survives_its_byte_and_leaves_the_marks_alone() {
        let mut phases = UrlPhases::new();
        phases.push(UrlPhase::Queued, true);
        for phase in UrlPhase::ALL {
            phases.set(UrlId(0), phase);
            assert_eq!(phases.get(UrlId(0)), Some(phase));
            assert!(phases.is_from_seed(UrlId(0)));
            assert_eq!(phases.count(phase), 1);
        }
        assert_eq!((phases.deferred(), phases.count(UrlPhase::Queued)), (1, 0));
        assert_eq!(phases.get(UrlId(1)), None);
    }
}
