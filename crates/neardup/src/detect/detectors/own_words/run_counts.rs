//! Counts of runs in bounded memory, in 8 bytes each.

use std::io::{self, Read, Write};

use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};

/// Entries of a bucket, which is a line of the cache.
const ENTRIES: usize = 8;
/// Buckets of the first table: 2 to the power of this, 128 KiB.
const FIRST_BITS: u32 = 11;
/// Bits of a hash by which a run is known: of 20 million runs, one in 14 million new ones is taken for another.
const KNOWN: u32 = 48;
/// Runs of two buckets for which there is room on average. So hardly ever is a bucket full, and all its neighbours too.
const MOST_OF_TWO: usize = 11;
/// Buckets from its own on in which a run may be.
const NEIGHBOURS: u64 = 8;
/// Bits of an entry that count.
const COUNT_BITS: u32 = 4;
/// Bits of an entry that tell who said it first.
const FIRST_SAID_BITS: u32 = 16;
/// Bits of an entry that follow its key.
const VALUE_BITS: u32 = COUNT_BITS + FIRST_SAID_BITS;

/// A hash table of counters: buckets of entries, in which a run is known by its bucket and the bits of its hash that follow.
///
/// A run whose bucket is full is in one of the next. When the table is full, it doubles, and each entry gives one of its bits
/// to the number of its bucket. At the limit the lowest counts are forgotten instead ("lossy counting", Manku and Motwani).
#[derive(Clone, Debug)]
pub(super) struct RunCounts {
    buckets: Vec<Bucket>,
    bits: u32,
    runs: usize,
    /// The most memory, in bytes.
    limit: usize,
    /// Counts that are never forgotten, whatever the limit.
    kept: u8,
}

/// Entries, the empty ones at the end. An entry has, from its highest bit, what follows the number of the bucket in the
/// hash, how many buckets away that bucket is, who said it first, and the count, which is none in an empty entry.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket([u64; ENTRIES]);

/// What is known of a run. Without a count it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) count: u8,
    /// The name under which it was counted first.
    pub(super) first: u16,
}

impl Count {
    fn of(entry: u64) -> Self {
        Self { count: entry as u8 & RunCounts::HIGHEST, first: (entry >> COUNT_BITS) as u16 }
    }

    fn value(self) -> u64 {
        u64::from(self.first) << COUNT_BITS | u64::from(self.count)
    }
}

impl Bucket {
    const EMPTY: Self = Self([0; ENTRIES]);

    /// Returns which entry has this key, and looks at all of them, which is faster than stopping.
    #[inline]
    fn find(&self, key: u64) -> Option<usize> {
        let is_it = |entry: &u64| entry >> VALUE_BITS == key && *entry != 0;
        let found = self.0.iter().enumerate().fold(0, |found, (place, entry)| found | u32::from(is_it(entry)) << place);
        (found != 0).then(|| found.trailing_zeros() as usize)
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.0[ENTRIES - 1] != 0
    }
}

impl RunCounts {
    /// The highest count.
    pub(super) const HIGHEST: u8 = (1 << COUNT_BITS) - 1;

    /// Creates counts that take at most `limit` bytes, but at least a first table and all that reach `kept`.
    pub(super) fn new(limit: usize, kept: u8) -> Self {
        assert!(kept <= Self::HIGHEST, "a counter counts up to {}", Self::HIGHEST);
        Self { buckets: vec![Bucket::EMPTY; 1 << FIRST_BITS], bits: FIRST_BITS, runs: 0, limit, kept }
    }

    /// Reads the buckets of runs, so that those who ask for them next find them in the cache: without a decision in between,
    /// reads from anywhere in memory overlap.
    pub(super) fn fetch(&self, runs: &[u64]) {
        let own = |run: &u64| self.buckets[(run >> (u64::BITS - self.bits)) as usize].0[0];
        std::hint::black_box(runs.iter().map(own).fold(0, |read, entry| read ^ entry));
    }

    /// Returns what is known of a run.
    ///
    /// Cost: a read from anywhere in memory.
    #[inline]
    pub(super) fn get(&self, run: u64) -> Count {
        self.find(known(run)).map_or_else(Count::default, |(bucket, entry)| Count::of(self.buckets[bucket].0[entry]))
    }

    /// Raises the count of a run, from 0 too; then `first` says who said it. Without [room](Self::make_room) for it, it may be
    /// that nothing happens.
    pub(super) fn raise(&mut self, run: u64, to: u8, first: u16) {
        match self.find(known(run)) {
            Some((bucket, entry)) => {
                let entry = &mut self.buckets[bucket].0[entry];
                *entry += u64::from(to.saturating_sub(Count::of(*entry).count));
            }
            None => self.insert(known(run), Count { count: to, first }),
        }
    }

    /// Makes room for so many further runs: a larger table, and where that takes too much memory, less knowledge.
    pub(super) fn make_room(&mut self, runs: usize) {
        while !self.has_room(runs) && self.bytes() * 2 <= self.limit {
            *self = self.copied(self.bits + 1, 1);
        }
        if self.has_room(runs) {
            return;
        }
        // For a while.
        let runs = runs + self.capacity() / 4;
        for least in 2..=self.kept {
            if !self.has_room(runs) {
                *self = self.copied(self.bits, least);
            }
        }
        while !self.has_room(runs) {
            *self = self.copied(self.bits + 1, 1);
        }
    }

