//! Postings that wait in the head of a list until many are filed at once.
//!
//! Where a posting belongs by its class lies anywhere in memory, a cold read or two; what waits lies in the head, in
//! the order in which it came, so that most inserts touch one line of it. Probes read all that waits: of a long list
//! that is next to nothing.

use std::io::{self, Read, Write};

use super::impact_classes::class_in;
use super::prefetch::prefetch;
use crate::model::arrays::{read_array, write_array};

/// Up to `MOST` postings, of any class.
#[derive(Debug)]
pub(super) struct Waiting<const MOST: usize> {
    len: u16,
    /// No posting is of a higher class.
    heaviest: u16,
    postings: [u32; MOST],
}

impl<const MOST: usize> Default for Waiting<MOST> {
    fn default() -> Self {
        Self { len: 0, heaviest: 0, postings: [0; MOST] }
    }
}

impl<const MOST: usize> Waiting<MOST> {
    /// Adds a posting, and says whether that was the last one for which there is room.
    pub(super) fn push(&mut self, posting: u32) -> bool {
        self.postings[usize::from(self.len)] = posting;
        self.len += 1;
        self.heaviest = self.heaviest.max(class_in(posting) as u16);
        usize::from(self.len) == MOST
    }

    /// In the order in which they came.
    pub(super) fn postings(&self) -> &[u32] {
        &self.postings[..self.len.into()]
    }

    /// How many are read if any of this class or a higher one is to be.
    pub(super) fn read_len(&self, class: usize) -> u32 {
        if class <= self.heaviest.into() { self.len.into() } else { 0 }
    }

    /// None waits any more.
    pub(super) fn clear(&mut self) {
        (self.len, self.heaviest) = (0, 0);
    }

    /// Asks for what the push will touch before which so many had been made since there was anything to file.
    pub(super) fn prefetch(&self, pushes: usize) {
        prefetch(self);
        prefetch(&self.postings[pushes % MOST]);
    }

    /// Whether that push is the last one for which there is room.
    pub(super) fn is_last(pushes: usize) -> bool {
        pushes % MOST == MOST - 1
    }

    /// Writes everything into a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, self.postings())
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let postings: Vec<u32> = read_array(input)?;
        if postings.len() >= MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "more postings wait than there is room for"));
        }
        let mut waiting = Self::default();
        for posting in postings {
            waiting.push(posting);
        }
        Ok(waiting)
    }
}
