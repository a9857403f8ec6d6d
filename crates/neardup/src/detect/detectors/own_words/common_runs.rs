//! How many documents of different subjects say a run of words.
//!
//! Common runs are few, and stand in a set: whoever compares pages asks for nothing else. Runs that are not common yet are
//! [counted](RunCounts).

use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Read, Write};

use hashbrown::HashSet;

use super::run_counts::{Count, RunCounts};
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
    /// Documents that make a run common.
    documents: u8,
}

/// A run that is not common, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) run: u64,
    pub(super) known: Count,
}

impl CommonRuns {
    /// Creates counts that take at most `limit` bytes, beside what is common: what so many documents have.
    pub(super) fn new(limit: usize, documents: u8) -> Self {
        // The counter of a common run stands below its last document.
        Self { common: HashSet::default(), counts: RunCounts::new(limit, documents - 1), documents }
    }

    /// Returns whether many documents have the run.
    #[inline]
    pub(super) fn has(&self, run: u64) -> bool {
        self.common.contains(&run)
    }

    /// Returns what is known of each run, in order; not of those that are common.
    pub(super) fn count(&self, runs: impl Iterator<Item = u64>) -> Vec<Counted> {
        let runs: Vec<u64> = runs.collect();
        self.counts.fetch(&runs);
        let counted = runs.into_iter().map(|run| Counted { run, known: self.counts.get(run) });
        counted.filter(|counted| counted.known.count + 1 < self.documents || !self.has(counted.run)).collect()
    }

    /// Counts one document more for each run, under a name, given what [`count`](Self::count) returned; a run that stands
    /// there twice counts once. Returns those that became common.
    pub(super) fn raise(&mut self, counted: Vec<Counted>, name: u16) -> Vec<u64> {
        self.counts.make_room(counted.len());
        let mut newly = Vec::new();
        for Counted { run, known } in counted {
            if known.count + 1 < self.documents {
                self.counts.raise(run, known.count + 1, name);
            } else if self.common.insert(run) {
                newly.push(run);
            }
        }
        newly
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
        self.counts.load(input)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMMON: u8 = 5;

    /// Counts a document without name.
    fn add(known: &mut CommonRuns, runs: impl Iterator<Item = u64>) -> Vec<u64> {
        let counted = known.count(runs);
        known.raise(counted, 0)
    }

    fn run(number: u64) -> u64 {
        (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    #[test]
    fn few_runs_become_common_before_their_time() {
        let mut known = CommonRuns::new(usize::MAX, COMMON);
        const RUNS: u64 = 600_000;
        let say = |known: &mut CommonRuns| -> usize {
            (0..RUNS).step_by(1_000).map(|first| add(known, (first..first + 1_000).map(run)).len()).sum()
        };
        // Most runs of most texts are said once, and hardly any more than twice.
        assert!(say(&mut known) + say(&mut known) < RUNS as usize / 1_000);
        assert!(known.bytes() > 8 * CommonRuns::new(0, COMMON).bytes());
        (3..=COMMON).for_each(|_| {
            say(&mut known);
        });
        assert_eq!(known.common.len(), RUNS as usize);
        assert!((RUNS..2 * RUNS).all(|number| !known.has(run(number))));
    }

    #[test]
    fn beyond_the_limit_what_was_said_once_is_forgotten_and_the_rest_stays() {
        let limit = CommonRuns::new(0, COMMON).bytes();
        let mut known = CommonRuns::new(limit, COMMON);
        let full = known.counts.capacity() as u64;
        (0..4).for_each(|_| {
            add(&mut known, [run(0)].into_iter());
        });
        (1..3 * full).for_each(|number| {
            add(&mut known, [run(number)].into_iter());
        });
        assert_eq!(known.bytes(), limit);
        let forgotten = (0..full).filter(|number| known.counts.get(run(*number)).count == 0).count();
        assert!(forgotten > full as usize / 2);
        assert_eq!(add(&mut known, [run(0)].into_iter()), [run(0)]);
    }

    #[test]
    fn what_is_common_stays_whatever_the_limit() {
        let mut known = CommonRuns::new(0, COMMON);
        let runs = 3 * known.counts.capacity() as u64;
        (0..COMMON).for_each(|_| {
            add(&mut known, (0..runs).map(run));
        });
        assert!((0..runs).all(|number| known.has(run(number))));
        assert!(add(&mut known, (0..runs).map(run)).is_empty());
    }

    proptest! {
        #[test]
        fn no_run_becomes_common_too_late(documents in prop::collection::vec(prop::collection::vec(0u64..40, 0..30), 0..30)) {
            let mut known = CommonRuns::new(usize::MAX, COMMON);
            let mut exact = std::collections::HashMap::<u64, u8>::new();
            for document in documents {
                let distinct: std::collections::BTreeSet<u64> = document.iter().copied().collect();
                distinct.into_iter().for_each(|number| *exact.entry(number).or_default() += 1);
                add(&mut known, document.into_iter().map(run));
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
