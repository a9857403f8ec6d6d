//! A list of middle length: one array, sorted by class from heavy to light.
//!
//! Gaps between the classes, filled with [`GAP`], receive later postings. When a class has no gap left, the whole
//! list is laid out again with larger ones. So the heavy end of a list is the front of one array, read without a
//! branch. New postings go to the list's write buffer first ([`WriteBuffer`]).

use std::io::{self, Read, Write};

use super::impact_classes::{CLASSES, GAP, class_in};
use super::memory::heap_bytes;
use super::postings_small;
use super::prefetch::prefetch;
use super::tuning::Tuning;
use super::write_buffer::WriteBuffer;
use crate::model::arrays::{read_array, write_array};

/// The shortest list of this shape: its buffer is empty.
const SHORTEST: usize = postings_small::LONGEST + 1;

/// The longest list of this shape: with its gaps it must stay below 2¹⁶.
pub(super) const LONGEST: usize = 16_384;

/// Postings in the write buffer: with it, a list's head takes four cache lines.
const BUFFERED_MOST: usize = 25;

/// A list of middle length. Regions are counted from the heaviest class on: region 0 is class 30.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(super) struct ImpactList {
    /// Postings that are not in their regions yet.
    buffered: WriteBuffer<BUFFERED_MOST>,
    postings: Vec<u32>,
    /// The last region has no postings and begins where everything ends.
    regions: [Region; CLASSES + 1],
}

/// The postings of one class; up to the next region there is a gap.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    start: u16,
    len: u16,
}

impl ImpactList {
    /// Creates a list of these postings, in any order.
    pub(super) fn new(postings: &[u32]) -> Self {
        let mut list = Self::default();
        list.make_gaps(&list.lens_with(postings));
        for &posting in postings {
            list.put(region_of(class_in(posting)), posting);
        }
        list
    }

    /// Adds a posting, and returns by how many bytes the list grew.
    pub(super) fn push(&mut self, posting: u32) -> usize {
        if self.buffered.push(posting) { self.file() } else { 0 }
    }

    /// Returns the postings that are not in their regions yet, of any class.
    pub(super) fn buffered(&self) -> &[u32] {
        self.buffered.postings()
    }

    /// Returns how many postings are read from this class up, gaps and the write buffer included.
    pub(super) fn read_len(&self, class: usize) -> u32 {
        self.end_of(region_of(class)) as u32 + self.buffered.read_len(class)
    }

    /// Returns the filed postings from class `from` up, with gaps.
    pub(super) fn read(&self, from: usize) -> &[u32] {
        &self.postings[..self.end_of(region_of(from))]
    }

    /// Returns the filed postings from class `from` up, class by class from the heaviest on.
    pub(super) fn classes(&self, from: usize) -> impl Iterator<Item = (usize, &[u32])> {
        let regions = self.regions[..=region_of(from)].iter().enumerate();
        regions.map(|(number, region)| {
            (region_of(number), &self.postings[usize::from(region.start)..][..region.len.into()])
        })
    }

    /// Returns all postings: class by class from the heaviest on, then the write buffer. Within each class they
    /// ascend.
    pub(super) fn postings(&self) -> impl Iterator<Item = u32> {
        let filed = self.read(0).iter().filter(|&&posting| posting != GAP);
        filed.chain(self.buffered()).copied()
    }

    /// Prefetches what [`read_len`](Self::read_len) reads.
    pub(super) fn prefetch_counts(&self) {
        prefetch(&self.buffered);
        self.prefetch_regions();
    }

    /// Prefetches what a push touches in the head of a list of this length.
    pub(super) fn prefetch_head(&self, len: usize) {
        self.buffered.prefetch(len - SHORTEST);
        if WriteBuffer::<BUFFERED_MOST>::is_last(len - SHORTEST) {
            prefetch(&self.postings);
            self.prefetch_regions();
        }
    }

    /// Prefetches the regions: two cache lines.
    fn prefetch_regions(&self) {
        prefetch(&self.regions[0]);
        prefetch(&self.regions[CLASSES]);
    }

    /// Writes the list to a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.regions.map(|region| region.start))?;
        write_array(out, &self.regions.map(|region| region.len))?;
        write_array(out, &self.postings)?;
        self.buffered.save(out)
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let (starts, lens) = (read_array(input)?, read_array(input)?);
        let mut list = Self { postings: read_array(input)?, buffered: WriteBuffer::load(input)?, ..Self::default() };
        for (region, (start, len)) in list.regions.iter_mut().zip(starts.into_iter().zip(lens)) {
            *region = Region { start, len };
        }
        Ok(list)
    }

    pub(super) fn bytes(&self) -> usize {
        heap_bytes(&self.postings)
    }

    fn end_of(&self, region: usize) -> usize {
        let Region { start, len } = self.regions[region];
        usize::from(start) + usize::from(len)
    }

    /// Moves the buffered postings into their regions, and returns by how many bytes the list grew.
    #[inline(never)]
    fn file(&mut self) -> usize {
        let before = self.bytes();
        for place in 0..self.buffered.postings().len() {
            let posting = self.buffered.postings()[place];
            let region = region_of(class_in(posting));
            if self.end_of(region) == usize::from(self.regions[region + 1].start) {
                self.make_gaps(&self.lens_with(&self.buffered.postings()[place..]));
            }
            self.put(region, posting);
        }
        self.buffered.clear();
        self.bytes() - before
    }

    /// Returns how many postings each region holds once these are in it.
    fn lens_with(&self, more: &[u32]) -> [u16; CLASSES + 1] {
        let mut lens = self.regions.map(|region| region.len);
        for &posting in more {
            lens[region_of(class_in(posting))] += 1;
        }
        lens
    }

    /// Puts a posting into a region that has a gap.
    fn put(&mut self, region: usize, posting: u32) {
        let end = self.end_of(region);
        self.postings[end] = posting;
        self.regions[region].len += 1;
    }

    /// Moves the regions apart: room for `lens` postings in each, and a gap behind it.
    ///
    /// No region moves towards the front, since no class ever shrinks.
    fn make_gaps(&mut self, lens: &[u16; CLASSES + 1]) {
        let mut regions = self.regions;
        let mut start = 0;
        for (region, &len) in regions.iter_mut().zip(lens) {
            region.start = start;
            start += len + gap_for(len);
        }
        let all = usize::from(start);
        self.postings.reserve_exact(all - self.postings.len());
        self.postings.resize(all, GAP);
        let mut end = all;
        for (before, after) in self.regions.iter().zip(&regions).rev() {
            let (from, to, len) = (usize::from(before.start), usize::from(after.start), usize::from(before.len));
            self.postings.copy_within(from..from + len, to);
            self.postings[to + len..end].fill(GAP);
            end = to;
        }
        self.regions = regions;
    }
}

/// Returns the size of the gap behind a region: such that the classes of a list fill up at about the same time.
fn gap_for(len: u16) -> u16 {
    if len == 0 { 0 } else { len / Tuning::GAP_DIVISOR + len.isqrt() + 1 }
}

/// Returns the region of a class. Of a region it returns the class, too.
fn region_of(class: usize) -> usize {
    CLASSES - 1 - class
}
