//! Reads the planned lists and sums what each record gains.

use super::accumulators::{CHECK, SATURATE, Sums};
use super::impact_classes::{CLASSES, Gains, TOPS, record_of};
use super::postings::{InvertedLists, List};
use super::postings_windowed::WINDOW;
use super::query_plan::{PlannedList, QueryPlan};
use super::tuning::Tuning;

/// The gain of each record in the current probe, and the records that reached the mark.
///
/// Two bytes a record, and up to four more where many records reach it.
#[derive(Debug, Default)]
pub(super) struct Accumulation {
    /// Gain by record, in 1/65,535; whole windows; all 0 between probes.
    gains: Vec<u16>,
    /// Records that reached the mark.
    reached: Vec<u32>,
    postings: usize,
    /// Records that the lists name.
    records: usize,
}

impl Accumulation {
    /// Reads the planned lists to find the records whose gains reach `mark`.
    ///
    /// `records` is the number of records that the lists name. Gains saturate at 65,535; a record that is met again
    /// after that may be noted twice.
    pub(super) fn read(&mut self, lists: &InvertedLists, plan: &QueryPlan, records: usize, mark: u16) {
        self.reached.clear();
        (self.postings, self.records) = (0, records);
        self.gains.resize(records.next_multiple_of(WINDOW), 0);
        let all: u32 = plan.openings().map(|opening| u32::from(opening.share - opening.floor)).sum();
        if all < u32::from(mark) {
            // Not even a record that is in all these lists reaches it.
            return;
        }
        lists.prefetch_starts(plan.openings().map(|opening| (opening.term, opening.from.into())));
        // A plan that reads much checks each sum once, after the last list, instead of with each posting.
        let checks_at_end = plan.cost() >= records as u64;
        // The longest lists come last in a plan, and first here: while no sum can reach the mark, none is checked.
        let mut most = 0;
        for opening in plan.openings().rev() {
            most += u32::from(opening.share - opening.floor);
            let note = !checks_at_end && most >= u32::from(mark);
            self.read_list(lists, opening, most, note.then_some(mark));
        }
        if checks_at_end {
            self.sweep(mark);
        }
    }

    /// Returns an upper bound on a record's gain; 65,535 stands for that or more.
    pub(super) fn gained(&self, record: u32) -> u16 {
        self.gains[record as usize]
    }

    /// Passes the records that reached the mark to `visit`, with an upper bound on their gains, and resets all gains
    /// to 0.
    ///
    /// A gain of 65,535 stands for that or more.
    pub(super) fn drain(&mut self, lists: &InvertedLists, plan: &QueryPlan, mut visit: impl FnMut(u32, u16)) {
        for &record in &self.reached {
            // A record that was noted twice has gain 0 the second time.
            let gained = std::mem::take(&mut self.gains[record as usize]);
            if gained > 0 {
                visit(record, gained);
            }
        }
        if self.postings == 0 {
            return;
        }
        if self.postings * Tuning::RESETS_SIDE_BY_SIDE > self.records {
            return self.gains[..self.records].fill(0);
        }
        for opening in plan.openings() {
            match lists.get(opening.term) {
                List::Small(postings) => self.forget(postings),
                List::ByImpact(list) => {
                    self.forget(list.read(opening.from.into()));
                    self.forget(list.buffered());
                }
                List::Windowed(list) => {
                    for run in (opening.from.into()..CLASSES).flat_map(|class| list.runs(class)) {
                        let gains = &mut self.gains[run.window * WINDOW..][..WINDOW];
                        run.records.iter().for_each(|&record| gains[usize::from(record)] = 0);
                    }
                    self.forget(list.buffered());
                }
            }
        }
    }

    /// Returns the postings read, with the gaps between classes, and the number of records that reached the mark.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.postings as u64, self.reached.len() as u64)
    }

    /// Adds what the records of one list gain, by class, and notes those that reach `mark`, if there is one.
    ///
    /// `most` is the highest gain possible after this list.
    fn read_list(&mut self, lists: &InvertedLists, opening: &PlannedList, most: u32, mark: Option<u16>) {
        let gains = gains_by_class(opening);
        let sums =
            Sums { sums: &mut self.gains, gains: &gains, mark: mark.unwrap_or_default(), reached: &mut self.reached };
        let read = match (mark.is_some(), u16::try_from(most).is_err()) {
            (false, false) => Sums::read::<0>,
            (true, false) => Sums::read::<CHECK>,
            (false, true) => Sums::read::<SATURATE>,
            (true, true) => Sums::read::<{ CHECK | SATURATE }>,
        };
        self.postings += read(sums, lists, opening);
    }

    /// Checks all sums and notes the records that reached the mark.
    fn sweep(&mut self, mark: u16) {
        for (gains, first) in
            self.gains[..self.records].chunks(Tuning::SUMS_PER_BLOCK).zip((0..).step_by(Tuning::SUMS_PER_BLOCK))
        {
            // A whole block without a branch: the compiler vectorizes it.
            if gains.iter().fold(0, |most, &gained| most.max(gained)) >= mark {
                let reached = (first..).zip(gains).filter(|(_, gained)| **gained >= mark);
                self.reached.extend(reached.map(|(record, _)| record));
            }
        }
    }

    fn forget(&mut self, postings: &[u32]) {
        postings.iter().for_each(|&posting| self.gains[record_of(posting) as usize] = 0);
    }

    #[cfg(test)]
    pub(super) fn is_clear(&self) -> bool {
        self.gains.iter().all(|&gain| gain == 0)
    }
}

/// Returns the gain by class in this list; 0 in classes that are not read.
fn gains_by_class(opening: &PlannedList) -> Gains {
    TOPS.map(|top| opening.share.min(top).saturating_sub(opening.floor))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::model::TermId;

    proptest! {
        #[test]
        fn whoever_may_match_is_left(
            postings in prop::collection::vec((0u32..8, 1u16..9_000), 0..3_000),
            query in prop::collection::btree_map(0u32..8, 1u16..20_000, 1..8),
            goal in 49_151u32..65_536,
            // So many that sums are set back list by list; and so few that they are checked at the end.
            records in prop_oneof![Just(1 << 16), Just(1 << 9)],
        ) {
            let mut lists = InvertedLists::default();
            let mut overlaps = vec![0; records];
            for (record, terms) in (0..).zip(postings.chunks(8)) {
                let terms: BTreeMap<_, _> = terms.iter().copied().collect();
                terms.into_iter().for_each(|(term, share)| lists.push(TermId(term), record, share));
            }
            let query: Vec<_> = query.into_iter().map(|(term, share)| (TermId(term), share)).collect();
            for &(term, share) in &query {
                lists.get(term).for_each(0, |record, bound| overlaps[record as usize] += u32::from(bound.min(share)));
            }
            let (mut plan, mut sums) = (QueryPlan::default(), Accumulation::default());
            plan.make(&query, &lists, records, goal);
            sums.read(&lists, &plan, records, (goal - plan.unseen()) as u16);
            let mut reached = Vec::new();
            sums.drain(&lists, &plan, |record, gained| reached.push((record, gained)));
            prop_assert!(sums.is_clear());
            {
                for (&overlap, record) in overlaps.iter().zip(0..) {
                    let gained = reached.iter().find(|(reached, _)| *reached == record).map(|&(_, gained)| gained);
                    prop_assert!(overlap < goal || gained.is_some());
                    let most = |gained| plan.unseen() + u32::from(gained);
                    prop_assert!(gained.is_none_or(|gained| most(gained) >= overlap.min(65_535)));
                }
            }
        }
    }
}
