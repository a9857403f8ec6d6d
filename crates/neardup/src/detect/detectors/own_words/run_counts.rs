//! Counts of runs, in 4 bytes each.

use std::io::{self, Read, Write};

use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};

/// Entries of a bucket, which is a line of the cache.
const ENTRIES: usize = 16;
/// Buckets of the first table: 2 to the power of this, 128 KiB.
const FIRST_BITS: u32 = 11;
/// Bits of a hash by which a run is known: of 20 million runs, one in 7,000 new ones is taken for another.
const KNOWN: u32 = 37;
/// Runs of a bucket for which there is room on average. So hardly any bucket is full, and its neighbour too.
const MOST: usize = 11;
/// Buckets after its own in which a run may be.
const NEIGHBOURS: u32 = 4;
/// Bits of an entry that count.
const COUNT_BITS: u32 = 4;

/// A hash table of counters: buckets of entries, in which a run is known by its bucket and the bits of its hash that follow.
///
/// A run whose bucket is full is in one of the next. When the table is full, it doubles, and each entry gives one of its bits
/// to the number of its bucket.
#[derive(Clone, Debug)]
pub(super) struct RunCounts {
    buckets: Vec<Bucket>,
    bits: u32,
    runs: usize,
}

/// Entries, the empty ones at the end. An entry has, from its highest bit, what follows the number of the bucket in the
/// hash, how many buckets away that bucket is, and the count, which is none in an empty entry.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket([u32; ENTRIES]);

/// Where a run is: in a bucket and its entry.
#[derive(Clone, Copy)]
struct Place(usize, usize);

impl Bucket {
    const EMPTY: Self = Self([0; ENTRIES]);

    /// Returns which entry has this key, and looks at all of them, which is faster than stopping.
    #[inline]
    fn find(&self, key: u32) -> Option<usize> {
        let is_it = |entry: &u32| entry >> COUNT_BITS == key && *entry != 0;
        let found = self.0.iter().enumerate().fold(0, |found, (place, entry)| found | u32::from(is_it(entry)) << place);
        (found != 0).then(|| found.trailing_zeros() as usize)
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.0[ENTRIES - 1] != 0
    }
}

impl Default for RunCounts {
    fn default() -> Self {
        Self::with_bits(FIRST_BITS)
    }
}

impl RunCounts {
    /// The highest count.
    pub(super) const HIGHEST: u8 = (1 << COUNT_BITS) - 1;

    fn with_bits(bits: u32) -> Self {
        Self { buckets: vec![Bucket::EMPTY; 1 << bits], bits, runs: 0 }
    }

    /// Returns the count of a run, 0 if it has none.
    #[inline]
    pub(super) fn get(&self, run: u64) -> u8 {
        self.find(known(run)).map_or(0, |Place(bucket, entry)| count_of(self.buckets[bucket].0[entry]))
    }

    /// Raises the count of a run, from 0 too. Without [room](Self::has_room_for) for it, it may be that nothing happens.
    pub(super) fn raise(&mut self, run: u64, to: u8) {
        match self.find(known(run)) {
            Some(Place(bucket, entry)) => {
                let entry = &mut self.buckets[bucket].0[entry];
                *entry += u32::from(to.saturating_sub(count_of(*entry)));
            }
            None => self.insert(known(run), to),
        }
    }

    /// Returns the key of a run in each bucket where it may be.
    #[inline]
    fn keys(&self, known: u64) -> impl Iterator<Item = (usize, u32)> + use<> {
        let (mask, rest) = ((1 << self.bits) - 1, KNOWN - self.bits);
        let (own, follows) = ((known >> rest) as usize, (known & ((1 << rest) - 1)) as u32);
        (0..NEIGHBOURS).map(move |away| ((own + away as usize) & mask, follows * NEIGHBOURS + away))
    }

    #[inline]
    fn find(&self, known: u64) -> Option<Place> {
        for (bucket, key) in self.keys(known) {
            if let Some(entry) = self.buckets[bucket].find(key) {
                return Some(Place(bucket, entry));
            }
            if !self.buckets[bucket].is_full() {
                break;
            }
        }
        None
    }

    fn insert(&mut self, known: u64, count: u8) {
        let place = self.keys(known).find(|(bucket, _)| !self.buckets[*bucket].is_full());
        let Some((bucket, key)) = place else { return };
        if let Some(empty) = self.buckets[bucket].0.iter_mut().find(|entry| **entry == 0) {
            *empty = key << COUNT_BITS | u32::from(count);
            self.runs += 1;
        }
    }

