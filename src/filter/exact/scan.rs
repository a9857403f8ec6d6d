//! Reading the planned lists: what each record gains.

use super::classes::{CLASSES, Gains, TOPS, class_in, record_of};
use super::dense::{Run, WINDOW};
use super::lists::{List, Lists};
use super::plan::{Opening, Plan};
use super::prefetch::{in_line, prefetch_ahead};

/// Whether each posting looks if its sum has reached the mark.
const NOTE: u8 = 1;
/// Whether sums that may exceed 65,535 end there: an instruction more for each posting, which few probes need.
const END: u8 = 2;

/// Sums that are looked at together.
const STRIDE: usize = 64;

/// Sums that are set back side by side in the time that one is by itself.
const SIDE_BY_SIDE: usize = 24;

/// From so many postings on a list is read class by class.
const BY_CLASS: u32 = 1024;

/// What each record has gained in the current probe, in units of the whole, and who has reached the
/// mark. Two bytes a record.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// By record; whole windows; all 0 between probes.
    gains: Vec<u16>,
    reached: Vec<u32>,
    postings: usize,
    /// That the lists name.
    records: usize,
    /// Whether sums are looked at when all is read, and not with each posting.
    swept: bool,
    /// Records that reached the mark.
    candidates: usize,
}

impl Scan {
    /// Reads the planned lists and notes the records whose gains reach `mark`. `records` is the
    /// number of records that the lists name.
    ///
    /// Gains end at 65,535; a record that is met again after that may be noted twice.
    pub(super) fn read(&mut self, lists: &Lists, plan: &Plan, records: usize, mark: u16) {
        self.gains.resize(records.next_multiple_of(WINDOW), 0);
        self.reached.clear();
        self.candidates = 0;
        self.postings = 0;
        self.records = records;
        self.swept = false;
        if most_gained(plan) < u32::from(mark) {
            // Who is in all these lists does not reach it either.
            return;
        }
        // To look at all sums once is cheaper than at one with each posting.
        self.swept = plan.cost() >= records as u64;
        lists.prefetch_starts(plan.openings().map(|opening| (opening.term, opening.from.into())));
        // The longest lists come last in a plan, and first here: none can lift anybody to the mark.
        let mut most = 0;
        for opening in plan.openings().rev() {
            let gains = gains_by_class(opening);
            most += u32::from(opening.share - opening.floor);
            let note = !self.swept && most >= u32::from(mark);
            match (note, u16::try_from(most).is_err()) {
                (false, false) => self.read_list::<0>(lists, opening, &gains, mark),
                (true, false) => self.read_list::<NOTE>(lists, opening, &gains, mark),
                (false, true) => self.read_list::<END>(lists, opening, &gains, mark),
                (true, true) => self.read_list::<{ NOTE | END }>(lists, opening, &gains, mark),
            }
        }
        if self.swept {
            self.sweep(mark);
        }
    }

    /// Reads what the plan's last stage added, and drops who does not reach the new `mark`. Nobody comes in: in each
    /// list a record gains at most by how much the floor sank, as the unseen mass does.
    pub(super) fn read_on(&mut self, lists: &Lists, plan: &Plan, mark: u16) {
        lists.prefetch_starts(plan.deepened().map(|(_, now)| (now.term, now.from.into())));
        let end = u16::try_from(most_gained(plan)).is_err();
        for (before, now) in plan.deepened().rev() {
            let mut gains = gains_by_class(now);
            for (gain, before) in gains.iter_mut().zip(gains_by_class(before)) {
                *gain -= before;
            }
            if end { self.read_list::<END>(lists, now, &gains, 0) } else { self.read_list::<0>(lists, now, &gains, 0) }
        }
        let gains = &self.gains;
        self.reached.retain(|&record| gains[record as usize] >= mark);
    }

    /// How many records have reached all marks so far.
    pub(super) fn reached(&self) -> usize {
        self.reached.len()
    }

    /// Adds what the records of one list gain there.
    fn read_list<const HOW: u8>(&mut self, lists: &Lists, opening: &Opening, gains: &Gains, mark: u16) {
        let from = opening.from.into();
        match lists.get(opening.term) {
            List::Short(postings) => self.add_postings::<HOW>(postings, gains, mark),
            List::Packed(list) => {
                if self.swept && list.read_len(from) >= BY_CLASS {
                    let classes = list.classes(from);
                    classes.for_each(|(class, postings)| self.add_class::<HOW>(postings, gains[class]));
                } else {
                    self.add_postings::<HOW>(list.read(from), gains, mark);
                }
                // What is lighter gains nothing.
                self.add_postings::<HOW>(list.waiting(), gains, mark);
            }
            List::Dense(list) => {
                for class in (from..CLASSES).rev() {
                    list.runs(class).for_each(|run| self.add_run::<HOW>(&run, gains[class], mark));
                }
                self.add_postings::<HOW>(list.waiting(), gains, mark);
            }
        }
    }

    /// What a record has gained, or 65,535 if that is more.
    pub(super) fn gained(&self, record: u32) -> u16 {
        self.gains[record as usize]
    }

    /// The records that have reached the mark, and what they gained at least. Sets all gains back
    /// to 0.
    pub(super) fn drain(&mut self, lists: &Lists, plan: &Plan, mut visit: impl FnMut(u32, u16)) {
        self.candidates = self.reached.len();
        for &record in &self.reached {
            // A record that was noted twice has nothing left the second time.
            let gained = std::mem::take(&mut self.gains[record as usize]);
            if gained > 0 {
                visit(record, gained);
            }
        }
        if self.postings == 0 {
            return;
        }
        if self.postings * SIDE_BY_SIDE > self.records {
            return self.gains[..self.records].fill(0);
        }
        for opening in plan.openings() {
            match lists.get(opening.term) {
                List::Short(postings) => self.forget(postings),
                List::Packed(list) => {
                    self.forget(list.read(opening.from.into()));
                    self.forget(list.waiting());
                }
                List::Dense(list) => {
                    for run in (opening.from.into()..CLASSES).flat_map(|class| list.runs(class)) {
                        let gains = &mut self.gains[run.window * WINDOW..][..WINDOW];
                        run.records.iter().for_each(|&record| gains[usize::from(record)] = 0);
                    }
                    self.forget(list.waiting());
                }
            }
        }
    }

