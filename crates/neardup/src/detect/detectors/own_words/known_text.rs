//! What documents of different subjects say.

use std::io::{self, Read, Write};

use super::common_runs::{CommonRuns, Counted};
use super::run_counts::RunCounts;
use crate::model::RunningText;

/// Documents of different subjects that make a run common.
const COMMON: u8 = 5;
/// Documents of one name that have a run, and make the name that of the site. Editions of one page are fewer.
const COMMON_NAME: u8 = 8;
/// Stands for no name.
const NAMELESS: u16 = 0;

/// Which runs many documents say, and under which names they were said.
#[derive(Debug)]
pub(super) struct KnownText {
    runs: CommonRuns,
    /// Runs that were said before, together with the name of the document that says them: how many of that name do. The first
    /// document of a run is not here, but its name stands beside the run.
    named: RunCounts,
}

impl KnownText {
    /// Knows nothing yet, and takes at most `limit` bytes for what is not common.
    pub(super) fn new(limit: usize) -> Self {
        Self { runs: CommonRuns::new(limit / 2, COMMON), named: RunCounts::new(limit / 2, COMMON_NAME) }
    }

    /// Returns which runs are common.
    pub(super) fn common(&self) -> &CommonRuns {
        &self.runs
    }

    /// Counts what a document says. Returns the runs that became common.
    ///
    /// A run counts once for each name, so an edition adds only what is new in it. A name that many documents have beside the
    /// same run does not tell them apart, so then all that they say counts for each.
    pub(super) fn learn(&mut self, text: &RunningText) -> Vec<u64> {
        let mut counted = self.runs.count(text.runs());
        if text.name.is_empty() {
            return self.runs.raise(counted, NAMELESS);
        }
        let name = text.name_hash();
        let of_name = self.count_name(&counted, name);
        if of_name.iter().all(|documents| *documents < COMMON_NAME) {
            let mut of_name = of_name.iter();
            counted.retain(|_| of_name.next() == Some(&0));
        }
        self.runs.raise(counted, short(name))
    }

    /// Returns how many documents of this name have each run, and counts this one.
    fn count_name(&mut self, counted: &[Counted], name: u64) -> Vec<u8> {
        self.named.make_room(counted.len());
        // What nobody has said, nobody has said under this name.
        let said = || counted.iter().filter(|counted| counted.known.count > 0);
        let later: Vec<u8> = said().map(|counted| self.named.get(counted.run ^ name).count).collect();
        for (Counted { run, .. }, later) in said().zip(&later) {
            self.named.raise(run ^ name, (later + 1).min(COMMON_NAME), NAMELESS);
        }
        let mut later = later.into_iter();
        let of_name = |Counted { known, .. }: &Counted| match known.count {
            0 => 0,
            _ => later.next().unwrap_or_default() + u8::from(known.first == short(name)),
        };
        counted.iter().map(of_name).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        self.runs.bytes() + self.named.bytes()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.runs.save(out)?;
        self.named.save(out)
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.runs.load(input)?;
        self.named.load(input)
    }
}

/// Returns what stands for a name beside a run.
fn short(name: u64) -> u16 {
    name as u16 | 1
}
