//! What documents of different subjects say, and which documents these are.

use std::io::{self, Read, Write};

use super::common_runs::CommonRuns;
use super::sample::smallest;
use crate::model::RunningText;

/// Documents of different subjects that make a run common.
const COMMON: u8 = 5;
/// Documents that make a name common together with a text. Editions of one page are fewer, and pages that have no name but that of
/// their site are more.
const COMMON_NAME: u8 = 8;
/// Runs that represent a page together with its name.
const SAMPLE: usize = 16;
/// One of so many of these in common makes a page an edition of another one.
const EDITION: usize = 8;
/// The share of the memory that is for names.
const NAMES: usize = 8;

/// Which runs many documents say, and under which names something was said.
#[derive(Debug)]
pub(super) struct KnownText {
    runs: CommonRuns,
    names: CommonRuns,
}

impl KnownText {
    /// Knows nothing yet, and takes at most `limit` bytes for what is not common.
    pub(super) fn new(limit: usize) -> Self {
        let names = limit / NAMES;
        Self { runs: CommonRuns::new(limit - names, COMMON), names: CommonRuns::new(names, COMMON_NAME) }
    }

    /// Returns which runs are common.
    pub(super) fn common(&self) -> &CommonRuns {
        &self.runs
    }

    /// Counts what a document says. Returns the runs that became common.
    ///
    /// An edition of a document that was counted says nothing new, so only its name is counted.
    pub(super) fn learn(&mut self, text: &RunningText) -> Vec<u64> {
        let named = named_sample(text);
        let common = if self.is_edition(&named) { Vec::new() } else { self.runs.add(text.runs()) };
        self.names.add(named.into_iter().flat_map(keys_of));
        common
    }

    /// Returns whether a page is another edition of one that was counted: it has its name, and a part of its text. A name that
    /// many documents have together with a text is not that of one of them.
    fn is_edition(&self, named: &[u64]) -> bool {
        let documents: Vec<u8> = named.iter().map(|run| self.documents(*run)).collect();
        let said = documents.iter().filter(|documents| **documents > 0).count();
        said > 0 && said * EDITION >= named.len() && documents.iter().all(|documents| *documents < COMMON_NAME)
    }

    /// Returns how many documents say a run under a name.
    fn documents(&self, named: u64) -> u8 {
        keys_of(named).into_iter().map(|key| self.names.count(key)).min().unwrap_or(0)
    }

    pub(super) fn bytes(&self) -> usize {
        self.runs.bytes() + self.names.bytes()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.runs.save(out)?;
        self.names.save(out)
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.runs.load(input)?;
        self.names.load(input)
    }
}

/// Returns some runs together with the name: two pages of one name that share much have several of them in common.
fn named_sample(text: &RunningText) -> Vec<u64> {
    let name = text.name_hash();
    let most = if text.name.is_empty() { 0 } else { SAMPLE };
    smallest(text.runs(), most).into_iter().map(|run| run ^ name).collect()
}

/// Returns the two keys of a run under a name. One in ten keys that were never counted looks counted, but hardly two of them.
fn keys_of(named: u64) -> [u64; 2] {
    [named, named.rotate_left(32)]
}
