//! A write buffer in the head of a list: many postings are filed at once.
//!
//! A posting's final place, by its class, costs one or two cold memory reads. The buffer is in the list's head, in
//! order of arrival, so most inserts touch one cache line of it. Probes read the whole buffer, which is little
//! compared with a long list.

use std::io::{self, Read, Write};

use super::impact_classes::class_in;
use super::prefetch::prefetch;
use crate::model::arrays::{read_array, write_array};

/// Up to `MOST` postings of any class.
#[derive(Debug)]
pub(super) struct WriteBuffer<const MOST: usize> {
    len: u16,
    /// The highest class in the buffer.
    heaviest: u16,
    postings: [u32; MOST],
}

impl<const MOST: usize> Default for WriteBuffer<MOST> {
    fn default() -> Self {
        Self { len: 0, heaviest: 0, postings: [0; MOST] }
    }
}

impl<const MOST: usize> WriteBuffer<MOST> {
    /// Adds a posting, and returns whether the buffer is full now.
    pub(super) fn push(&mut self, posting: u32) -> bool {
        self.postings[usize::from(self.len)] = posting;
        self.len += 1;
        self.heaviest = self.heaviest.max(class_in(posting) as u16);
        usize::from(self.len) == MOST
    }

    /// Returns the postings in order of arrival.
    pub(super) fn postings(&self) -> &[u32] {
        &self.postings[..self.len.into()]
    }

    /// Returns how many postings are read if this class or a higher one is to be read.
    pub(super) fn read_len(&self, class: usize) -> u32 {
        if class <= self.heaviest.into() { self.len.into() } else { 0 }
    }

    /// Empties the buffer.
    pub(super) fn clear(&mut self) {
        (self.len, self.heaviest) = (0, 0);
    }

    /// Prefetches what the next push will touch, after `pushes` pushes in all.
    pub(super) fn prefetch(&self, pushes: usize) {
        prefetch(self);
        prefetch(&self.postings[pushes % MOST]);
    }

    /// Returns whether that push fills the buffer.
    pub(super) fn is_last(pushes: usize) -> bool {
        pushes % MOST == MOST - 1
    }

    /// Writes the buffer to a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, self.postings())
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let postings: Vec<u32> = read_array(input)?;
        if postings.len() >= MOST {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "more postings in a write buffer than it has room for",
            ));
        }
        let mut buffered = Self::default();
        for posting in postings {
            buffered.push(posting);
        }
        Ok(buffered)
    }
}
