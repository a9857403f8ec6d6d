//! A long list: one stream of 16-bit numbers for each class, and a few postings that wait.
//!
//! New postings gather in the list's head, which a probe reads too. A class's stream ends anywhere in memory:
//! two or three cold reads for each posting, which are made for all that wait at once, when the head is full.
//!
//! Records are divided into windows of 2¹⁶. A stream holds, for each window in which the class has
//! records, the window's number, the number of records less one, and the low half of each record's
//! number: little more than two bytes a posting, and no dependency from one to the next. The last
//! window's records are counted when it ends, so that a new posting touches the end of its stream and
//! nothing before.

use std::io::{self, Read, Write};

use super::classes::{CLASSES, class_in, pack, record_of};
use super::memory::{heap_bytes, make_room};
use crate::record::arrays::{read_array, read_number, write_array, write_number};

/// Records in a window.
pub(super) const WINDOW: usize = 1 << 16;

/// Postings that wait: with them, a list's head takes six cache lines.
const MOST_WAITING: usize = 62;

/// A long list.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Dense {
    /// Postings in each class, side by side for who plans, those that wait included.
    counts: [u32; CLASSES],
    waiting_len: u32,
    /// Postings that are not in their streams yet, in the order in which they came.
    waiting: [u32; MOST_WAITING],
    classes: Box<[Stream; CLASSES]>,
}

/// The records of one class, ascending.
#[derive(Debug, Default)]
struct Stream {
    words: Vec<u16>,
    /// Where the last window begins in `words`. It runs to the end.
    last: u32,
    /// Its number.
    window: u16,
}

/// The records of one class in one window.
pub(super) struct Run<'a> {
    pub(super) window: usize,
    /// The low halves of their numbers.
    pub(super) records: &'a [u16],
}

impl Default for Dense {
    fn default() -> Self {
        Self { counts: [0; CLASSES], waiting_len: 0, waiting: [0; MOST_WAITING], classes: Box::default() }
    }
}

impl Dense {
    /// A list of postings. Within each class records must ascend.
    pub(super) fn new(postings: impl Iterator<Item = u32>) -> Self {
        let mut list = Self::default();
        for posting in postings {
            list.push(posting);
        }
        list
    }

    /// Adds a posting, and says by how many bytes the list grew. Within each class records must
    /// ascend.
    pub(super) fn push(&mut self, posting: u32) -> usize {
        self.counts[class_in(posting)] += 1;
        let grown = if self.is_full() { self.file() } else { 0 };
        self.waiting[self.waiting_len as usize] = posting;
        self.waiting_len += 1;
        grown
    }

    /// The postings that are not in their streams yet, of any class.
    pub(super) fn waiting(&self) -> &[u32] {
        &self.waiting[..self.waiting_len as usize]
    }

    /// For each class, how many postings are read if all from it up are.
    pub(super) fn reads(&self) -> [u32; CLASSES] {
        let mut reads = self.counts;
        for class in (0..CLASSES - 1).rev() {
            reads[class] += reads[class + 1];
        }
        reads
    }

    /// The records of a class, window by window.
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

    /// All postings, class by class, then those that wait: within each class they ascend.
    pub(super) fn postings(&self) -> impl Iterator<Item = u32> {
        let in_streams = (0..CLASSES).flat_map(|class| {
            self.runs(class).flat_map(move |run| {
                let posting = move |&low: &u16| pack((run.window << 16) as u32 | u32::from(low), class);
                run.records.iter().map(posting)
            })
        });
        in_streams.chain(self.waiting().iter().copied())
    }

    /// Reads of the head what a push of this class will touch: see
    /// [`Lists::touch`](super::lists::Lists::touch).
    pub(super) fn touch_head(&self, class: usize) -> u32 {
        self.counts[class]
    }

    /// Reads the place where the next push will write.
    pub(super) fn touch_end(&self) -> u32 {
        self.waiting_len ^ self.waiting[self.waiting_len as usize % MOST_WAITING]
    }

    /// Whether the next push empties the head.
    pub(super) fn is_full(&self) -> bool {
        self.waiting_len as usize == MOST_WAITING
    }

    /// Reads the places where emptying the head will write.
    pub(super) fn touch_streams(&self) -> u32 {
        let ends = self.waiting().iter().map(|&posting| self.classes[class_in(posting)].touch_end());
        ends.fold(0, |read, end| read ^ u32::from(end))
    }

    /// Writes everything into a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.counts)?;
        write_array(out, self.waiting())?;
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
        for (place, posting) in list.waiting.iter_mut().zip(read_array(input)?) {
            *place = posting;
            list.waiting_len += 1;
        }
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

    /// Puts the postings that wait into their streams, and says by how many bytes the list grew.
    fn file(&mut self) -> usize {
        let waiting = &self.waiting[..self.waiting_len as usize];
        self.waiting_len = 0;
        waiting.iter().map(|&posting| self.classes[class_in(posting)].push(record_of(posting))).sum()
    }
}

impl Stream {
    /// Reads the place where a push will write.
    fn touch_end(&self) -> u16 {
        self.words.last().copied().unwrap_or_default()
    }

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
