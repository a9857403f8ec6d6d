//! Reading the planned lists: what each record gains.

use super::accumulators::{END, NOTE, Sums};
use super::accumulators_u8::Coarse;
use super::impact_classes::{CLASSES, Gains, TOPS, record_of};
use super::postings::{List, Lists};
use super::postings_windowed::WINDOW;
use super::query_plan::{Opening, Plan};
use super::tuning::Tuning;

/// How it is found out who has reached the mark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Way {
    /// Each posting looks if its sum has: little is read.
    #[default]
    Noted,
    /// All sums are looked at when all is read.
    Swept,
    /// The same, with sums of eight bits.
    Coarse,
}

/// What each record has gained in the current probe, and who has reached the mark. Three bytes a record, and up to two
/// more where many have.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// In units of the whole, by record; whole windows; all 0 between probes. Not used where sums are coarse.
    gains: Vec<u16>,
    coarse: Coarse,
    way: Way,
    /// Not used where sums are coarse.
    reached: Vec<u32>,
    postings: usize,
    /// That the lists name.
    records: usize,
    /// Records that reached the mark.
    candidates: usize,
}

impl Scan {
    /// Reads the planned lists, to find the records whose gains reach `mark`. `records` is the
    /// number of records that the lists name.
    ///
    /// Gains end at 65,535; a record that is met again after that may be noted twice.
    pub(super) fn read(&mut self, lists: &Lists, plan: &Plan, records: usize, mark: u16) {
        self.reached.clear();
        (self.candidates, self.postings, self.records) = (0, 0, records);
        let (all, opened) = (most_gained(plan), plan.openings().count());
        self.way = way(plan.cost(), records as u64, opened);
        if self.way == Way::Coarse {
            self.coarse.begin(records, all, opened as u32);
            self.coarse.set_mark(mark);
        } else {
            self.gains.resize(records.next_multiple_of(WINDOW), 0);
        }
        if all < u32::from(mark) {
            // Who is in all these lists does not reach it either.
            return;
        }
        lists.prefetch_starts(plan.openings().map(|opening| (opening.term, opening.from.into())));
        // The longest lists come last in a plan, and first here: none can lift anybody to the mark.
        let mut most = 0;
        for opening in plan.openings().rev() {
            most += u32::from(opening.share - opening.floor);
            let note = self.way == Way::Noted && most >= u32::from(mark);
            self.read_list(lists, opening, &gains_by_class(opening), most, note.then_some(mark));
        }
        if self.way == Way::Swept {
            self.sweep(mark);
        }
    }

    /// Reads what the plan's last stage added, and drops who does not reach the new `mark`. Nobody comes in (where sums
    /// are coarse, but by rounding): in each list a record gains at most by how much the floor sank, as the unseen mass
    /// does.
    pub(super) fn read_on(&mut self, lists: &Lists, plan: &Plan, mark: u16) {
        lists.prefetch_starts(plan.deepened().map(|(_, now)| (now.term, now.from.into())));
        let most = most_gained(plan);
        for (before, now) in plan.deepened().rev() {
            let mut gains = gains_by_class(now);
            for (gain, before) in gains.iter_mut().zip(gains_by_class(before)) {
                *gain -= before;
            }
            self.read_list(lists, now, &gains, most, None);
        }
        if self.way == Way::Coarse {
            return self.coarse.set_mark(mark);
        }
        let gains = &self.gains;
        self.reached.retain(|&record| gains[record as usize] >= mark);
    }

    /// What it costs to look at those who have reached all marks so far, in postings. About, where sums are coarse.
    pub(super) fn cost_of_reached(&self) -> u64 {
        match self.way {
            Way::Coarse => self.coarse.reached() as u64 * Tuning::POSTINGS_PER_U8_CANDIDATE,
            Way::Noted | Way::Swept => self.reached.len() as u64 * Tuning::POSTINGS_PER_CANDIDATE,
        }
    }

