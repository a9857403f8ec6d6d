//! How many documents of different subjects say a run of words, in bounded memory.
//!
//! Runs that are not common yet are counted by a count-min sketch with conservative update (Estan and Varghese, "New
//! directions in traffic measurement and accounting"): a run has two counters of four bits in one block of a cache line,
//! and its count is the least of them. So a count is never too low, and too high where two other runs fall on its
//! counters. A layer takes [`RUNS_A_BLOCK`] runs a block; then one of four times the size is added, and a count is the sum
//! over all layers. Beyond the memory limit the newest layer forgets what one document alone has said ("lossy counting",
//! Manku and Motwani). Common runs are few, and stand in a set: whoever compares pages asks for nothing else.

use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Read, Write};

use hashbrown::HashSet;

use crate::model::arrays::{invalid, read_array, read_number, write_array, write_number};

/// Counters of a block: 4 bits each, 64 bytes together.
const COUNTERS: u64 = 128;
/// Words of 64 bits in a block.
const WORDS: usize = 8;
/// Counters of a run.
const HASHES: usize = 2;
/// The most that a counter counts. A run is common before.
const MOST: u8 = 15;
/// Distinct runs for which a block has room. In a full layer `(1 − e^(−48/128))²`, 10 in 100 runs that were never counted look
/// counted once.
const RUNS_A_BLOCK: usize = 24;
/// Blocks of the first layer: 128 KiB.
const FIRST: usize = 2_048;
/// The next layer has so many times the blocks.
const GROWTH: usize = 4;

/// Runs are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, run: u64) {
        self.0 = run;
    }
}

/// Builds [`AsItIs`].
pub(super) type OfRuns = BuildHasherDefault<AsItIs>;

/// Which runs many documents have, and counts of the others.
#[derive(Debug, Default)]
pub(super) struct CommonRuns {
    common: HashSet<u64, OfRuns>,
    layers: Vec<Layer>,
    /// The most memory, in bytes.
    limit: usize,
    /// Documents that make a run common.
    documents: u8,
}

#[derive(Debug, Default)]
struct Layer {
    blocks: Vec<u64>,
    /// Distinct runs that were counted here first.
    runs: usize,
}

/// How many documents have a run that is not common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) run: u64,
    in_all: u8,
    in_newest: u8,
}

impl Counted {
    pub(super) fn never(run: u64) -> Self {
        Self { run, in_all: 0, in_newest: 0 }
    }

    pub(super) fn is_known(&self) -> bool {
        self.in_all > 0
    }
}

/// A counter of a block.
#[derive(Clone, Copy)]
struct Place {
    word: usize,
    shift: u32,
}

impl CommonRuns {
    /// Creates counts that take at most `limit` bytes, but at least a first layer and what is common: what so many documents
    /// have.
    pub(super) fn new(limit: usize, documents: u8) -> Self {
        assert!((2..=MOST).contains(&documents), "a counter counts up to {MOST}");
        Self { limit, documents, ..Self::default() }
    }

    /// Returns whether many documents have the run.
    #[inline]
    pub(super) fn has(&self, run: u64) -> bool {
        self.common.contains(&run)
    }

    /// Counts the runs of a document, each once. Returns those that became common.
    pub(super) fn add(&mut self, runs: impl Iterator<Item = u64>) -> Vec<u64> {
        let counted = self.count(runs);
        self.raise(counted)
    }

    /// Returns how many documents have each run, in order; not those that are common.
    ///
    /// Cost: a read from anywhere in memory for each run and layer. Reads of several runs overlap.
    pub(super) fn count(&mut self, runs: impl Iterator<Item = u64>) -> Vec<Counted> {
        if self.layers.last().is_none_or(Layer::is_full) {
            self.make_room();
        }
        let mut counted: Vec<Counted> = runs.map(Counted::never).collect();
        for layer in &self.layers {
            for counted in &mut counted {
                counted.in_newest = layer.count(counted.run);
                counted.in_all += counted.in_newest;
            }
        }
        counted.retain(|counted| !self.is_common(counted));
        counted
    }

    /// Counts one document more for each run, given what [`count`](Self::count) returned. Returns those that became common.
    pub(super) fn raise(&mut self, counted: impl IntoIterator<Item = Counted>) -> Vec<u64> {
        let mut newly = Vec::new();
        for Counted { run, in_all, in_newest } in counted {
            if in_all + 1 < self.documents {
                self.raise_newest(run, in_newest + 1, in_all == 0);
            } else if self.common.insert(run) {
                newly.push(run);
            }
        }
        newly
    }

