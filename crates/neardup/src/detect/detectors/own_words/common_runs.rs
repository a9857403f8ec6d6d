//! How many documents of different subjects say a run of words, in bounded memory.
//!
//! Common runs are few, and stand in a set: whoever compares pages asks for nothing else. Runs that are not common yet are
//! [counted](RunCounts). At the memory limit what one document alone has said is forgotten ("lossy counting", Manku and
//! Motwani), then what two have said, and so on.

use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Read, Write};

use hashbrown::HashSet;

use super::run_counts::RunCounts;
use crate::model::arrays::{read_array, write_array};

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
#[derive(Debug)]
pub(super) struct CommonRuns {
    common: HashSet<u64, OfRuns>,
    counts: RunCounts,
    /// The most memory for counts, in bytes.
    limit: usize,
    /// Documents that make a run common.
    documents: u8,
}

/// How many documents have a run that is not common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) run: u64,
    documents: u8,
}

impl Counted {
    pub(super) fn never(run: u64) -> Self {
        Self { run, documents: 0 }
    }

    pub(super) fn is_known(&self) -> bool {
        self.documents > 0
    }
}

impl CommonRuns {
    /// Creates counts that take at most `limit` bytes, but at least a first table. Common is what so many documents have.
    pub(super) fn new(limit: usize, documents: u8) -> Self {
        assert!((2..=RunCounts::HIGHEST).contains(&documents), "a counter counts up to {}", RunCounts::HIGHEST);
        Self { common: HashSet::default(), counts: RunCounts::default(), limit, documents }
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
    /// Cost: a read from anywhere in memory for each run. Reads of several runs overlap.
    pub(super) fn count(&self, runs: impl Iterator<Item = u64>) -> Vec<Counted> {
        let counted = runs.map(|run| Counted { run, documents: self.counts.get(run) });
        counted.filter(|counted| !self.is_common(counted)).collect()
    }

    /// Counts one document more for each run, given what [`count`](Self::count) returned. Returns those that became common.
    pub(super) fn raise(&mut self, counted: Vec<Counted>) -> Vec<u64> {
        self.make_room(counted.len());
        let mut newly = Vec::new();
        for Counted { run, documents } in counted {
            if documents + 1 < self.documents {
                self.counts.raise(run, documents + 1);
            } else if self.common.insert(run) {
                newly.push(run);
            }
        }
        newly
    }

    /// The counter of a common run stands below its last document, and is not forgotten.
    fn is_common(&self, counted: &Counted) -> bool {
        counted.documents + 1 >= self.documents && self.has(counted.run)
    }

    /// Makes room for so many runs: a larger table, and where that takes too much memory, less knowledge.
    fn make_room(&mut self, runs: usize) {
        while !self.counts.has_room_for(runs) && self.counts.bytes() * 2 <= self.limit {
            self.counts.grow();
        }
        if !self.counts.has_room_for(runs) {
            self.forget(runs + self.counts.capacity() / 4);
        }
    }

    /// Forgets what few documents have, until there is room for a while.
    fn forget(&mut self, runs: usize) {
        for documents in 2..self.documents {
            if !self.counts.has_room_for(runs) {
                self.counts.forget_below(documents);
            }
        }
        // What is left is common, which no limit bounds.
        while !self.counts.has_room_for(runs) {
            self.counts.grow();
        }
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.common.allocation_size() + self.counts.bytes()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut common: Vec<u64> = self.common.iter().copied().collect();
        common.sort_unstable();
        write_array(out, &common)?;
        self.counts.save(out)
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.common = read_array::<u64>(input)?.into_iter().collect();
        self.counts = RunCounts::load(input)?;
        Ok(())
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
        assert!(known.bytes() > 8 * RunCounts::default().bytes());
        (3..=COMMON).for_each(|_| {
            say(&mut known);
        });
        assert_eq!(known.common.len(), RUNS as usize);
        assert!((RUNS..2 * RUNS).all(|number| !known.has(run(number))));
    }

    #[test]
    fn beyond_the_limit_what_was_said_once_is_forgotten_and_the_rest_stays() {
        let limit = RunCounts::default().bytes();
        let mut known = CommonRuns::new(limit, COMMON);
        let full = known.counts.capacity() as u64;
        (0..4).for_each(|_| {
            known.add([run(0)].into_iter());
        });
        (1..3 * full).for_each(|number| {
            known.add([run(number)].into_iter());
        });
        assert_eq!(known.bytes(), limit);
        let forgotten = (0..full).filter(|number| known.counts.get(run(*number)) == 0).count();
        assert!(forgotten > full as usize / 2);
        assert_eq!(known.add([run(0)].into_iter()), [run(0)]);
    }

    #[test]
    fn what_is_common_stays_whatever_the_limit() {
        let mut known = CommonRuns::new(0, COMMON);
        let runs = 3 * known.counts.capacity() as u64;
        (0..COMMON).for_each(|_| {
            known.add((0..runs).map(run));
        });
        assert!((0..runs).all(|number| known.has(run(number))));
        assert!(known.add((0..runs).map(run)).is_empty());
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
