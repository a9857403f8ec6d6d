//! A long list: one stream of 16-bit numbers for each class, and a write buffer.
//!
//! The end of a class's stream is two or three cold memory reads away. So new postings go to the buffer in the list's
//! head ([`WriteBuffer`]) and are filed together when it is full.
//!
//! Records are divided into windows of 2¹⁶. A stream holds, for each window in which the class has records: the
//! window's number, the number of records less one, and the low half of each record's number. That is little more
//! than two bytes a posting, without a dependency from one to the next. The records of the last window are counted
//! when it ends, so that a new posting touches only the end of its stream.

use std::io::{self, Read, Write};

use super::impact_classes::{CLASSES, class_in, pack, record_of};
use super::memory::{heap_bytes, make_room};
use super::prefetch::prefetch;
use super::write_buffer::WriteBuffer;
use crate::model::arrays::{read_array, read_number, write_array, write_number};

/// Records in a window.
pub(super) const WINDOW: usize = 1 << 16;

/// Postings in the write buffer: with it, a list's head takes ten cache lines.
const BUFFERED_MOST: usize = 125;

/// A long list.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(super) struct WindowedList {
    /// Postings that are not in their streams yet.
    buffered: WriteBuffer<BUFFERED_MOST>,
    classes: Box<[Stream; CLASSES]>,
    /// Postings in each stream, side by side for planning.
    counts: [u32; CLASSES],
}

/// The records of one class, ascending.
#[derive(Debug, Default)]
struct Stream {
    words: Vec<u16>,
    /// Start of the last window in `words`. It runs to the end.
    last: u32,
    /// Number of the last window.
    window: u16,
}

/// The records of one class in one window.
pub(super) struct Run<'a> {
    pub(super) window: usize,
    /// Low halves of the record numbers.
    pub(super) records: &'a [u16],
}

impl WindowedList {
    /// Creates a list of postings. Within each class records must ascend.
    pub(super) fn new(postings: impl Iterator<Item = u32>) -> Self {
        let mut list = Self::default();
        for posting in postings {
            list.push(posting);
        }
        list
    }

    /// Adds a posting, and returns by how many bytes the list grew. Within each class records must ascend.
    pub(super) fn push(&mut self, posting: u32) -> usize {
        if self.buffered.push(posting) { self.file() } else { 0 }
    }

    /// Returns the postings that are not in their streams yet, of any class.
    pub(super) fn buffered(&self) -> &[u32] {
        self.buffered.postings()
    }

    /// Returns, for each class, how many postings are read from it up.
    pub(super) fn reads(&self) -> [u32; CLASSES] {
        let mut in_streams = 0;
        let mut reads = [0; CLASSES];
        for class in (0..CLASSES).rev() {
            in_streams += self.counts[class];
            reads[class] = in_streams + self.buffered.read_len(class);
        }
        reads
    }

    /// Returns the records of a class, window by window.
    pub(super) fn runs(&self, class: usize) -> impl Iterator<Item = Run<'_>> {
        let Stream { words, last, .. } = &self.classes[class];
        let (mut ended, mut open) = words.split_at(*last as usize);
        std::iter::from_fn(move || {
            let Some((&[window, more], after)) = ended.split_first_chunk() else {
                let (&[window, _], records) = std::mem::take(&mut open).split_first_chunk()?;
                return Some(Run { window: usize::from(window), records });
            };
            let (records, after) = after.split_at(usize::from(more) + 1);
            ended = after;
            Some(Run { window: usize::from(window), records })
        })
    }

    /// Returns all postings, class by class, then the write buffer. Within each class they ascend.
    pub(super) fn postings(&self) -> impl Iterator<Item = u32> {
        let in_streams = (0..CLASSES).flat_map(|class| {
            self.runs(class).flat_map(move |run| {
                let posting = move |&low: &u16| pack((run.window << 16) as u32 | u32::from(low), class);
                run.records.iter().map(posting)
            })
        });
        in_streams.chain(self.buffered().iter().copied())
    }

    /// Prefetches what [`reads`](Self::reads) reads.
    pub(super) fn prefetch_counts(&self) {
        prefetch(&self.buffered);
        prefetch(&self.counts[0]);
        prefetch(&self.counts[CLASSES - 1]);
    }

    /// Prefetches where the classes from this one up begin.
    pub(super) fn prefetch_starts(&self, from: usize) {
        self.classes[from..].iter().filter_map(|stream| stream.words.first()).for_each(prefetch);
    }

    /// Prefetches what a push touches in the head of a list of this length.
    pub(super) fn prefetch_head(&self, len: usize) {
        self.buffered.prefetch(len);
        if WriteBuffer::<BUFFERED_MOST>::is_last(len) {
            prefetch(&self.classes);
            self.prefetch_counts();
        }
    }

    /// Writes the list to a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.counts)?;
        self.buffered.save(out)?;
        self.classes.iter().try_for_each(|stream| {
            write_number(out, stream.last)?;
            write_array(out, &stream.words)
        })
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let mut list = Self::default();
        for (count, read) in list.counts.iter_mut().zip(read_array(input)?) {
            *count = read;
        }
        list.buffered = WriteBuffer::load(input)?;
        for stream in list.classes.iter_mut() {
            let (last, words): (u32, Vec<u16>) = (read_number(input)?, read_array(input)?);
            let last = last.min(words.len() as u32);
            let window = words.get(last as usize).copied().unwrap_or_default();
            *stream = Stream { words, last, window };
        }
        Ok(list)
    }

    pub(super) fn bytes(&self) -> usize {
        let words: usize = self.classes.iter().map(|stream| heap_bytes(&stream.words)).sum();
        words + size_of::<[Stream; CLASSES]>()
    }

    /// Moves the buffered postings into their streams, and returns by how many bytes the list grew.
    #[inline(never)]
    fn file(&mut self) -> usize {
        let mut grown = 0;
        for &posting in self.buffered.postings() {
            self.counts[class_in(posting)] += 1;
            grown += self.classes[class_in(posting)].push(record_of(posting));
        }
        self.buffered.clear();
        grown
    }
}

impl Stream {
    fn push(&mut self, record: u32) -> usize {
        let before = heap_bytes(&self.words);
        let (window, low) = ((record >> 16) as u16, record as u16);
        if self.window != window || self.words.is_empty() {
            self.begin_window(window);
        }
        make_room(&mut self.words);
        self.words.push(low);
        heap_bytes(&self.words) - before
    }

    fn begin_window(&mut self, window: u16) {
        let last = self.last as usize;
        let records = self.words.len().saturating_sub(last + 2);
        if let Some(more) = self.words.get_mut(last + 1) {
            // No window has more than 2¹⁶ records.
            *more = records.saturating_sub(1) as u16;
        }
        (self.last, self.window) = (self.words.len() as u32, window);
        for word in [window, 0] {
            make_room(&mut self.words);
            self.words.push(word);
        }
    }
}
