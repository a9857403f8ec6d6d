//! *Which stored records could match?*
//!
//! A filter holds the terms of every stored record and answers a probe with *candidates*: few
//! records, each with a bound on its similarity, for exact verification. It never gives a verdict.
//!
//! | | [`InvertedIndex`] (default) | [`PrefixFilter`] |
//! |---|---|---|
//! | source | restates the paper's two ideas for weights | the paper's equations (1)-(3) to the letter |
//! | loses matches | never, at any threshold in [0, 1] | yes: it bounds the unweighted Jaccard similarity |
//! | one index serves | every threshold | every threshold |
//! | cost of a probe | some 10 µs at 40,000 records | a few ms there; for comparison only |
//!
//! Invariants: a filter does no I/O and knows no page, verdict or clock; what a probe answers
//! depends on the records inserted and nothing else, and a probe changes nothing. A record that is
//! no candidate is certain not to match (`Exact`), so whoever verifies the candidates sees everything.

mod inverted;
mod prefix_filter;

use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::model::{Score, Sequence, TermId, Threshold};

pub use inverted::InvertedIndex;
pub use prefix_filter::PrefixFilter;

/// Which filter selects the records that are verified.
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
    /// The name used on the command line and in output.
    pub fn name(self) -> &'static str {
        match self {
            FilterKind::Exact => "exact",
            FilterKind::Paper => "paper",
        }
    }

    /// An empty filter of this kind.
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
    /// Its similarity to the probe is no higher than this.
    pub at_most: Score,
}

/// What a probe cost. Sums over many probes are added up with [`ProbeCounters::add`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeCounters {
    /// Entries of inverted lists read.
    pub postings: u64,
    /// Sketches compared.
    pub sketches: u64,
    /// `|C|`, the candidate set: records left after the first filter (`Exact`: those whose
    /// accumulated bound reaches the threshold; `Paper`: those that share a prefix term).
    pub candidates: u64,
    /// `|M|`, the mezzanine set: records left after the second filter (`Exact`: the sketch;
    /// `Paper`: the positional filter). These are the candidates.
    pub mezzanine: u64,
    /// Records compared exactly, counted by whoever verifies.
    pub verifications: u64,
}

impl ProbeCounters {
    /// Adds another probe's counters.
    pub fn add(&mut self, other: ProbeCounters) {
        self.postings += other.postings;
        self.sketches += other.sketches;
        self.candidates += other.candidates;
        self.mezzanine += other.mezzanine;
        self.verifications += other.verifications;
    }
}

/// Is shown candidates and answers how to go on: with what threshold (no lower than before; what can't
/// reach it is not shown any more), or not at all.
pub type Visit<'a> = dyn FnMut(Candidate) -> ControlFlow<(), Threshold> + 'a;

/// A growing set of records that can be asked for those similar to a given one.
///
/// Terms come as pairs of id and positive weight, each term once, in any order; weights are in a
/// unit of the caller's choice that may differ from record to record, since only shares of the
/// record's total count. Term ids are small numbers: memory grows with the largest.
///
/// Probes only read, so that many threads can probe at once, each with a scratch of its own.
pub trait CandidateIndex: Send + Sync {
    /// Takes a record in. Probes see it from now on, as one of the *fresh* records.
    fn insert(&mut self, id: Sequence, terms: &[(TermId, u32)]);

    /// Files the fresh records where probes find them quickest. What a probe finds stays the same;
    /// the order in which it is shown may change.
    fn settle(&mut self);

    /// Shows `visit` each record that could reach the threshold, once. A record without terms has
    /// no candidates.
    ///
    /// First come records that are settled, in an order that depends on these alone, likely ones
    /// first; then the fresh ones in the order they came.
    fn probe(
        &self,
        scratch: &mut Scratch,
        terms: &[(TermId, u32)],
        threshold: Threshold,
        visit: &mut Visit<'_>,
    ) -> ProbeCounters;

    /// As [`probe`](CandidateIndex::probe), for the fresh records from the `from`th record on: the part that
    /// a probe made when there were `from` records has not seen.
    fn probe_fresh(
        &self,
        scratch: &mut Scratch,
        from: usize,
        terms: &[(TermId, u32)],
        threshold: Threshold,
        visit: &mut Visit<'_>,
    ) -> ProbeCounters;

    /// Whether a probe may be made in two parts: what it is shown of earlier records does not depend
    /// on fresh ones.
    fn probes_add_up(&self) -> bool;

    /// Bytes that the filter may take, from now on. Over it, the oldest records are kept in a form
    /// that is smaller and slower, and loses nothing. A filter may have no such form.
    fn set_budget(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Records that are kept in the smaller form.
    fn unlisted(&self) -> usize {
        0
    }

    /// Writes everything into a snapshot.
    ///
    /// # Errors
    /// Those of `out`.
    fn save(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Replaces everything by what [`save`](CandidateIndex::save) wrote.
    ///
    /// # Errors
    /// Those of `input`, and [`io::ErrorKind::InvalidData`] if it makes no sense.
    fn load(&mut self, input: &mut dyn Read) -> io::Result<()>;

    /// Records taken in.
    fn len(&self) -> usize;

    /// Whether no record was taken in.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory held, in bytes, estimated from capacities.
    fn bytes(&self) -> usize;
}

/// Memory that probes work in: one for each thread, for any filter.
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
