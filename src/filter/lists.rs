//! One term's inverted list.
//!
//! Three shapes, by length: most terms stand in one record and are held inline; a short list holds
//! each record's share; a long one is divided into classes of similar share and holds bare record
//! numbers, so that a probe can read the heavy end of a frequent term and leave the rest.

use std::mem::size_of;

/// Shares up to the class's value, above the one before: half octaves, from 16/65,535 on.
const CLASS_TOPS: [u16; CLASSES] = [16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048, u16::MAX];

/// Number of classes of a long list, light to heavy.
pub(super) const CLASSES: usize = 16;

/// A longer list is divided into classes.
const SHORT: usize = 32;

/// A record's number and the share of its weight that the term has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) record: u32,
    pub(super) share: u16,
}

/// The records of which a term is part. 24 bytes, and 8 or about 4 a posting.
#[derive(Debug, Default)]
pub(super) enum List {
    #[default]
    Empty,
    One(Posting),
    Short(Vec<Posting>),
    Long(Box<[Vec<u32>; CLASSES]>),
}

impl List {
    /// Adds a record, and says by how many bytes the list's heap memory grew.
    pub(super) fn push(&mut self, posting: Posting) -> usize {
        if let List::Long(classes) = self {
            return push_counting(&mut classes[class_of(posting.share)], posting.record);
        }
        let before = self.heap_bytes();
        match self {
            List::Long(_) => {}
            List::Empty => *self = List::One(posting),
            List::One(first) => *self = List::Short(vec![*first, posting]),
            List::Short(postings) if postings.len() < SHORT => postings.push(posting),
            List::Short(postings) => {
                let mut classes: Box<[Vec<u32>; CLASSES]> = Box::default();
                for posting in postings.iter().chain([&posting]) {
                    classes[class_of(posting.share)].push(posting.record);
                }
                *self = List::Long(classes);
            }
        }
        // A list that becomes long frees its short form; what is left of that is not counted twice.
        self.heap_bytes().saturating_sub(before)
    }

    /// Calls `visit` with each record from class `from` up (all of a list that is not long), and
    /// with an upper bound on its share.
    pub(super) fn for_each(&self, from: usize, mut visit: impl FnMut(u32, u16)) {
        match self {
            List::Empty => {}
            List::One(posting) => visit(posting.record, posting.share),
            List::Short(postings) => postings.iter().for_each(|p| visit(p.record, p.share)),
            List::Long(classes) => {
                for (records, top) in classes.iter().zip(CLASS_TOPS).skip(from) {
                    records.iter().for_each(|&record| visit(record, top));
                }
            }
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            List::Empty | List::One(_) => 0,
            List::Short(postings) => postings.capacity() * size_of::<Posting>(),
            List::Long(classes) => {
                let numbers: usize = classes.iter().map(Vec::capacity).sum();
                size_of::<[Vec<u32>; CLASSES]>() + numbers * size_of::<u32>()
            }
        }
    }
}

fn push_counting(records: &mut Vec<u32>, record: u32) -> usize {
    let before = records.capacity();
    records.push(record);
    (records.capacity() - before) * size_of::<u32>()
}

/// The class of a share.
fn class_of(share: u16) -> usize {
    CLASS_TOPS.partition_point(|&top| top < share).min(CLASSES - 1)
}

/// The highest share in a class.
pub(super) fn top_of(class: usize) -> u16 {
    CLASS_TOPS[class]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_share_lies_in_a_class_that_bounds_it_tightly() {
        for share in 1..=u16::MAX {
            let class = class_of(share);
            assert!(share <= top_of(class));
            assert!(class == 0 || share > top_of(class - 1));
        }
    }

    #[test]
    fn a_growing_list_keeps_every_record_and_never_understates_its_share() {
        let mut list = List::default();
        let share = |record: u32| u16::try_from(record * 37 % 3000 + 1).unwrap();
        for record in 0..100 {
            list.push(Posting { record, share: share(record) });
            let mut seen = Vec::new();
            list.for_each(0, |record, bound| {
                assert!(bound >= share(record));
                seen.push(record);
            });
            seen.sort_unstable();
            assert_eq!(seen, (0..=record).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_a_partial_read_leaves_out_is_below_the_class_read() {
        let mut list = List::default();
        let share = |record: u16| record * 20 + 1;
        for record in 0..200 {
            list.push(Posting { record: record.into(), share: share(record) });
        }
        for from in 1..=CLASSES {
            let mut read = Vec::new();
            list.for_each(from, |record, _| read.push(record));
            let mut left = (0..200u16).filter(|&record| !read.contains(&record.into()));
            assert!(left.all(|record| share(record) <= top_of(from - 1)));
        }
    }
}