    /// What a record has gained at most; 65,535 is that or more.
    pub(super) fn gained(&self, record: u32) -> u16 {
        if self.way == Way::Coarse { self.coarse.gained(record) } else { self.gains[record as usize] }
    }

    /// The records that have reached the mark, and what they gained at most; 65,535 is that or more. Sets all gains back
    /// to 0.
    pub(super) fn drain(&mut self, lists: &Lists, plan: &Plan, mut visit: impl FnMut(u32, u16)) {
        if self.way == Way::Coarse {
            let candidates = &mut self.candidates;
            return self.coarse.drain(|record, gained| {
                *candidates += 1;
                visit(record, gained);
            });
        }
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
        if self.postings * Tuning::RESETS_SIDE_BY_SIDE > self.records {
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

    /// Postings read, with the gaps between classes that were, and records that reached the mark.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.postings as u64, self.candidates as u64)
    }

    /// Adds what the records of one list gain there, by class, and notes whom that lifts to the `mark`, if there is one.
    /// By then records can have gained `most`.
    fn read_list(&mut self, lists: &Lists, opening: &Opening, gains: &Gains, most: u32, mark: Option<u16>) {
        let reached = &mut self.reached;
        self.postings += if self.way == Way::Coarse {
            let (sums, gains, may_end) = self.coarse.enter(gains);
            let sums = Sums { sums, gains: &gains, mark: 0, reached };
            let read = if may_end { Sums::read::<END> } else { Sums::read::<0> };
            read(sums, lists, opening)
        } else {
            let sums = Sums { sums: &mut self.gains, gains, mark: mark.unwrap_or_default(), reached };
            let read = match (mark.is_some(), u16::try_from(most).is_err()) {
                (false, false) => Sums::read::<0>,
                (true, false) => Sums::read::<NOTE>,
                (false, true) => Sums::read::<END>,
                (true, true) => Sums::read::<{ NOTE | END }>,
            };
            read(sums, lists, opening)
        };
    }

    /// Looks at all sums, and notes who has reached the mark.
    fn sweep(&mut self, mark: u16) {
        for (gains, first) in
            self.gains[..self.records].chunks(Tuning::SUMS_PER_BLOCK).zip((0..).step_by(Tuning::SUMS_PER_BLOCK))
        {
            // All of a stride, without a branch: the compiler makes vectors of it.
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
        self.gains.iter().all(|&gain| gain == 0) && self.coarse.is_clear()
    }
}

/// How to read so many postings, in so many lists.
fn way(postings: u64, records: u64, lists: usize) -> Way {
    if postings >= records {
        Way::Swept
    } else if postings * Tuning::SUMS_U8_FROM >= records && lists <= Tuning::SUMS_U8_LISTS {
        Way::Coarse
    } else {
        Way::Noted
    }
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
    use crate::model::TermId;

    proptest! {
        #[test]
        fn reading_in_stages_is_reading_at_once_and_leaves_whoever_may_match(
            postings in prop::collection::vec((0u32..8, 1u16..9_000), 0..3_000),
            query in prop::collection::btree_map(0u32..8, 1u16..20_000, 1..8),
            goal in 49_151u32..65_536,
            // So many that a plan is worth stages; that sums are set back list by list; and so few that they are coarse.
            records in prop_oneof![Just(1 << 16), Just(1 << 13)],
        ) {
            let mut lists = Lists::default();
            let mut overlaps = vec![0; records];
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
            plan.make(&query, &lists, records, goal);
            staged.read(&lists, &plan, records, mark(&plan));
            while plan.deepen(|| u64::MAX) {
                staged.read_on(&lists, &plan, mark(&plan));
            }
            whole.read(&lists, &plan, records, mark(&plan));
            let drained = |scan: &mut Scan| {
                let mut reached = Vec::new();
                scan.drain(&lists, &plan, |record, gained| reached.push((record, gained)));
                reached.sort_unstable();
                reached
            };
            let reached = drained(&mut staged);
            let at_once = drained(&mut whole);
            // Coarse sums are rounded with each stage.
            if staged.way != Way::Coarse && whole.way != Way::Coarse {
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
