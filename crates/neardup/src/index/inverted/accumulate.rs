//! Reads the planned lists and sums what each record gains.

use super::accumulators::{CHECK, SATURATE, Sums};
use super::accumulators_u8::AccumulatorsU8;
use super::impact_classes::{CLASSES, Gains, TOPS, record_of};
use super::postings::{InvertedLists, List};
use super::postings_windowed::WINDOW;
use super::query_plan::{PlannedList, QueryPlan};
use super::tuning::Tuning;

/// When sums are checked against the mark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum SumCheck {
    /// Each posting checks its sum: for plans that read little.
    #[default]
    EachPosting,
    /// All sums are checked after the last list.
    AtEnd,
    /// The same, with sums of eight bits.
    AtEndU8,
}

/// The gain of each record in the current probe, and the records that reached the mark.
///
/// Three bytes a record, and up to two more where many records reach it.
#[derive(Debug, Default)]
pub(super) struct Accumulation {
    /// Gain by record, in 1/65,535; whole windows; all 0 between probes. Not used with 8-bit sums.
    gains: Vec<u16>,
    eights: AccumulatorsU8,
    sum_check: SumCheck,
    /// Records that reached the mark. Not used with 8-bit sums.
    reached: Vec<u32>,
    postings: usize,
    /// Records that the lists name.
    records: usize,
    /// Records that reached the mark.
    candidates: usize,
}

impl Accumulation {
    /// Reads the planned lists to find the records whose gains reach `mark`.
    ///
    /// `records` is the number of records that the lists name. Gains saturate at 65,535; a record that is met again
    /// after that may be noted twice.
    pub(super) fn read(&mut self, lists: &InvertedLists, plan: &QueryPlan, records: usize, mark: u16) {
        self.reached.clear();
        (self.candidates, self.postings, self.records) = (0, 0, records);
        let (all, opened) = (most_gained(plan), plan.openings().count());
        self.sum_check = sum_check(plan.cost(), records as u64, opened);
        if self.sum_check == SumCheck::AtEndU8 {
            self.eights.begin(records, all, opened as u32);
            self.eights.set_mark(mark);
        } else {
            self.gains.resize(records.next_multiple_of(WINDOW), 0);
        }
        if all < u32::from(mark) {
            // Not even a record that is in all these lists reaches it.
            return;
        }
        lists.prefetch_starts(plan.openings().map(|opening| (opening.term, opening.from.into())));
        // The longest lists come last in a plan, and first here: while no sum can reach the mark, none is checked.
        let mut most = 0;
        for opening in plan.openings().rev() {
            most += u32::from(opening.share - opening.floor);
            let note = self.sum_check == SumCheck::EachPosting && most >= u32::from(mark);
            self.read_list(lists, opening, &gains_by_class(opening), most, note.then_some(mark));
        }
        if self.sum_check == SumCheck::AtEnd {
            self.sweep(mark);
        }
    }

    /// Reads what the plan's last stage added, and drops records below the new `mark`.
    ///
    /// No record can join (with 8-bit sums, only by rounding): a record gains at most what the floor sank, and the
    /// unread weight sinks as much.
    pub(super) fn read_on(&mut self, lists: &InvertedLists, plan: &QueryPlan, mark: u16) {
        lists.prefetch_starts(plan.deepened().map(|(_, now)| (now.term, now.from.into())));
        let most = most_gained(plan);
        for (before, now) in plan.deepened().rev() {
            let mut gains = gains_by_class(now);
            for (gain, before) in gains.iter_mut().zip(gains_by_class(before)) {
                *gain -= before;
            }
            self.read_list(lists, now, &gains, most, None);
        }
        if self.sum_check == SumCheck::AtEndU8 {
            return self.eights.set_mark(mark);
        }
        let gains = &self.gains;
        self.reached.retain(|&record| gains[record as usize] >= mark);
    }

    /// Returns the cost of comparing the records that reached all marks so far, in postings. With 8-bit sums it is an
    /// estimate.
    pub(super) fn cost_of_reached(&self) -> u64 {
        match self.sum_check {
            SumCheck::AtEndU8 => self.eights.reached() as u64 * Tuning::POSTINGS_PER_U8_CANDIDATE,
            SumCheck::EachPosting | SumCheck::AtEnd => self.reached.len() as u64 * Tuning::POSTINGS_PER_CANDIDATE,
        }
    }

