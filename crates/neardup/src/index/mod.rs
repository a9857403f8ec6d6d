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
//! | cost of a probe | about 10 µs at 40,000 records | a few ms there; for comparison only |
//!
//! Lifecycle: [`insert`](CandidateIndex::insert) adds a record as *unfiled*; [`file_records`](CandidateIndex::file_records) files
//! these records where probes find them fastest; [`probe`](CandidateIndex::probe) and [`save`](CandidateIndex::save)
//! only read.
//!
//! Invariants: an index does no I/O of its own and knows no page, verdict or clock. The result of a probe depends on
//! the inserted records only. With `Exact`, a record that is no candidate certainly does not match.

mod inverted;
mod prefix_filter;
mod run_index;

use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::model::{Score, Sequence, TermId, Threshold};

pub use inverted::InvertedIndex;
pub use prefix_filter::PrefixFilter;
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
    /// Sketches compared.
    pub sketches: u64,
    /// `|C|`, the candidate set: records left after the first filter. `Exact`: the accumulated bound reaches the
    /// threshold. `Paper`: they share a prefix term.
    pub candidates: u64,
    /// `|M|`, the mezzanine set: records left after the second filter. `Exact`: the sketch. `Paper`: the positional
    /// filter. The caller sees these.
    pub mezzanine: u64,
    /// Records compared exactly; the caller counts them.
    pub verifications: u64,
}

impl ProbeCounters {
    /// Adds the counters of another probe.
    pub fn add(&mut self, other: ProbeCounters) {
        self.postings += other.postings;
        self.sketches += other.sketches;
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
/// Probes only read, so many threads can probe at once, each with its own [`Scratch`].
pub trait CandidateIndex: Send + Sync {
    /// Adds a record. Probes see it from now on, among the *unfiled* records.
    fn insert(&mut self, id: Sequence, terms: &[(TermId, u32)]);

    /// Files the unfiled records where probes find them fastest. The candidates stay the same; their order may
    /// change.
    fn file_records(&mut self);

    /// Passes each record that could reach the threshold to `visit`, once. A record without terms has no candidates.
    ///
    /// Filed records come first, likely ones before others, in an order that depends on the filed records only.
    /// Unfiled records follow in the order of insertion.
    fn probe(
        &self,
        scratch: &mut Scratch,
        terms: &[(TermId, u32)],
        threshold: Threshold,
        visit: &mut Visit<'_>,
    ) -> ProbeCounters;

    /// Probes only the records from number `from` on, in the order of insertion.
    ///
    /// This completes a probe made when the index held `from` records. `Exact` compares each by sketch, at some ten
    /// nanoseconds: for thousands of records a whole probe takes less time.
    fn probe_since(
        &self,
        scratch: &mut Scratch,
        from: usize,
        terms: &[(TermId, u32)],
        threshold: Threshold,
        visit: &mut Visit<'_>,
    ) -> ProbeCounters;

    /// Returns whether a probe may be made in two parts: later records do not change what it finds among the earlier
    /// ones.
    fn can_split_probes(&self) -> bool;

    /// Limits the memory of the index, in bytes.
    ///
    /// Above the limit the oldest records are kept in a smaller and slower form, which loses nothing. An index
    /// without such a form ignores the limit.
    fn set_memory_limit(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Returns how many records are kept in the smaller form.
    fn sketch_only(&self) -> usize {
        0
    }

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

/// Working memory of probes: one for each thread, for any index.
#[derive(Debug, Default)]
pub struct Scratch {
    exact: inverted::Scratch,
}

#[cfg(test)]
impl Scratch {
    fn is_clear(&self) -> bool {
        self.exact.is_clear()
    }
}

#[cfg(test)]
mod tests;