    /// Looks for a run in the set only where its counters tell that it may be there: of all that they counted until it became
    /// common, the newest layer may have forgotten one.
    fn is_common(&self, counted: &Counted) -> bool {
        counted.in_all + 2 >= self.documents && self.has(counted.run)
    }

    fn raise_newest(&mut self, run: u64, to: u8, is_new: bool) {
        if let Some(newest) = self.layers.last_mut() {
            let is_raised = newest.raise(run, to);
            newest.runs += usize::from(is_raised && is_new);
        }
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
        self.common.allocation_size() + self.layers.iter().map(|layer| size_of_val(&layer.blocks[..])).sum::<usize>()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut common: Vec<u64> = self.common.iter().copied().collect();
        common.sort_unstable();
        write_array(out, &common)?;
        write_number(out, self.layers.len() as u64)?;
        for layer in &self.layers {
            write_number(out, layer.runs as u64)?;
            write_array(out, &layer.blocks)?;
        }
        Ok(())
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.common = read_array::<u64>(input)?.into_iter().collect();
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

    /// Raises the counters of a run that are lower. Returns whether any was: a run may stand twice in a document.
    fn raise(&mut self, run: u64, to: u8) -> bool {
        let mut is_raised = false;
        for place in self.places(run) {
            let count = self.at(place);
            if count < to {
                self.blocks[place.word] += u64::from(to - count) << place.shift;
                is_raised = true;
            }
        }
        is_raised
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

    const COMMON: u8 = 5;

    fn run(number: u64) -> u64 {
        (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    #[test]
    fn few_runs_become_common_before_their_time() {
        let mut known = CommonRuns::new(usize::MAX, COMMON);
        const RUNS: u64 = 600_000;
        let say = |known: &mut CommonRuns| -> usize {
            (0..RUNS).step_by(1_000).map(|first| known.add((first..first + 1_000).map(run)).len()).sum()
        };
        // Most runs of most texts are said once, and hardly any more than twice.
        assert!(say(&mut known) + say(&mut known) < RUNS as usize / 1_000);
        assert!(known.layers.len() > 2);
        (3..=COMMON).for_each(|_| {
            say(&mut known);
        });
        assert_eq!(known.common.len(), RUNS as usize);
        assert!((RUNS..2 * RUNS).all(|number| !known.has(run(number))));
    }

    #[test]
    fn beyond_the_limit_what_was_said_once_is_forgotten_and_the_rest_stays() {
        let mut known = CommonRuns::new(FIRST * WORDS * 8, COMMON);
        let full = (FIRST * RUNS_A_BLOCK) as u64;
        (0..4).for_each(|_| {
            known.add([run(0)].into_iter());
        });
        (1..3 * full).for_each(|number| {
            known.add([run(number)].into_iter());
        });
        assert_eq!(known.bytes(), FIRST * WORDS * 8);
        let forgotten = (0..full).filter(|number| known.layers[0].count(run(*number)) == 0).count();
        assert!(forgotten > full as usize / 2);
        assert_eq!(known.add([run(0)].into_iter()), [run(0)]);
    }

    proptest! {
        #[test]
        fn no_run_becomes_common_too_late(documents in prop::collection::vec(prop::collection::vec(0u64..40, 0..30), 0..30)) {
            let mut known = CommonRuns::new(usize::MAX, COMMON);
            let mut exact = std::collections::HashMap::<u64, u8>::new();
            for document in documents {
                let distinct: std::collections::BTreeSet<u64> = document.iter().copied().collect();
                distinct.into_iter().for_each(|number| *exact.entry(number).or_default() += 1);
                known.add(document.into_iter().map(run));
            }
            let mut bytes = Vec::new();
            known.save(&mut bytes).unwrap();
            let mut loaded = CommonRuns::new(usize::MAX, COMMON);
            loaded.load(&mut &bytes[..]).unwrap();
            for (number, count) in exact {
                prop_assert!(known.has(run(number)) || count < COMMON);
                prop_assert_eq!(loaded.has(run(number)), known.has(run(number)));
            }
        }
    }
}