    /// Returns whether so many further runs have room.
    pub(super) fn has_room_for(&self, runs: usize) -> bool {
        self.runs + runs <= self.capacity()
    }

    /// Returns the number of runs that have room.
    pub(super) fn capacity(&self) -> usize {
        self.buckets.len() * MOST
    }

    /// Doubles the table.
    pub(super) fn grow(&mut self) {
        *self = self.copied(self.bits + 1, 1);
    }

    /// Forgets the runs with a lower count.
    pub(super) fn forget_below(&mut self, count: u8) {
        *self = self.copied(self.bits, count);
    }

    /// Copies the runs that have a count into a table of another size.
    fn copied(&self, bits: u32, least: u8) -> Self {
        let mut copy = Self::with_bits(bits);
        let rest = KNOWN - self.bits;
        for (place, bucket) in self.buckets.iter().enumerate() {
            for entry in bucket.0.iter().filter(|entry| count_of(**entry) >= least) {
                let key = entry >> COUNT_BITS;
                let own = place.wrapping_sub((key % NEIGHBOURS) as usize) & (self.buckets.len() - 1);
                copy.insert((own as u64) << rest | u64::from(key / NEIGHBOURS), count_of(*entry));
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
        write_array(out, &self.buckets.iter().flat_map(|bucket| bucket.0).collect::<Vec<u32>>())
    }

    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let (runs, entries) = (read_number::<u64>(input)?, read_array::<u32>(input)?);
        let (buckets, rest) = entries.as_chunks::<ENTRIES>();
        let bits = buckets.len().checked_ilog2().filter(|bits| (FIRST_BITS..KNOWN).contains(bits));
        match bits {
            Some(bits) if rest.is_empty() && buckets.len().is_power_of_two() => {
                let buckets = buckets.iter().map(|entries| Bucket(*entries)).collect();
                Ok(Self { buckets, bits, runs: usize::try_from(runs).unwrap_or(usize::MAX) })
            }
            _ => Err(invalid("counts of runs that can't be read")),
        }
    }
}

/// Returns the part of a hash by which a run is known.
fn known(run: u64) -> u64 {
    run >> (u64::BITS - KNOWN)
}

fn count_of(entry: u32) -> u8 {
    entry as u8 & RunCounts::HIGHEST
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Runs that meet in few buckets, at the end of the table too, and runs anywhere.
    fn runs() -> impl Strategy<Value = u64> {
        let crowded = (0u64..2, 0u64..24).prop_map(|(bucket, rest)| (bucket.wrapping_sub(1) << 53) | rest << 27);
        prop_oneof![crowded, (0u64..2_000).prop_map(|number| (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))]
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map_however_often_the_table_grows(
            raised in prop::collection::vec((runs(), 1u8..=RunCounts::HIGHEST), 0..300),
            grown in 0usize..4,
            least in 1u8..4,
        ) {
            let (mut counts, mut map) = (RunCounts::default(), BTreeMap::new());
            for (place, (run, count)) in raised.iter().enumerate() {
                if place % 80 == 79 && place / 80 <= grown {
                    counts.grow();
                }
                counts.raise(*run, *count);
                let known = map.entry(*run).or_insert(0u8);
                *known = (*known).max(*count);
            }
            let mut bytes = Vec::new();
            counts.save(&mut bytes).unwrap();
            let mut loaded = RunCounts::load(&mut &bytes[..]).unwrap();
            for (run, count) in &map {
                prop_assert_eq!((counts.get(*run), loaded.get(*run)), (*count, *count));
            }
            prop_assert_eq!(counts.runs, map.len());
            loaded.forget_below(least);
            prop_assert_eq!(loaded.runs, map.values().filter(|count| **count >= least).count());
            for (run, count) in map {
                prop_assert_eq!(loaded.get(run), if count >= least { count } else { 0 });
            }
        }
    }

    #[test]
    fn what_is_no_table_of_counts_is_refused() {
        for entries in [vec![], vec![0u32; 16 << 10], vec![0; 17 << 11], vec![0; (16 << 11) + 1]] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, 0u64).unwrap();
            write_array(&mut bytes, &entries).unwrap();
            assert!(RunCounts::load(&mut &bytes[..]).is_err(), "{} entries", entries.len());
        }
    }
}
