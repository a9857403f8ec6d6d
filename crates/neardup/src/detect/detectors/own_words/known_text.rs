//! What documents of different subjects say.

use std::io::{self, Read, Write};

use super::common_runs::{CommonRuns, Counted};
use crate::model::RunningText;

/// Documents of different subjects that make a run common.
const COMMON: u8 = 5;
/// Documents of one name that have a run, and make the name that of the site. Editions of one page are fewer.
const COMMON_NAME: u8 = 8;

/// Which runs many documents say, and under which names they were said.
#[derive(Debug)]
pub(super) struct KnownText {
    runs: CommonRuns,
    /// Runs together with the name of their document.
    named: CommonRuns,
}

impl KnownText {
    /// Knows nothing yet, and takes at most `limit` bytes for what is not common.
    pub(super) fn new(limit: usize) -> Self {
        Self { runs: CommonRuns::new(limit / 2, COMMON), named: CommonRuns::new(limit / 2, COMMON_NAME) }
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
        if text.name.is_empty() {
            return self.runs.add(text.runs());
        }
        let name = text.name_hash();
        let (said, new): (Vec<_>, Vec<_>) = self.runs.count(text.runs()).into_iter().partition(Counted::is_known);
        // What nobody has said, nobody has said under this name.
        let named = self.named.count(said.iter().map(|counted| counted.run ^ name));
        let is_of_site = named.len() < said.len();
        let mut counted = said;
        if !is_of_site {
            let mut named = named.iter();
            counted.retain(|_| named.next().is_some_and(|named| !named.is_known()));
        }
        counted.extend(&new);
        let named_first = new.iter().map(|counted| Counted::never(counted.run ^ name));
        self.named.raise(named.into_iter().chain(named_first).collect());
        self.runs.raise(counted)
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
