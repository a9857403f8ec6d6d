//! Where is a URL in its life?

use super::chunks::Chunks;
use crate::model::{Deferral, UrlId};

/// Where a URL is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Queued,
    Leased,
    Done,
    Excluded,
    /// It was queued, and its pattern has been closed since.
    Closed,
    /// It was queued, and a rule foretells that it repeats another page.
    Predicted,
    /// It was queued, and comes back when the URL has ended that it may repeat.
    Waiting,
    Deferred(Deferral),
}

impl Phase {
    const ALL: [Phase; 12] = [
        Phase::Queued,
        Phase::Leased,
        Phase::Done,
        Phase::Excluded,
        Phase::Closed,
        Phase::Predicted,
        Phase::Waiting,
        Phase::Deferred(Deferral::Depth),
        Phase::Deferred(Deferral::Budget),
        Phase::Deferred(Deferral::DuplicateLink),
        Phase::Deferred(Deferral::NoFollow),
        Phase::Deferred(Deferral::NotAsked),
    ];

    fn code(self) -> u8 {
        match self {
            Phase::Queued => 0,
            Phase::Leased => 1,
            Phase::Done => 2,
            Phase::Excluded => 3,
            Phase::Closed => 4,
            Phase::Predicted => 5,
            Phase::Waiting => 6,
            Phase::Deferred(Deferral::Depth) => 7,
            Phase::Deferred(Deferral::Budget) => 8,
            Phase::Deferred(Deferral::DuplicateLink) => 9,
            Phase::Deferred(Deferral::NoFollow) => 10,
            Phase::Deferred(Deferral::NotAsked) => 11,
        }
    }
}

/// The part of a state byte that holds the phase.
const PHASE: u8 = 0b1111;
/// The URL is a seed, or redirects alone lead to it from one.
const FROM_SEED: u8 = 1 << 4;
/// The URL was queued again to be judged anew, which happens once at most.
const REVISED: u8 = 1 << 5;

/// The state bytes of all URLs, and how many URLs are in each phase.
pub(super) struct Phases {
    codes: Chunks<u8>,
    counts: [u64; Phase::ALL.len()],
}

impl Phases {
    pub(super) fn new() -> Self {
        Self { codes: Chunks::new(), counts: [0; Phase::ALL.len()] }
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.codes.bytes()
    }

    pub(super) fn push(&mut self, phase: Phase, from_seed: bool) {
        self.codes.push(phase.code() | if from_seed { FROM_SEED } else { 0 });
        self.counts[usize::from(phase.code())] += 1;
    }

    /// `None` for a URL that was never seen.
    pub(super) fn get(&self, id: UrlId) -> Option<Phase> {
        let code = self.codes.get(id.index())?;
        Phase::ALL.get(usize::from(code & PHASE)).copied()
    }

    /// Changes the phase of a URL that was seen.
    pub(super) fn set(&mut self, id: UrlId, phase: Phase) {
        if let Some(code) = self.codes.get_mut(id.index()) {
            self.counts[usize::from(*code & PHASE)] -= 1;
            self.counts[usize::from(phase.code())] += 1;
            *code = *code & !PHASE | phase.code();
        }
    }

    pub(super) fn is_from_seed(&self, id: UrlId) -> bool {
        self.has(id, FROM_SEED)
    }

    pub(super) fn mark_from_seed(&mut self, id: UrlId) {
        self.mark(id, FROM_SEED);
    }

    pub(super) fn is_revised(&self, id: UrlId) -> bool {
        self.has(id, REVISED)
    }

    pub(super) fn mark_revised(&mut self, id: UrlId) {
        self.mark(id, REVISED);
    }

    fn mark(&mut self, id: UrlId, mark: u8) {
        if let Some(code) = self.codes.get_mut(id.index()) {
            *code |= mark;
        }
    }

    /// How many URLs are in this phase.
    pub(super) fn count(&self, phase: Phase) -> u64 {
        self.counts[usize::from(phase.code())]
    }

    /// How many URLs are deferred, for whatever reason.
    pub(super) fn deferred(&self) -> u64 {
        Phase::ALL.into_iter().filter(|phase| matches!(phase, Phase::Deferred(_))).map(|phase| self.count(phase)).sum()
    }

    fn has(&self, id: UrlId, mark: u8) -> bool {
        self.codes.get(id.index()).is_some_and(|code| code & mark != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_survives_its_byte_and_leaves_the_marks_alone() {
        let mut phases = Phases::new();
        phases.push(Phase::Queued, true);
        for phase in Phase::ALL {
            phases.set(UrlId(0), phase);
            assert_eq!(phases.get(UrlId(0)), Some(phase));
            assert!(phases.is_from_seed(UrlId(0)));
            assert_eq!(phases.count(phase), 1);
        }
        assert_eq!((phases.deferred(), phases.count(Phase::Queued)), (1, 0));
        assert_eq!(phases.get(UrlId(1)), None);
    }
}
