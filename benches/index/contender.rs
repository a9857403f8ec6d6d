//! What is measured: ways to find the stored records that are similar to a given one.

use ndcrawl::model::{Sequence, Threshold};
use ndcrawl::similarity::Record;

use crate::brute::{Early, Plain};
use crate::lsh::lsh;
use crate::ours::Ours;
use crate::prefix::Prefix;

/// What probes cost, in things that can be counted on every machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Entries of inverted lists read; for MinHash, buckets.
    pub postings: u64,
    pub sketches: u64,
    /// Records left after the first filter.
    pub candidates: u64,
    /// Records compared term by term.
    pub verifications: u64,
}

impl Cost {
    pub fn add(&mut self, other: Cost) {
        self.postings += other.postings;
        self.sketches += other.sketches;
        self.candidates += other.candidates;
        self.verifications += other.verifications;
    }
}

/// A store of records with a way to search it.
///
/// All records lie in memory beside the contender, which knows them by number: what a comparison
/// costs is the same for all, and `bytes` is what the way to search takes beyond the records.
pub trait Contender {
    /// Takes a record in.
    fn insert(&mut self, id: Sequence);

    /// Replaces `found` by the stored records that reach the threshold.
    fn probe(&mut self, probe: &Record, threshold: Threshold, found: &mut Vec<Sequence>) -> Cost;

    /// The crawler's task: names a stored record that reaches the threshold, whichever is found
    /// first, or takes the record in.
    fn admit(&mut self, id: Sequence, threshold: Threshold) -> (Option<Sequence>, Cost);

    fn bytes(&self) -> usize;
}

/// What takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ours,
    Prefix,
    PrefixSketch,
    Lsh16x8,
    Lsh21x6,
    Early,
    Plain,
}

impl Kind {
    pub const ALL: [Kind; 7] =
        [Kind::Ours, Kind::PrefixSketch, Kind::Prefix, Kind::Lsh16x8, Kind::Lsh21x6, Kind::Early, Kind::Plain];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Ours => "ndcrawl",
            Kind::Prefix => "prefix",
            Kind::PrefixSketch => "prefix+sketch",
            Kind::Lsh16x8 => "gaoya 16x8",
            Kind::Lsh21x6 => "gaoya 21x6",
            Kind::Early => "brute, early end",
            Kind::Plain => "brute, plain",
        }
    }

    /// How it is called on the command line.
    pub fn option(self) -> &'static str {
        match self {
            Kind::Ours => "ours",
            Kind::Prefix => "prefix",
            Kind::PrefixSketch => "sketch",
            Kind::Lsh16x8 => "lsh16x8",
            Kind::Lsh21x6 => "lsh21x6",
            Kind::Early => "early",
            Kind::Plain => "plain",
        }
    }

    /// Whether what it is built of depends on the threshold.
    pub fn is_built_for_one_threshold(self) -> bool {
        matches!(self, Kind::Prefix | Kind::PrefixSketch)
    }

    /// Whether it looks at every stored record, so that only a few probes can be afforded.
    pub fn is_brute(self) -> bool {
        matches!(self, Kind::Early | Kind::Plain)
    }

    pub fn is_lsh(self) -> bool {
        matches!(self, Kind::Lsh16x8 | Kind::Lsh21x6)
    }

    /// An empty store over these records.
    pub fn build(self, records: &[Record], threshold: Threshold) -> Box<dyn Contender + '_> {
        match self {
            Kind::Ours => Box::new(Ours::new(records)),
            Kind::Prefix => Box::new(Prefix::new(records, threshold, false)),
            Kind::PrefixSketch => Box::new(Prefix::new(records, threshold, true)),
            Kind::Lsh16x8 => Box::new(lsh(records, 16, 8)),
            Kind::Lsh21x6 => Box::new(lsh(records, 21, 6)),
            Kind::Early => Box::new(Early::new(records)),
            Kind::Plain => Box::new(Plain::new(records)),
        }
    }
}
