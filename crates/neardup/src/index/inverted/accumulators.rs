//! Adds the gains of a list's records to their sums.

use super::impact_classes::{CLASSES, Gains, class_in, record_of};
use super::postings::{InvertedLists, List};
use super::postings_windowed::{Run, WINDOW};
use super::prefetch::{in_line, prefetch_ahead};
use super::query_plan::PlannedList;
use super::tuning::Tuning;

/// Each posting checks whether its sum has reached the mark.
pub(super) const CHECK: u8 = 1;
/// Sums saturate: one more instruction a posting, which few plans need.
pub(super) const SATURATE: u8 = 2;

/// The sums while a list is read.
pub(super) struct Sums<'a> {
    /// Sum by record; whole windows.
    pub(super) sums: &'a mut [u16],
    /// The gain by class in this list.
    pub(super) gains: &'a Gains,
    pub(super) mark: u16,
    /// Records that reached the mark.
    pub(super) reached: &'a mut Vec<u32>,
}

impl Sums<'_> {
    /// Reads a list as deep as it is opened, and returns the number of postings read, gaps included.
    pub(super) fn read<const HOW: u8>(mut self, lists: &InvertedLists, opening: &PlannedList) -> usize {
        let from = opening.from.into();
        let (filed, buffered) = match lists.get(opening.term) {
            List::Small(postings) => (self.add_postings::<HOW>(postings), [].as_slice()),
            List::ByImpact(list) if list.read_len(from) >= Tuning::READ_BY_CLASS_FROM => {
                let classes = list.classes(from).map(|(class, postings)| self.add_class::<HOW>(postings, class));
                (classes.sum(), list.buffered())
            }
            List::ByImpact(list) => (self.add_postings::<HOW>(list.read(from)), list.buffered()),
            List::Windowed(list) => {
                let mut filed = 0;
                for class in (from..CLASSES).rev() {
                    list.runs(class).for_each(|run| filed += self.add_run::<HOW>(&run, class));
                }
                (filed, list.buffered())
            }
        };
        // Buffered postings of lighter classes gain 0.
        filed + self.add_postings::<HOW>(buffered)
    }

    fn add_postings<const HOW: u8>(&mut self, postings: &[u32]) -> usize {
        const LINE: usize = in_line::<u32>();
        for (place, line) in (0..).step_by(LINE).zip(postings.chunks(LINE)) {
            prefetch_ahead(postings, place);
            for &posting in line {
                let record = record_of(posting);
                let more = self.gains[class_in(posting)];
                if has_reached::<HOW>(&mut self.sums[record as usize], more, self.mark) {
                    self.reached.push(record);
                }
            }
        }
        postings.len()
    }

    /// Adds postings of one class: all have the same gain.
    fn add_class<const HOW: u8>(&mut self, postings: &[u32], class: usize) -> usize {
        let more = self.gains[class];
        for &posting in postings {
            let record = record_of(posting);
            if has_reached::<HOW>(&mut self.sums[record as usize], more, self.mark) {
                self.reached.push(record);
            }
        }
        postings.len()
    }

    fn add_run<const HOW: u8>(&mut self, run: &Run<'_>, class: usize) -> usize {
        let more = self.gains[class];
        let Some(window) = self.sums[run.window * WINDOW..].first_chunk_mut::<WINDOW>() else { return 0 };
        for &record in run.records {
            if has_reached::<HOW>(&mut window[usize::from(record)], more, self.mark) {
                self.reached.push((run.window * WINDOW) as u32 + u32::from(record));
            }
        }
        run.records.len()
    }
}

/// Adds a gain, and returns whether it lifts the sum from below the mark to it.
#[inline(always)]
fn has_reached<const HOW: u8>(sum: &mut u16, more: u16, mark: u16) -> bool {
    *sum = if HOW & SATURATE != 0 { sum.saturating_add(more) } else { sum.wrapping_add(more) };
    HOW & CHECK != 0 && sum.wrapping_sub(mark) < more
}
