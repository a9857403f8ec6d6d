//! Reading the planned lists: what each record gains.

use super::classes::{CLASSES, Gains, class_in, record_of, top_of};
use super::dense::{Run, WINDOW};
use super::lists::{List, Lists};
use super::plan::{Opening, Plan};

/// No sum can reach the mark yet: nothing is compared.
const BELOW: u8 = 0;
/// Sums can reach the mark, and stay within 65,535.
const NOTE: u8 = 1;
/// Sums may exceed 65,535, where they then end: that costs an instruction more for each posting, and
/// few probes need it.
const END: u8 = 2;

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
}

impl Scan {
    /// Reads the planned lists and notes the records whose gains reach `mark`. `records` is the
    /// number of records that the lists name.
    ///
    /// Gains end at 65,535; a record that is met again after that may be noted twice.
    pub(super) fn read(&mut self, lists: &Lists, plan: &Plan, records: usize, mark: u16) {
        self.gains.resize(records.next_multiple_of(WINDOW), 0);
        self.reached.clear();
        self.postings = 0;
        self.records = records;
        let most: u32 = plan.openings().iter().map(|opening| u32::from(opening.share - opening.floor)).sum();
        if most < u32::from(mark) {
            // Who is in all these lists does not reach it either.
            return;
        }
        lists.touch_starts(plan.openings().iter().map(|opening| (opening.term, opening.from.into())));
        // The longest lists come last in a plan, and first here: none can lift anybody to the mark.
        let mut most = 0;
        for opening in plan.openings().iter().rev() {
            most += u32::from(opening.share - opening.floor);
            if most < u32::from(mark) {
                self.read_list::<BELOW>(lists, opening, mark);
            } else if u16::try_from(most).is_ok() {
                self.read_list::<NOTE>(lists, opening, mark);
            } else {
                self.read_list::<END>(lists, opening, mark);
            }
        }
    }

    /// Adds what the records of one list gain there.
    fn read_list<const SUMS: u8>(&mut self, lists: &Lists, opening: &Opening, mark: u16) {
        match lists.get(opening.term) {
            List::Short(postings) => self.add_short::<SUMS>(postings, opening, mark),
            List::Packed(list) => {
                self.add_postings::<SUMS>(list.read(opening.from.into()), &gains_by_class(opening), mark)
            }
            List::Dense(list) => {
                let gains = gains_by_class(opening);
                for class in (opening.from.into()..CLASSES).rev() {
                    list.runs(class).for_each(|run| self.add_run::<SUMS>(&run, gains[class], mark));
                }
                // What is lighter gains nothing.
                self.add_postings::<SUMS>(list.waiting(), &gains, mark);
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
        if self.postings * 8 > self.records {
            return self.gains[..self.records].fill(0);
        }
        for opening in plan.openings() {
            match lists.get(opening.term) {
                List::Short(postings) => self.forget(postings),
                List::Packed(list) => self.forget(list.read(opening.from.into())),
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

    /// Postings read, gaps included, and records that reached the mark.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.postings as u64, self.reached.len() as u64)
    }

    fn add_short<const SUMS: u8>(&mut self, postings: &[u32], opening: &Opening, mark: u16) {
        self.postings += postings.len();
        for &posting in postings {
            let more = opening.share.min(top_of(class_in(posting))) - opening.floor;
            if has_reached::<SUMS>(&mut self.gains[record_of(posting) as usize], more, mark) {
                self.reached.push(record_of(posting));
            }
        }
    }

    fn add_postings<const SUMS: u8>(&mut self, postings: &[u32], gains: &Gains, mark: u16) {
        self.postings += postings.len();
        for &posting in postings {
            let record = record_of(posting);
            let more = gains[class_in(posting)];
            if has_reached::<SUMS>(&mut self.gains[record as usize], more, mark) {
                self.reached.push(record);
            }
        }
    }

    fn add_run<const SUMS: u8>(&mut self, run: &Run<'_>, more: u16, mark: u16) {
        self.postings += run.records.len();
        let Some(window) = self.gains[run.window * WINDOW..].first_chunk_mut::<WINDOW>() else { return };
        for &record in run.records {
            if has_reached::<SUMS>(&mut window[usize::from(record)], more, mark) {
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
fn has_reached<const SUMS: u8>(gained: &mut u16, more: u16, mark: u16) -> bool {
    *gained = if SUMS == END { gained.saturating_add(more) } else { gained.wrapping_add(more) };
    SUMS != BELOW && gained.wrapping_sub(mark) < more
}

/// What a record of each class gains in this list.
fn gains_by_class(opening: &Opening) -> Gains {
    let mut gains = [0; CLASSES + 1];
    for (class, gain) in gains.iter_mut().enumerate().take(CLASSES).skip(opening.from.into()) {
        *gain = opening.share.min(top_of(class)).saturating_sub(opening.floor);
    }
    gains
}
