//! How many documents of different subjects say a run of words, in bounded memory.
//!
//! A count-min sketch with conservative update (Estan and Varghese, "New directions in traffic measurement and
//! accounting"): a run has three counters of four bits in one block of a cache line, and its count is the least of them.
//! So a count is never too low, and too high where three other runs fall on its counters. A layer takes
//! [`RUNS_A_BLOCK`] runs a block; then one of four times the size is added, and a count is the sum over all layers. Beyond
//! the memory limit the newest layer forgets what one document alone has said ("lossy counting", Manku and Motwani).

use std::io::{self, Read, Write};

use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};

/// Counters of a block: 4 bits each, 64 bytes together.
const COUNTERS: u64 = 128;
/// Words of 64 bits in a block.
const WORDS: usize = 8;
/// Counters of a run.
const HASHES: usize = 3;
/// The most that a counter counts.
const MOST: u8 = 15;
/// Distinct runs for which a block has room. In a full layer `(1 − e^(−72/128))³`, 8 in 100 runs that were never counted look
/// counted once.
const RUNS_A_BLOCK: usize = 24;
/// Blocks of the first layer: 128 KiB.
const FIRST: usize = 2_048;
/// The next layer has so many times the blocks.
const GROWTH: usize = 4;

/// Counts of runs.
#[derive(Debug, Default)]
pub(super) struct CommonRuns {
    layers: Vec<Layer>,
    /// The most memory, in bytes.
    limit: usize,
}

#[derive(Debug, Default)]
struct Layer {
    blocks: Vec<u64>,
    /// Distinct runs that were counted here first.
    runs: usize,
}

/// A counter of a block.
#[derive(Clone, Copy)]
struct Place {
    word: usize,
    shift: u32,
}

impl CommonRuns {
    /// Creates counts that take at most `limit` bytes, but at least a first layer.
    pub(super) fn new(limit: usize) -> Self {
        Self { layers: Vec::new(), limit }
    }

    /// Returns the count of each run.
    ///
    /// Cost: a read from anywhere in memory for each run and layer. Reads of several runs overlap.
    pub(super) fn counts(&self, runs: &[u64]) -> Vec<u8> {
        let mut counts = vec![0; runs.len()];
        for layer in &self.layers {
            for (count, run) in counts.iter_mut().zip(runs) {
                *count += layer.count(*run);
            }
        }
        counts
    }

    /// Counts a run once more. Returns its count then.
    pub(super) fn add(&mut self, run: u64) -> u8 {
        let count: u8 = self.layers.iter().map(|layer| layer.count(run)).sum();
        if count >= MOST {
            return count;
        }
        if self.layers.last().is_none_or(Layer::is_full) {
            self.make_room();
        }
        if let Some(newest) = self.layers.last_mut() {
            newest.runs += usize::from(count == 0);
            newest.add(run);
        }
        count + 1
    }

    fn make_room(&mut self) {
        let blocks = self.layers.last().map_or(FIRST, |newest| newest.len() * GROWTH);
        let is_full = self.bytes() + blocks * WORDS * size_of::<u64>() > self.limit;
        match self.layers.last_mut().filter(|_| is_full) {
            Some(newest) => newest.forget(),
            None => self.layers.push(Layer { blocks: vec![0; blocks * WORDS], runs: 0 }),
        }
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.layers.iter().map(|layer| size_of_val(&layer.blocks[..])).sum()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_number(out, self.layers.len() as u64)?;
        for layer in &self.layers {
            write_number(out, layer.runs as u64)?;
            write_array(out, &layer.blocks)?;
        }
        Ok(())
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.layers.clear();
        for _ in 0..read_number::<u64>(input)? {
            let runs = read_number::<u64>(input)?;
            let blocks: Vec<u64> = read_array(input)?;
            if blocks.is_empty() || !blocks.len().is_multiple_of(WORDS) {
                return Err(invalid("counts of runs that can't be read"));
            }
            self.layers.push(Layer { blocks, runs: usize::try_from(runs).unwrap_or(usize::MAX) });
        }
        Ok(())
    }
}