    /// Looks at all sums, and notes who has reached the mark.
    fn sweep(&mut self, mark: u16) {
        for (gains, first) in self.gains[..self.records].chunks(STRIDE).zip((0..).step_by(STRIDE)) {
            // All of a stride, without a branch: the compiler makes vectors of it.
            if gains.iter().fold(0, |most, &gained| most.max(gained)) >= mark {
                let reached = (first..).zip(gains).filter(|(_, gained)| **gained >= mark);
                self.reached.extend(reached.map(|(record, _)| record));
            }
        }
    }

    /// Postings read, gaps between classes included, and records that reached the mark.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.postings as u64, self.candidates as u64)
    }

    fn add_postings<const HOW: u8>(&mut self, postings: &[u32], gains: &Gains, mark: u16) {
        self.postings += postings.len();
        const LINE: usize = in_line::<u32>();
        for (place, line) in (0..).step_by(LINE).zip(postings.chunks(LINE)) {
            prefetch_ahead(postings, place);
            for &posting in line {
                let record = record_of(posting);
                let more = gains[class_in(posting)];
                if has_reached::<HOW>(&mut self.gains[record as usize], more, mark) {
                    self.reached.push(record);
                }
            }
        }
    }

    /// Postings of one class, none of which looks at the mark: what all gain is known.
    fn add_class<const HOW: u8>(&mut self, postings: &[u32], more: u16) {
        self.postings += postings.len();
        for &posting in postings {
            has_reached::<HOW>(&mut self.gains[record_of(posting) as usize], more, 0);
        }
    }

    fn add_run<const HOW: u8>(&mut self, run: &Run<'_>, more: u16, mark: u16) {
        self.postings += run.records.len();
        let Some(window) = self.gains[run.window * WINDOW..].first_chunk_mut::<WINDOW>() else { return };
        for &record in run.records {
            if has_reached::<HOW>(&mut window[usize::from(record)], more, mark) {
                self.reached.push((run.window * WINDOW) as u32 + u32::from(record));
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

/// Adds a gain; whether it lifts the sum from below the mark.
#[inline(always)]
fn has_reached<const HOW: u8>(gained: &mut u16, more: u16, mark: u16) -> bool {
    *gained = if HOW & END != 0 { gained.saturating_add(more) } else { gained.wrapping_add(more) };
    HOW & NOTE != 0 && gained.wrapping_sub(mark) < more
}

/// What a record gains that is in all lists of a plan, with the probe's share.
fn most_gained(plan: &Plan) -> u32 {
    plan.openings().map(|opening| u32::from(opening.share - opening.floor)).sum()
}

/// What a record of each class gains in this list; nothing in those that are not read.
fn gains_by_class(opening: &Opening) -> Gains {
    TOPS.map(|top| opening.share.min(top).saturating_sub(opening.floor))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::record::TermId;

    /// So many that a plan is worth stages, and sums are set back list by list.
    const RECORDS: usize = 1 << 16;

    proptest! {
        #[test]
        fn reading_in_stages_is_reading_at_once_and_leaves_whoever_may_match(
            postings in prop::collection::vec((0u32..8, 1u16..9_000), 0..3_000),
            query in prop::collection::btree_map(0u32..8, 1u16..20_000, 1..8),
            goal in 49_151u32..65_536,
        ) {
            let mut lists = Lists::default();
            let mut overlaps = vec![0; RECORDS];
            for (record, terms) in (0..).zip(postings.chunks(8)) {
                let terms: BTreeMap<_, _> = terms.iter().copied().collect();
                terms.into_iter().for_each(|(term, share)| lists.push(TermId(term), record, share));
            }
            let query: Vec<_> = query.into_iter().map(|(term, share)| (TermId(term), share)).collect();
            for &(term, share) in &query {
                lists.get(term).for_each(0, |record, bound| overlaps[record as usize] += u32::from(bound.min(share)));
            }
            let (mut plan, mut staged, mut whole) = (Plan::default(), Scan::default(), Scan::default());
            let mark = |plan: &Plan| (goal - plan.unseen()) as u16;
            plan.make(&query, &lists, RECORDS, goal);
            staged.read(&lists, &plan, RECORDS, mark(&plan));
            while plan.deepen(usize::MAX) {
                staged.read_on(&lists, &plan, mark(&plan));
            }
            whole.read(&lists, &plan, RECORDS, mark(&plan));
            let drained = |scan: &mut Scan| {
                let mut reached = Vec::new();
                scan.drain(&lists, &plan, |record, gained| reached.push((record, gained)));
                reached.sort_unstable();
                reached
            };
            let reached = drained(&mut staged);
            prop_assert_eq!(&reached, &drained(&mut whole));
            prop_assert!(staged.is_clear() && whole.is_clear());
            for (&overlap, record) in overlaps.iter().zip(0..) {
                let gained = reached.iter().find(|(reached, _)| *reached == record).map(|&(_, gained)| gained);
                prop_assert!(overlap < goal || gained.is_some());
                prop_assert!(gained.is_none_or(|gained| plan.unseen() + u32::from(gained) >= overlap.min(65_535)));
            }
        }
    }
}
