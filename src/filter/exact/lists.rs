//! The inverted lists: for each term the records of which it is part.
//!
//! Four shapes, by length: most terms stand in one record and are held in the term's own slot; a
//! short list is an unsorted block ([`ShortLists`]); a longer one is divided into classes of similar
//! share, heavy ones first ([`Packed`]), so that a probe can read the heavy end and leave the rest;
//! the longest, which hold most postings and are read least, are written in half the space
//! ([`Dense`]).

use super::classes::{CLASSES, class_in, class_of, pack};
use super::dense::Dense;
use super::memory::{heap_bytes, make_room};
use super::packed::{self, Packed};
use super::short::{self, ShortLists};
use crate::record::TermId;

/// All lists. Eight bytes a term, and about 4.4 or 2.2 a posting.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// By term id.
    slots: Vec<Slot>,
    short: ShortLists,
    long: Vec<Long>,
    /// Heap bytes of `long`'s lists.
    long_bytes: usize,
}

/// Where a term's list is: with one posting, it is that posting; with up to
/// [`short::LONGEST`], a block; else an index into `long`.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    len: u32,
    at: u32,
}

#[derive(Debug)]
pub(super) enum Long {
    Packed(Box<Packed>),
    Dense(Dense),
}

/// A list, looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum List<'a> {
    /// At most [`short::LONGEST`] postings, in no order.
    Short(&'a [u32]),
    /// Divided into classes.
    Long(&'a Long),
}

impl Lists {
    /// Adds a record to a term's list. Records must come in rising order.
    pub(super) fn push(&mut self, term: TermId, record: u32, share: u16) {
        while self.slots.len() <= term.index() {
            make_room(&mut self.slots);
            self.slots.push(Slot::default());
        }
        let posting = pack(record, class_of(share));
        let slot = &mut self.slots[term.index()];
        match slot.len as usize {
            0 => slot.at = posting,
            1 => slot.at = self.short.begin(slot.at, posting),
            len if len < short::LONGEST => slot.at = self.short.push(slot.at, len, posting),
            short::LONGEST => {
                let mut postings = self.short.get(slot.at, short::LONGEST).to_vec();
                postings.push(posting);
                self.short.free(slot.at, short::LONGEST);
                slot.at = self.long.len() as u32;
                let list = Long::Packed(Box::new(Packed::new(&postings)));
                self.long_bytes += list.bytes();
                make_room(&mut self.long);
                self.long.push(list);
            }
            _ => self.long[slot.at as usize].push(posting, &mut self.long_bytes),
        }
        slot.len += 1;
    }

    /// The length of a term's list.
    pub(super) fn len_of(&self, term: TermId) -> usize {
        self.slots.get(term.index()).map_or(0, |slot| slot.len as usize)
    }

    /// A term's list; an empty one for a term never seen.
    pub(super) fn get(&self, term: TermId) -> List<'_> {
        let Some(slot) = self.slots.get(term.index()) else { return List::Short(&[]) };
        match slot.len as usize {
            0 => List::Short(&[]),
            1 => List::Short(std::slice::from_ref(&slot.at)),
            len if len <= short::LONGEST => List::Short(self.short.get(slot.at, len)),
            _ => List::Long(&self.long[slot.at as usize]),
        }
    }

    /// Memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        heap_bytes(&self.slots) + self.short.bytes() + heap_bytes(&self.long) + self.long_bytes
    }
}

impl Long {
    /// Adds a posting, and to `bytes` what the list grew by.
    fn push(&mut self, posting: u32, bytes: &mut usize) {
        match self {
            Long::Packed(list) if list.len() < packed::LONGEST => *bytes += list.push(posting),
            Long::Packed(list) => {
                let heavy_to_light = list.read(0).iter().copied().filter(|&posting| class_in(posting) < CLASSES);
                let dense = Dense::new(heavy_to_light.chain([posting]));
                *bytes = *bytes + dense.bytes() - self.bytes();
                *self = Long::Dense(dense);
            }
            Long::Dense(list) => *bytes += list.push(posting),
        }
    }