impl Layer {
    /// Returns the number of blocks.
    fn len(&self) -> usize {
        self.blocks.len() / WORDS
    }

    fn is_full(&self) -> bool {
        self.runs >= self.len() * RUNS_A_BLOCK
    }

    /// Returns where the counters of a run are.
    fn places(&self, run: u64) -> [Place; HASHES] {
        // The high bits choose the block, others the counters.
        let block = (((run >> 32) * self.len() as u64) >> 32) as usize;
        std::array::from_fn(|hash| {
            let counter = (run >> (7 * hash)) % COUNTERS;
            Place { word: block * WORDS + (counter / 16) as usize, shift: (counter % 16) as u32 * 4 }
        })
    }

    fn at(&self, place: Place) -> u8 {
        (self.blocks[place.word] >> place.shift) as u8 & MOST
    }

    fn count(&self, run: u64) -> u8 {
        self.places(run).into_iter().map(|place| self.at(place)).min().unwrap_or(0)
    }

    /// Raises the least counters of a run.
    fn add(&mut self, run: u64) {
        let (places, count) = (self.places(run), self.count(run));
        for place in places {
            if self.at(place) == count && count < MOST {
                self.blocks[place.word] += 1 << place.shift;
            }
        }
    }

    /// Sets counters of 1 to 0.
    fn forget(&mut self) {
        const LOWEST: u64 = 0x1111_1111_1111_1111;
        for counters in &mut self.blocks {
            let has_more = (*counters >> 1 | *counters >> 2 | *counters >> 3) & LOWEST;
            *counters &= !(LOWEST & !has_more);
        }
        self.runs = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(number: u64) -> u64 {
        (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    #[test]
    fn few_runs_look_more_frequent_than_they_are() {
        let mut counts = CommonRuns::new(usize::MAX);
        const RUNS: u64 = 600_000;
        (0..RUNS).for_each(|number| {
            counts.add(run(number));
        });
        assert!(counts.layers.len() > 2);
        let known: Vec<u64> = (0..RUNS).map(run).collect();
        let found = counts.counts(&known);
        assert!(found.iter().all(|count| *count >= 1));
        assert!(found.iter().filter(|count| **count > 1).count() < RUNS as usize / 6);
        let unknown: Vec<u64> = (RUNS..RUNS + 10_000).map(run).collect();
        assert!(counts.counts(&unknown).iter().filter(|count| **count > 0).count() < 3_000);
        assert!(counts.counts(&unknown).iter().all(|count| *count < 5));
    }

    #[test]
    fn beyond_the_limit_what_was_said_once_is_forgotten_and_the_rest_stays() {
        let mut counts = CommonRuns::new(FIRST * WORDS * 8);
        (0..5).for_each(|_| {
            counts.add(run(0));
        });
        let full = (FIRST * RUNS_A_BLOCK) as u64;
        (1..3 * full).for_each(|number| {
            counts.add(run(number));
        });
        assert_eq!(counts.bytes(), FIRST * WORDS * 8);
        let found = counts.counts(&(0..full).map(run).collect::<Vec<_>>());
        assert!(found[0] >= 5);
        assert!(found.iter().filter(|count| **count == 0).count() > full as usize / 2);
    }

    proptest! {
        #[test]
        fn a_count_is_never_too_low(numbers in prop::collection::vec(0u64..40, 0..300)) {
            let mut counts = CommonRuns::new(usize::MAX);
            let mut exact = std::collections::HashMap::<u64, u8>::new();
            for number in numbers {
                let known = exact.entry(number).or_default();
                *known = (*known + 1).min(MOST);
                prop_assert!(counts.add(run(number)) >= *known);
            }
            let mut bytes = Vec::new();
            counts.save(&mut bytes).unwrap();
            let mut loaded = CommonRuns::new(usize::MAX);
            loaded.load(&mut &bytes[..]).unwrap();
            for (number, known) in exact {
                prop_assert!(loaded.counts(&[run(number)])[0] >= known);
                prop_assert_eq!(loaded.counts(&[run(number)]), counts.counts(&[run(number)]));
            }
        }
    }
}
