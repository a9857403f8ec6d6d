//! A list of middle length: one array, sorted by class from heavy to light.
//!
//! Between the classes lie gaps, filled with [`GAP`], into which later postings go; when a class has
//! no gap left, the whole list is laid out anew with larger ones. So reading the heavy end of a
//! list is reading the front of one array, without a branch.

use super::classes::{CLASSES, GAP, class_in};

/// The longest list of this shape: with its gaps it must stay below 2¹⁶.
pub(super) const LONGEST: usize = 16_384;

/// Regions are counted from the heaviest class on: region 0 is class 30.
#[derive(Debug)]
pub(super) struct Packed {
    postings: Vec<u32>,
    /// Where each region begins; the last is the end of all.
    starts: [u16; CLASSES + 1],
    /// Postings in each region, without gaps.
    lens: [u16; CLASSES],
    len: u32,
}

impl Packed {
    /// A list of these postings, in any order.
    pub(super) fn new(postings: &[u32]) -> Self {
        let mut lens = [0; CLASSES];
        for &posting in postings {
            lens[region_of(class_in(posting))] += 1;
        }
        let mut list = Self { postings: Vec::new(), starts: [0; CLASSES + 1], lens: [0; CLASSES], len: 0 };
        list.make_gaps(&lens);
        for &posting in postings {
            list.put(region_of(class_in(posting)), posting);
        }
        list
    }

    /// Adds a posting, and says by how many bytes the list grew.
    pub(super) fn push(&mut self, posting: u32) -> usize {
        let region = region_of(class_in(posting));
        let before = self.bytes();
        if self.starts[region] + self.lens[region] == self.starts[region + 1] {
            let mut lens = self.lens;
            lens[region] += 1;
            self.make_gaps(&lens);
        }
        self.put(region, posting);
        self.bytes() - before
    }

    /// Postings in all.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Postings in a class.
    pub(super) fn count(&self, class: usize) -> usize {
        usize::from(self.lens[region_of(class)])
    }

    /// All postings from class `from` up, with gaps.
    pub(super) fn read(&self, from: usize) -> &[u32] {
        let last = region_of(from);
        &self.postings[..usize::from(self.starts[last] + self.lens[last])]
    }

    pub(super) fn bytes(&self) -> usize {
        super::memory::heap_bytes(&self.postings)
    }

    /// Puts a posting into a region that has a gap.
    fn put(&mut self, region: usize, posting: u32) {
        self.postings[usize::from(self.starts[region] + self.lens[region])] = posting;
        self.lens[region] += 1;
        self.len += 1;
    }

    /// Moves the regions apart: room for `lens` postings in each and, where there are any, a gap of
    /// an eighth, at least one.
    fn make_gaps(&mut self, lens: &[u16; CLASSES]) {
        let mut starts = [0u16; CLASSES + 1];
        for (region, &len) in lens.iter().enumerate() {
            starts[region + 1] = starts[region] + len + len.div_ceil(8);
        }
        let mut postings = vec![GAP; usize::from(starts[CLASSES])];
        for (region, &len) in self.lens.iter().enumerate() {
            let (from, to, len) = (usize::from(self.starts[region]), usize::from(starts[region]), usize::from(len));
            postings[to..to + len].copy_from_slice(&self.postings[from..from + len]);
        }
        (self.postings, self.starts) = (postings, starts);
    }
}

fn region_of(class: usize) -> usize {
    CLASSES - 1 - class
}