    /// Postings in a class.
    pub(super) fn count(&self, class: usize) -> usize {
        match self {
            Long::Packed(list) => list.count(class),
            Long::Dense(list) => list.count(class),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Long::Packed(list) => size_of::<Packed>() + list.bytes(),
            Long::Dense(list) => list.bytes(),
        }
    }
}

impl List<'_> {
    /// Calls `visit` with each record from class `from` up (all of a short list), and with an upper
    /// bound on its share.
    #[cfg(test)]
    pub(super) fn for_each(self, from: usize, mut visit: impl FnMut(u32, u16)) {
        use super::classes::{record_of, top_of};
        let mut visit_posting = |posting: u32| {
            if class_in(posting) < CLASSES {
                visit(record_of(posting), top_of(class_in(posting)));
            }
        };
        match self {
            List::Short(postings) => postings.iter().copied().for_each(visit_posting),
            List::Long(Long::Packed(list)) => list.read(from).iter().copied().for_each(visit_posting),
            List::Long(Long::Dense(list)) => {
                for class in from..CLASSES {
                    for run in list.runs(class) {
                        let record = |&low: &u16| (run.window << 16) as u32 | u32::from(low);
                        run.records.iter().for_each(|low| visit_posting(pack(record(low), class)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::classes::top_of;
    use super::*;

    /// Shares of all classes, and a list through all its shapes.
    fn share(record: u32) -> u16 {
        (record.wrapping_mul(2_654_435_761) >> 20) as u16 + 1
    }

    #[test]
    fn a_growing_list_keeps_every_record_and_never_understates_its_share() {
        let mut lists = Lists::default();
        let term = TermId(3);
        let mut checks = (0..200).chain([1_000, 16_383, 16_384, 16_385, 70_000, 140_000]).peekable();
        for record in 0..=140_000 {
            lists.push(term, record, share(record));
            if checks.next_if_eq(&record).is_none() {
                continue;
            }
            let mut seen = Vec::new();
            lists.get(term).for_each(0, |record, bound| {
                assert!(bound >= share(record));
                seen.push(record);
            });
            seen.sort_unstable();
            assert_eq!(seen, (0..=record).collect::<Vec<_>>());
            assert_eq!(lists.len_of(term), seen.len());
        }
        assert_eq!(lists.len_of(TermId(0)) + lists.len_of(TermId(9)), 0);
    }

    #[test]
    fn what_a_partial_read_leaves_out_is_below_the_class_read() {
        for records in [1_000, 20_000] {
            let mut lists = Lists::default();
            (0..records).for_each(|record| lists.push(TermId(0), record, share(record)));
            let List::Long(list) = lists.get(TermId(0)) else { panic!("a thousand records are a long list") };
            assert_eq!((0..CLASSES).map(|class| list.count(class)).sum::<usize>(), records as usize);
            for from in 1..CLASSES {
                let mut read = vec![false; records as usize];
                lists.get(TermId(0)).for_each(from, |record, _| read[record as usize] = true);
                let mut left = (0..records).filter(|&record| !read[record as usize]);
                assert!(left.all(|record| share(record) <= top_of(from - 1)));
                let counted: usize = (from..CLASSES).map(|class| list.count(class)).sum();
                assert_eq!(read.iter().filter(|&&read| read).count(), counted);
            }
        }
    }

    #[test]
    fn many_lists_grow_side_by_side_without_touching_each_other() {
        let mut lists = Lists::default();
        for record in 0..2_000u32 {
            for term in 0..40 {
                if record % (term + 1) == 0 {
                    lists.push(TermId(term), record, share(record));
                }
            }
        }
        for term in 0..40 {
            let mut seen = Vec::new();
            lists.get(TermId(term)).for_each(0, |record, _| seen.push(record));
            seen.sort_unstable();
            assert_eq!(seen, (0..2_000).step_by(term as usize + 1).collect::<Vec<_>>());
        }
    }
}
