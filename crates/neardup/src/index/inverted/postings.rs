//! The inverted lists: for each term, the records that contain it.
//!
//! | length | kept as |
//! |---|---|
//! | 1 | a posting in the term's own slot: most terms |
//! | up to 256 | an unsorted block of a common array ([`SmallLists`]) |
//! | up to 16,384 | one array by impact class, heavy ones first ([`ImpactList`]): a probe can read the heavy end only |
//! | more | streams of 16-bit numbers ([`WindowedList`]), in half the space: these lists are read least |

use std::io::{self, Read, Write};

use super::impact_classes::{class_of, pack, record_of};
use super::memory::{heap_bytes, make_room};
use super::postings_by_impact::{self, ImpactList};
use super::postings_small::{self, SmallLists};
use super::postings_windowed::WindowedList;
use super::prefetch::{in_line, prefetch};
use super::tuning::Tuning;
use crate::model::TermId;
use crate::model::arrays::{read_array, read_number, write_array, write_number};

/// All lists. Eight bytes a term, and about 4.4 or 2.2 a posting.
#[derive(Debug, Default)]
pub(super) struct InvertedLists {
    /// Slot by term id.
    slots: Vec<Slot>,
    small: SmallLists,
    by_impact: Vec<ImpactList>,
    /// Empty places in `by_impact`.
    vacant: Vec<u32>,
    windowed: Vec<WindowedList>,
    /// Heap bytes of the `by_impact` and `windowed` lists.
    long_bytes: usize,
}

/// Where a term's list is.
///
/// `at` is the posting itself in a list of one, a block in a list up to [`postings_small::LONGEST`], an index into
/// `by_impact` up to [`postings_by_impact::LONGEST`], else an index into `windowed`.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    len: u32,
    at: u32,
}

/// How a list of a certain length is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    None,
    One,
    Small,
    ByImpact,
    Windowed,
}

impl Slot {
    fn shape(self) -> Shape {
        const LONG: usize = postings_small::LONGEST + 1;
        match self.len as usize {
            0 => Shape::None,
            1 => Shape::One,
            2..LONG => Shape::Small,
            LONG..=postings_by_impact::LONGEST => Shape::ByImpact,
            _ => Shape::Windowed,
        }
    }
}

