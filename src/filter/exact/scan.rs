//! Reading the planned lists: what each record gains.

use super::classes::{CLASSES, Gains, class_in, record_of, top_of};
use super::dense::{Run, WINDOW};
use super::lists::{List, Lists};
use super::plan::{Opening, Plan};

/// Gains are counted in units of four, rounded up: that is exact enough, and leaves room for several
/// probes between two passes over all records.
const UNIT: u16 = 4;

/// What each record has gained in the current probe, and who has reached the mark. Two bytes a record.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// By record; whole windows. What is not above `base` stems from earlier probes and counts as
    /// nothing, so that nothing need be set back after each.
    gains: Vec<u16>,
    base: u16,
    /// What a record can gain at most in the current probe.
    most: u16,
    reached: Vec<u32>,
    postings: usize,
}

impl Scan {
    /// Reads the planned lists and notes the records whose gains reach `mark`. `records` is the
    /// number of records that the lists name.
    pub(super) fn read(&mut self, lists: &Lists, plan: &Plan, records: usize, mark: u16) {
        self.gains.resize(records.next_multiple_of(WINDOW), 0);
        self.reached.clear();
        self.postings = 0;
        let most: u32 = plan.openings().iter().map(|opening| u32::from(units(opening.share - opening.floor))).sum();
        let mark = units(mark);
        self.most = 0;
        match u16::try_from(most) {
            // Who is in all these lists does not reach it either.
            Ok(most) if most < mark => {}
            Ok(most) => {
                if self.base.checked_add(most).is_none() {
                    self.forget();
                }
                self.most = most;
                self.read_all::<false>(lists, plan, self.base + mark);
            }
            // Tens of thousands of terms. Sums end at 65,535, and a record that is met after that may
            // be noted twice.
            Err(_) => {
                self.forget();
                self.most = u16::MAX;
                self.read_all::<true>(lists, plan, mark);
            }
        }
    }

    /// `END` says whether sums may exceed 65,535, where they then end: that costs an instruction more
    /// for each posting, and hardly any probe needs it.
    fn read_all<const END: bool>(&mut self, lists: &Lists, plan: &Plan, mark: u16) {
        lists.touch_starts(plan.openings().iter().map(|opening| (opening.term, opening.from.into())));
        for opening in plan.openings() {
            match lists.get(opening.term) {
                List::Short(postings) => self.add_short::<END>(postings, opening, mark),
                List::Packed(list) => {
                    self.add_postings::<END>(list.read(opening.from.into()), &gains_by_class(opening), mark)
                }
                List::Dense(list) => {
                    let gains = gains_by_class(opening);
                    for class in (opening.from.into()..CLASSES).rev() {
                        list.runs(class).for_each(|run| self.add_run::<END>(&run, gains[class], mark));
                    }
                }
            }
        }
    }

    /// Shows the records that have reached the mark, each once, and at most what they gained. Gains
    /// count as nothing after that.
    pub(super) fn drain(&mut self, mut visit: impl FnMut(u32, u32)) {
        for &record in &self.reached {
            // A record that was noted twice has nothing left the second time.
            let gained = std::mem::replace(&mut self.gains[record as usize], self.base) - self.base;
            if gained > 0 {
                visit(record, u32::from(gained) * u32::from(UNIT));
            }
        }
        self.base = self.base.saturating_add(self.most);
    }

    /// Sets all gains back.
    fn forget(&mut self) {
        self.gains.fill(0);
        self.base = 0;
    }

    /// Postings read, gaps included, and records that reached the mark.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.postings as u64, self.reached.len() as u64)
    }

    fn add_short<const END: bool>(&mut self, postings: &[u32], opening: &Opening, mark: u16) {
        self.postings += postings.len();
        for &posting in postings {
            let more = units(opening.share.min(top_of(class_in(posting))) - opening.floor);
            if has_reached::<END>(&mut self.gains[record_of(posting) as usize], self.base, more, mark) {
                self.reached.push(record_of(posting));
            }
        }
    }

    fn add_postings<const END: bool>(&mut self, postings: &[u32], gains: &Gains, mark: u16) {
        self.postings += postings.len();
        let base = self.base;
        for &posting in postings {
            let record = record_of(posting);
            let more = gains[class_in(posting)];
            if has_reached::<END>(&mut self.gains[record as usize], base, more, mark) {
                self.reached.push(record);
            }
        }
    }

    fn add_run<const END: bool>(&mut self, run: &Run<'_>, more: u16, mark: u16) {
        self.postings += run.records.len();
        let base = self.base;
        let Some(window) = self.gains[run.window * WINDOW..].first_chunk_mut::<WINDOW>() else { return };
        for &record in run.records {
            if has_reached::<END>(&mut window[usize::from(record)], base, more, mark) {
                self.reached.push((run.window * WINDOW) as u32 + u32::from(record));
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_clear(&self) -> bool {
        self.gains.iter().all(|&gain| gain <= self.base)
    }
}

/// A gain in units, rounded up.
fn units(gain: u16) -> u16 {
    gain.div_ceil(UNIT)
}

/// Adds a gain; whether it lifts the sum from below the mark.
#[inline(always)]
fn has_reached<const END: bool>(gained: &mut u16, base: u16, more: u16, mark: u16) -> bool {
    let before = (*gained).max(base);
    *gained = if END { before.saturating_add(more) } else { before.wrapping_add(more) };
    gained.wrapping_sub(mark) < more
}

/// What a record of each class gains in this list.
fn gains_by_class(opening: &Opening) -> Gains {
    let mut gains = [0; CLASSES + 1];
    for (class, gain) in gains.iter_mut().enumerate().take(CLASSES).skip(opening.from.into()) {
        *gain = units(opening.share.min(top_of(class)).saturating_sub(opening.floor));
    }
    gains
}
