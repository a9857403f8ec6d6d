//! *Which stored records could match?*
//!
//! A [`CandidateIndex`] holds the terms of all stored records. A probe returns *candidates*: few records, each with
//! an upper bound on its similarity. The caller compares them exactly; the index never gives a verdict.
//!
//! | | [`InvertedIndex`] (default) | [`PrefixFilter`] |
//! |---|---|---|
//! | source | the paper's two ideas, restated for weights | the paper's equations (1) to (3), to the letter |
//! | loses matches | never, at any threshold in [0, 1] | yes: it bounds the unweighted Jaccard similarity |
//! | thresholds | one index serves all | one index serves all |
//! | cost of a probe | that of the postings read | a few ms there; for comparison only |
//!
//! [`RunIndex`] is the one of crawls that compare own words: it knows runs of words, not terms.
//!
//! Invariants: an index does no I/O of its own and knows no page, verdict or clock. The result of a probe depends on
//! the inserted records only. With `Exact`, a record that is no candidate certainly does not match.

mod inverted_index;
mod prefix_filter;
mod quantize;
mod run_index;

use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::model::{Score, Sequence, TermId, Threshold};

pub use inverted_index::InvertedIndex;
pub use prefix_filter::PrefixFilter;
#[cfg(test)]
pub(crate) use run_index::ONE_IN;
pub use run_index::{RunIndex, RunKeys};

/// Selects the index that finds candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilterKind {
    /// Loses no match: [`InvertedIndex`].
    #[default]
    Exact,
    /// As published: [`PrefixFilter`].
    Paper,
}

impl FilterKind {
    /// Returns the name used on the command line and in output.
    pub fn name(self) -> &'static str {
        match self {
            FilterKind::Exact => "exact",
            FilterKind::Paper => "paper",
        }
    }

    /// Creates an empty index of this kind.
    pub fn build(self) -> Box<dyn CandidateIndex> {
        match self {
            FilterKind::Exact => Box::new(InvertedIndex::default()),
            FilterKind::Paper => Box::new(PrefixFilter::default()),
        }
    }
}

/// A stored record that could match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The record.
    pub id: Sequence,
    /// An upper bound on its similarity to the probe.
    pub at_most: Score,
}

/// Counters of the work of one probe, or sums of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeCounters {
    /// Postings read.
    pub postings: u64,
    /// `|C|`, the candidate set: records left after the first filter. `Exact`: the bound reaches the threshold. `Paper`:
    /// they share a prefix term.
    pub candidates: u64,
    /// `|M|`, the mezzanine set: records left after the second filter. `Exact`: the bound still reaches it after more
    /// lists. `Paper`: the positional filter. The caller sees these.
    pub mezzanine: u64,
    /// Records compared exactly; the caller counts them.
    pub verifications: u64,
}

impl ProbeCounters {
    /// Adds the counters of another probe.
    pub fn add(&mut self, other: ProbeCounters) {
        self.postings += other.postings;
        self.candidates += other.candidates;
        self.mezzanine += other.mezzanine;
        self.verifications += other.verifications;
    }
}

/// Receives candidates and decides how to go on.
///
/// `Continue` carries the threshold for the rest, no lower than before; candidates below it are left out. `Break`
/// ends the probe.
pub type Visit<'a> = dyn FnMut(Candidate) -> ControlFlow<(), Threshold> + 'a;

/// A growing set of records that finds candidates for a given record.
///
/// Terms are pairs of id and positive weight, each term once, in any order. Weights have a unit of the caller's
/// choice, which may differ from record to record: only shares of the record's total count. Term ids should be small:
/// memory grows with the largest.
///
/// Probes only read, so many threads can probe at once.
pub trait CandidateIndex: Send + Sync {
    /// Adds a record. Probes see it from now on.
    fn insert(&mut self, id: Sequence, terms: &[(TermId, u32)]);

    /// Passes each record that could reach the threshold to `visit`, once, likely ones first. A record without terms has no
    /// candidates.
    fn probe(&self, terms: &[(TermId, u32)], threshold: Threshold, visit: &mut Visit<'_>) -> ProbeCounters;

    /// Writes the index to a snapshot.
    ///
    /// # Errors
    /// Those of `out`.
    fn save(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Replaces the index by what [`save`](CandidateIndex::save) wrote.
    ///
    /// # Errors
    /// Those of `input`, and [`io::ErrorKind::InvalidData`] for data that [`save`](CandidateIndex::save) did not write.
    fn load(&mut self, input: &mut dyn Read) -> io::Result<()>;

    /// Returns the number of records.
    fn len(&self) -> usize;

    /// Returns whether the index holds no record.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory held, in bytes, estimated from capacities.
    fn bytes(&self) -> usize;
}

#[cfg(test)]
mod tests;