/// A borrowed list.
#[derive(Clone, Copy, Debug)]
pub(super) enum List<'a> {
    /// At most [`postings_small::LONGEST`] postings, in no order.
    Small(&'a [u32]),
    /// Divided into classes.
    ByImpact(&'a ImpactList),
    /// Divided into classes.
    Windowed(&'a WindowedList),
}

impl InvertedLists {
    /// Adds a record to a term's list. Records must ascend.
    pub(super) fn push(&mut self, term: TermId, record: u32, share: u16) {
        while self.slots.len() <= term.index() {
            make_room(&mut self.slots);
            self.slots.push(Slot::default());
        }
        self.push_posting(term, pack(record, class_of(share)));
    }

    /// Adds a posting to the list of a term that has a slot. Within a class records must ascend.
    fn push_posting(&mut self, term: TermId, posting: u32) {
        let Slot { len, at } = self.slots[term.index()];
        let moved = match len as usize {
            0 => posting,
            1 => self.small.begin(at, posting),
            len if len < postings_small::LONGEST => self.small.push(at, len, posting),
            postings_small::LONGEST => self.begin_by_impact(at, posting),
            len if len < postings_by_impact::LONGEST => {
                self.long_bytes += self.by_impact[at as usize].push(posting);
                at
            }
            postings_by_impact::LONGEST => self.begin_windowed(at, posting),
            _ => {
                self.long_bytes += self.windowed[at as usize].push(posting);
                at
            }
        };
        self.slots[term.index()] = Slot { len: len + 1, at: moved };
    }

    /// Prefetches a term's slot: the first that a [`push`](Self::push) touches.
    pub(super) fn prefetch_slot(&self, term: TermId) {
        self.slots.get(term.index()).inspect(|slot| prefetch(*slot));
    }

    /// Prefetches the head of a term's list, once the slot has arrived.
    pub(super) fn prefetch_head(&self, term: TermId) {
        let Some(slot) = self.slots.get(term.index()) else { return };
        let (at, len) = (slot.at as usize, slot.len as usize);
        match slot.shape() {
            Shape::None | Shape::One => {}
            Shape::Small => self.small.prefetch_end(slot.at, len),
            Shape::ByImpact => self.by_impact[at].prefetch_head(len),
            Shape::Windowed => self.windowed[at].prefetch_head(len),
        }
    }

    /// Looks up the lengths of these terms' lists, and prefetches what a plan reads of them.
    pub(super) fn look_up(&self, shares: &[(TermId, u16)], lens: &mut Vec<u32>) {
        shares.iter().for_each(|&(term, _)| self.prefetch_slot(term));
        lens.clear();
        for &(term, _) in shares {
            let slot = self.slots.get(term.index()).copied().unwrap_or_default();
            lens.push(slot.len);
            let at = slot.at as usize;
            match slot.shape() {
                Shape::None | Shape::One => {}
                Shape::Small => self.small.prefetch_start(slot.at, slot.len as usize),
                Shape::ByImpact => self.by_impact[at].prefetch_counts(),
                Shape::Windowed => self.windowed[at].prefetch_counts(),
            }
        }
    }

    /// Prefetches the beginnings of these terms' lists, from these classes up.
    pub(super) fn prefetch_starts(&self, openings: impl Iterator<Item = (TermId, usize)>) {
        const LINE: usize = in_line::<u32>();
        const MOST: usize = Tuning::LIST_START_LINES * LINE;
        for (term, from) in openings {
            let postings = match self.get(term) {
                List::Small(postings) => postings,
                List::ByImpact(list) => list.read(from),
                List::Windowed(list) => {
                    list.prefetch_starts(from);
                    list.buffered()
                }
            };
            postings[..postings.len().min(MOST)].iter().step_by(LINE).for_each(prefetch);
        }
    }

    /// Returns the length of a term's list.
    pub(super) fn len_of(&self, term: TermId) -> usize {
        self.slots.get(term.index()).map_or(0, |slot| slot.len as usize)
    }

    /// Returns a term's list; an empty one for an unknown term.
    pub(super) fn get(&self, term: TermId) -> List<'_> {
        let Some(slot) = self.slots.get(term.index()) else { return List::Small(&[]) };
        match slot.shape() {
            Shape::None => List::Small(&[]),
            Shape::One => List::Small(std::slice::from_ref(&slot.at)),
            Shape::Small => List::Small(self.small.get(slot.at, slot.len as usize)),
            Shape::ByImpact => List::ByImpact(&self.by_impact[slot.at as usize]),
            Shape::Windowed => List::Windowed(&self.windowed[slot.at as usize]),
        }
    }

    /// Removes the postings of all records before this one.
    ///
    /// It passes over all lists, and frees each list once it is copied.
    pub(super) fn forget_before(&mut self, record: u32) {
        let mut old = std::mem::take(self);
        self.slots = std::mem::take(&mut old.slots);
        for number in 0..self.slots.len() {
            let slot = std::mem::take(&mut self.slots[number]);
            let mut keep = |posting: u32| {
                if record_of(posting) >= record {
                    self.push_posting(TermId(number as u32), posting);
                }
            };
            match slot.shape() {
                Shape::None => {}
                Shape::One => keep(slot.at),
                Shape::Small => old.small.get(slot.at, slot.len as usize).iter().copied().for_each(keep),
                Shape::ByImpact => std::mem::take(&mut old.by_impact[slot.at as usize]).postings().for_each(keep),
                Shape::Windowed => std::mem::take(&mut old.windowed[slot.at as usize]).postings().for_each(keep),
            }
        }
    }

    /// Writes the lists to a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(
            out,
            &self.slots.iter().map(|slot| u64::from(slot.len) << 32 | u64::from(slot.at)).collect::<Vec<_>>(),
        )?;
        self.small.save(out)?;
        write_number(out, self.by_impact.len() as u64)?;
        self.by_impact.iter().try_for_each(|list| list.save(out))?;
        write_array(out, &self.vacant)?;
        write_number(out, self.windowed.len() as u64)?;
        self.windowed.iter().try_for_each(|list| list.save(out))
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let slot = |word: u64| Slot { len: (word >> 32) as u32, at: word as u32 };
        let mut lists = Self {
            slots: read_array(input)?.into_iter().map(slot).collect(),
            small: SmallLists::load(input)?,
            ..Self::default()
        };
        for _ in 0..read_number::<u64>(input)? {
            let list = ImpactList::load(input)?;
            lists.long_bytes += list.bytes();
            make_room(&mut lists.by_impact);
            lists.by_impact.push(list);
        }
        lists.vacant = read_array(input)?;
        for _ in 0..read_number::<u64>(input)? {
            let list = WindowedList::load(input)?;
            lists.long_bytes += list.bytes();
            lists.windowed.push(list);
        }
        Ok(lists)
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        heap_bytes(&self.slots)
            + self.small.bytes()
            + heap_bytes(&self.by_impact)
            + heap_bytes(&self.vacant)
            + heap_bytes(&self.windowed)
            + self.long_bytes
    }

    /// Converts a full short list to one by impact.
    #[inline(never)]
    fn begin_by_impact(&mut self, at: u32, posting: u32) -> u32 {
        let mut postings = self.small.get(at, postings_small::LONGEST).to_vec();
        postings.push(posting);
        self.small.free(at, postings_small::LONGEST);
        let list = ImpactList::new(&postings);
        self.long_bytes += list.bytes();
        if let Some(vacant) = self.vacant.pop() {
            self.by_impact[vacant as usize] = list;
            return vacant;
        }
        make_room(&mut self.by_impact);
        self.by_impact.push(list);
        self.by_impact.len() as u32 - 1
    }

    /// Converts a full list by impact to a windowed one.
    #[inline(never)]
    fn begin_windowed(&mut self, at: u32, posting: u32) -> u32 {
        let list = std::mem::take(&mut self.by_impact[at as usize]);
        self.vacant.push(at);
        let windowed = WindowedList::new(list.postings().chain([posting]));
        self.long_bytes = self.long_bytes + windowed.bytes() - list.bytes();
        make_room(&mut self.windowed);
        self.windowed.push(windowed);
        self.windowed.len() as u32 - 1
    }
}