    fn has_room(&self, runs: usize) -> bool {
        self.runs + runs <= self.capacity()
    }

    /// Returns the number of runs that have room.
    pub(super) fn capacity(&self) -> usize {
        self.buckets.len() / 2 * MOST_OF_TWO
    }

    /// Returns the key of a run in each bucket where it may be.
    #[inline]
    fn keys(&self, known: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (mask, rest) = ((1 << self.bits) - 1, KNOWN - self.bits);
        let (own, follows) = ((known >> rest) as usize, known & ((1 << rest) - 1));
        (0..NEIGHBOURS).map(move |away| ((own + away as usize) & mask, follows * NEIGHBOURS + away))
    }

    /// Returns the bucket and the entry of a run.
    #[inline]
    fn find(&self, known: u64) -> Option<(usize, usize)> {
        for (bucket, key) in self.keys(known) {
            if let Some(entry) = self.buckets[bucket].find(key) {
                return Some((bucket, entry));
            }
            if !self.buckets[bucket].is_full() {
                break;
            }
        }
        None
    }

    fn insert(&mut self, known: u64, count: Count) {
        let place = self.keys(known).find(|(bucket, _)| !self.buckets[*bucket].is_full());
        let Some((bucket, key)) = place else { return };
        if let Some(empty) = self.buckets[bucket].0.iter_mut().find(|entry| **entry == 0) {
            *empty = key << VALUE_BITS | count.value();
            self.runs += 1;
        }
    }

    /// Copies the runs that have a count into a table of another size.
    fn copied(&self, bits: u32, least: u8) -> Self {
        let mut copy = Self { buckets: vec![Bucket::EMPTY; 1 << bits], bits, runs: 0, ..*self };
        let rest = KNOWN - self.bits;
        for (place, bucket) in self.buckets.iter().enumerate() {
            for entry in bucket.0.iter().filter(|entry| Count::of(**entry).count >= least) {
                let key = entry >> VALUE_BITS;
                let own = place.wrapping_sub((key % NEIGHBOURS) as usize) & (self.buckets.len() - 1);
                copy.insert(((own as u64) << rest) | (key / NEIGHBOURS), Count::of(*entry));
            }
        }
        copy
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.buckets[..])
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_number(out, self.runs as u64)?;
        write_array(out, &self.buckets.iter().flat_map(|bucket| bucket.0).collect::<Vec<u64>>())
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        let (runs, entries) = (read_number::<u64>(input)?, read_array::<u64>(input)?);
        let (buckets, rest) = entries.as_chunks::<ENTRIES>();
        let bits = buckets.len().checked_ilog2().filter(|bits| (FIRST_BITS..KNOWN).contains(bits));
        let Some(bits) = bits.filter(|bits| rest.is_empty() && buckets.len() == 1 << bits) else {
            return Err(invalid("counts of runs that can't be read"));
        };
        self.buckets = buckets.iter().map(|entries| Bucket(*entries)).collect();
        (self.bits, self.runs) = (bits, usize::try_from(runs).unwrap_or(usize::MAX));
        Ok(())
    }
}

/// Returns the part of a hash by which a run is known.
fn known(run: u64) -> u64 {
    run >> (u64::BITS - KNOWN)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn without_limit() -> RunCounts {
        RunCounts::new(usize::MAX, RunCounts::HIGHEST)
    }

    /// Runs that meet in few buckets, at the end of the table too, and runs anywhere.
    fn runs() -> impl Strategy<Value = u64> {
        let crowded = (0u64..2, 0u64..24).prop_map(|(bucket, rest)| (bucket.wrapping_sub(1) << 53) | rest << 16);
        prop_oneof![crowded, (0u64..2_000).prop_map(|number| (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))]
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map_however_often_the_table_grows(
            raised in prop::collection::vec((runs(), 1u8..=RunCounts::HIGHEST, any::<u16>()), 0..300),
            grown in 0u32..4,
            least in 1u8..4,
        ) {
            let (mut counts, mut map) = (without_limit(), BTreeMap::new());
            for (place, (run, count, first)) in (0..).zip(&raised) {
                if place % 80 == 79 && place / 80 <= grown {
                    counts = counts.copied(counts.bits + 1, 1);
                }
                counts.raise(*run, *count, *first);
                let known = map.entry(*run).or_insert(Count { count: 0, first: *first });
                known.count = known.count.max(*count);
            }
            let (mut bytes, mut loaded) = (Vec::new(), without_limit());
            counts.save(&mut bytes).unwrap();
            loaded.load(&mut &bytes[..]).unwrap();
            for (run, count) in &map {
                prop_assert_eq!((counts.get(*run), loaded.get(*run)), (*count, *count));
            }
            prop_assert_eq!(counts.runs, map.len());
            let few = loaded.copied(loaded.bits, least);
            prop_assert_eq!(few.runs, map.values().filter(|known| known.count >= least).count());
            for (run, known) in map {
                prop_assert_eq!(few.get(run), if known.count >= least { known } else { Count::default() });
            }
        }
    }

    #[test]
    fn what_is_no_table_of_counts_is_refused() {
        for entries in [0, 8 << 10, 9 << 11, (8 << 11) + 1] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, 0u64).unwrap();
            write_array(&mut bytes, &vec![0u64; entries]).unwrap();
            assert!(without_limit().load(&mut &bytes[..]).is_err(), "{entries} entries");
        }
    }
}
