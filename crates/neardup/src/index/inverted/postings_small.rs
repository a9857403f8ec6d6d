//! Short lists, in blocks of a common array.

use std::io::{self, Read, Write};

use super::memory::{heap_bytes, make_room};
use super::prefetch::prefetch;
use crate::model::arrays::{read_array, write_array};

/// The longest list that is kept in a block.
pub(super) const LONGEST: usize = 256;

/// Number of block sizes: 2, 4, 8, … 256 postings.
const SIZES: usize = LONGEST.ilog2() as usize;

/// InvertedLists of 2 to [`LONGEST`] postings, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct SmallLists {
    sizes: [Blocks; SIZES],
}

/// Blocks of one size, end to end.
#[derive(Debug, Default)]
struct Blocks {
    postings: Vec<u32>,
    /// Numbers of unused blocks.
    free: Vec<u32>,
}

impl SmallLists {
    /// Returns the postings of a list of this length at this place.
    pub(super) fn get(&self, at: u32, len: usize) -> &[u32] {
        let start = (at as usize) << bits(len);
        &self.sizes[size_index(len)].postings[start..start + len]
    }

    /// Prefetches the first postings of a list.
    pub(super) fn prefetch_start(&self, at: u32, len: usize) {
        self.get(at, len).first().inspect(|start| prefetch(*start));
    }

    /// Prefetches the place where a push to a list of this length will write.
    pub(super) fn prefetch_end(&self, at: u32, len: usize) {
        self.get(at, len).last().inspect(|end| prefetch(*end));
    }

    /// Creates a list of two postings, and returns its place.
    pub(super) fn begin(&mut self, first: u32, second: u32) -> u32 {
        let at = self.take(2);
        self.block(at, 2).copy_from_slice(&[first, second]);
        at
    }

    /// Adds a posting to a list of `len`, which may move, and returns its place.
    ///
    /// The list must stay within [`LONGEST`].
    pub(super) fn push(&mut self, at: u32, len: usize, posting: u32) -> u32 {
        let moved = if len.is_power_of_two() { self.move_up(at, len) } else { at };
        self.block(moved, len + 1)[len] = posting;
        moved
    }

    /// Moves a list that fills its block to a block of the next size.
    #[inline(never)]
    fn move_up(&mut self, at: u32, len: usize) -> u32 {
        let moved = self.take(len + 1);
        let (smaller, larger) = self.sizes.split_at_mut(size_index(len + 1));
        let (from, to) = (&smaller[size_index(len)].postings, &mut larger[0].postings);
        let (start, end) = ((at as usize) << bits(len), (moved as usize) << bits(len + 1));
        to[end..end + len].copy_from_slice(&from[start..start + len]);
        self.free(at, len);
        moved
    }

    /// Frees a list's block.
    pub(super) fn free(&mut self, at: u32, len: usize) {
        self.sizes[size_index(len)].free.push(at);
    }

    pub(super) fn bytes(&self) -> usize {
        self.sizes.iter().map(|blocks| heap_bytes(&blocks.postings) + heap_bytes(&blocks.free)).sum()
    }

    /// Writes the blocks to a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.sizes.iter().try_for_each(|blocks| {
            write_array(out, &blocks.postings)?;
            write_array(out, &blocks.free)
        })
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let mut lists = Self::default();
        for blocks in &mut lists.sizes {
            *blocks = Blocks { postings: read_array(input)?, free: read_array(input)? };
        }
        Ok(lists)
    }

    fn take(&mut self, len: usize) -> u32 {
        let blocks = &mut self.sizes[size_index(len)];
        if let Some(free) = blocks.free.pop() {
            return free;
        }
        let at = blocks.postings.len() >> bits(len);
        make_room(&mut blocks.postings);
        blocks.postings.reserve_exact(1 << bits(len));
        blocks.postings.resize((at + 1) << bits(len), 0);
        at as u32
    }

    fn block(&mut self, at: u32, len: usize) -> &mut [u32] {
        let start = (at as usize) << bits(len);
        &mut self.sizes[size_index(len)].postings[start..start + (1 << bits(len))]
    }
}

/// Returns the binary logarithm of the block size for a list of this length.
fn bits(len: usize) -> u32 {
    len.next_power_of_two().ilog2()
}

fn size_index(len: usize) -> usize {
    bits(len) as usize - 1
}