impl List<'_> {
    /// Calls `visit` with each record from class `from` up (all of a short list), and with an upper bound on its
    /// share.
    #[cfg(test)]
    pub(super) fn for_each(self, from: usize, mut visit: impl FnMut(u32, u16)) {
        use super::impact_classes::{CLASSES, class_in, top_of};
        let mut visit_posting = |posting: u32| {
            if class_in(posting) < CLASSES {
                visit(record_of(posting), top_of(class_in(posting)));
            }
        };
        match self {
            List::Small(postings) => postings.iter().copied().for_each(visit_posting),
            List::ByImpact(list) => {
                list.read(from).iter().copied().for_each(&mut visit_posting);
                list.buffered().iter().filter(|&&posting| class_in(posting) >= from).copied().for_each(visit_posting);
            }
            List::Windowed(list) => {
                for class in from..CLASSES {
                    for run in list.runs(class) {
                        let record = |&low: &u16| (run.window << 16) as u32 | u32::from(low);
                        run.records.iter().for_each(|low| visit_posting(pack(record(low), class)));
                    }
                }
                list.buffered().iter().filter(|&&posting| class_in(posting) >= from).copied().for_each(visit_posting);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::impact_classes::{CLASSES, top_of};
    use super::*;

    /// Shares of all classes, and a list through all its shapes.
    fn share(record: u32) -> u16 {
        (record.wrapping_mul(2_654_435_761) >> 20) as u16 + 1
    }

    #[test]
    fn a_growing_list_keeps_every_record_and_never_understates_its_share() {
        let mut lists = InvertedLists::default();
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
            let mut lists = InvertedLists::default();
            (0..records).for_each(|record| lists.push(TermId(0), record, share(record)));
            let reads = match lists.get(TermId(0)) {
                List::Small(_) => panic!("a thousand records are a long list"),
                List::ByImpact(list) => std::array::from_fn(|class| list.read_len(class)),
                List::Windowed(list) => list.reads(),
            };
            assert!(reads.is_sorted_by(|a, b| a >= b) && reads[0] >= records);
            for (from, &most_read) in reads.iter().enumerate().skip(1) {
                let mut read = vec![false; records as usize];
                lists.get(TermId(0)).for_each(from, |record, _| read[record as usize] = true);
                let mut left = (0..records).filter(|&record| !read[record as usize]);
                assert!(left.all(|record| share(record) <= top_of(from - 1)));
                let counted = read.iter().filter(|&&read| read).count();
                assert!(counted <= most_read as usize && most_read as usize <= counted * 3 / 2 + 4 * CLASSES);
            }
        }
    }

    #[test]
    fn lists_of_all_shapes_come_back_from_a_snapshot_and_grow_on() {
        let lens = [0, 1, 2, 16, 17, 18, 41, 42, 5_000, 16_384, 16_385, 20_000];
        let mut lists = InvertedLists::default();
        for (term, len) in (0..).zip(lens) {
            (0..len).for_each(|record| lists.push(TermId(term), record, share(record)));
        }
        let mut bytes = Vec::new();
        lists.save(&mut bytes).unwrap();
        let mut loaded = InvertedLists::load(&mut &bytes[..]).unwrap();
        for (term, len) in (0..).zip(lens) {
            let postings = |lists: &InvertedLists| {
                let mut seen = Vec::new();
                lists.get(TermId(term)).for_each(0, |record, bound| seen.push((record, bound)));
                seen.sort_unstable();
                seen
            };
            assert_eq!(postings(&loaded), postings(&lists), "{len} postings");
            for record in len..len + 300 {
                lists.push(TermId(term), record, share(record));
                loaded.push(TermId(term), record, share(record));
            }
            assert_eq!(postings(&loaded), postings(&lists), "300 more than {len} postings");
            assert_eq!(postings(&loaded).len(), len as usize + 300);
        }
    }

    #[test]
    fn many_lists_grow_side_by_side_without_touching_each_other() {
        let mut lists = InvertedLists::default();
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