    /// Returns an upper bound on a record's gain; 65,535 stands for that or more.
    pub(super) fn gained(&self, record: u32) -> u16 {
        if self.sum_check == SumCheck::AtEndU8 { self.eights.gained(record) } else { self.gains[record as usize] }
    }

    /// Passes the records that reached the mark to `visit`, with an upper bound on their gains, and resets all gains
    /// to 0.
    ///
    /// A gain of 65,535 stands for that or more.
    pub(super) fn drain(&mut self, lists: &InvertedLists, plan: &QueryPlan, mut visit: impl FnMut(u32, u16)) {
        if self.sum_check == SumCheck::AtEndU8 {
            let candidates = &mut self.candidates;
            return self.eights.drain(|record, gained| {
                *candidates += 1;
                visit(record, gained);
            });
        }
        self.candidates = self.reached.len();
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
        (self.postings as u64, self.candidates as u64)
    }

    /// Adds what the records of one list gain, by class, and notes those that reach `mark`, if there is one.
    ///
    /// `most` is the highest gain possible after this list.
    fn read_list(&mut self, lists: &InvertedLists, opening: &PlannedList, gains: &Gains, most: u32, mark: Option<u16>) {
        let reached = &mut self.reached;
        self.postings += if self.sum_check == SumCheck::AtEndU8 {
            let (sums, gains, may_end) = self.eights.enter(gains);
            let sums = Sums { sums, gains: &gains, mark: 0, reached };
            let read = if may_end { Sums::read::<SATURATE> } else { Sums::read::<0> };
            read(sums, lists, opening)
        } else {
            let sums = Sums { sums: &mut self.gains, gains, mark: mark.unwrap_or_default(), reached };
            let read = match (mark.is_some(), u16::try_from(most).is_err()) {
                (false, false) => Sums::read::<0>,
                (true, false) => Sums::read::<CHECK>,
                (false, true) => Sums::read::<SATURATE>,
                (true, true) => Sums::read::<{ CHECK | SATURATE }>,
            };
            read(sums, lists, opening)
        };
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
        self.gains.iter().all(|&gain| gain == 0) && self.eights.is_clear()
    }
}

/// Chooses when to check sums, by the number of postings and lists.
fn sum_check(postings: u64, records: u64, lists: usize) -> SumCheck {
    if postings >= records {
        SumCheck::AtEnd
    } else if postings * Tuning::SUMS_U8_FROM >= records && lists <= Tuning::SUMS_U8_LISTS {
        SumCheck::AtEndU8
    } else {
        SumCheck::EachPosting
    }
}

/// Returns the gain of a record that is in all lists of a plan, with the probe's shares.
fn most_gained(plan: &QueryPlan) -> u32 {
    plan.openings().map(|opening| u32::from(opening.share - opening.floor)).sum()
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
        fn reading_in_stages_is_reading_at_once_and_leaves_whoever_may_match(
            postings in prop::collection::vec((0u32..8, 1u16..9_000), 0..3_000),
            query in prop::collection::btree_map(0u32..8, 1u16..20_000, 1..8),
            goal in 49_151u32..65_536,
            // So many that a plan is worth stages; that sums are set back list by list; and so few that sums have 8 bits.
            records in prop_oneof![Just(1 << 16), Just(1 << 13)],
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
            let (mut plan, mut staged, mut whole) = (QueryPlan::default(), Accumulation::default(), Accumulation::default());
            let mark = |plan: &QueryPlan| (goal - plan.unseen()) as u16;
            plan.make(&query, &lists, records, goal);
            staged.read(&lists, &plan, records, mark(&plan));
            while plan.deepen(|| u64::MAX) {
                staged.read_on(&lists, &plan, mark(&plan));
            }
            whole.read(&lists, &plan, records, mark(&plan));
            let drained = |scan: &mut Accumulation| {
                let mut reached = Vec::new();
                scan.drain(&lists, &plan, |record, gained| reached.push((record, gained)));
                reached.sort_unstable();
                reached
            };
            let reached = drained(&mut staged);
            let at_once = drained(&mut whole);
            // 8-bit sums are rounded with each stage.
            if staged.sum_check != SumCheck::AtEndU8 && whole.sum_check != SumCheck::AtEndU8 {
                prop_assert_eq!(&reached, &at_once);
            }
            prop_assert!(staged.is_clear() && whole.is_clear());
            for reached in [reached, at_once] {
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
