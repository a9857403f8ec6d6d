//! The contenders: methods to find stored records similar to a given one.

use ndcrawl::model::{Sequence, Threshold};
use ndcrawl::similarity::Record;

use crate::brute::{Early, Plain};
use crate::lsh::lsh;
use crate::ours::Ours;
use crate::prefix::Prefix;

/// Machine-independent costs of probes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Postings read; for MinHash, buckets.
    pub postings: u64,
    pub sketches: u64,
    /// Candidates after the first filter.
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

/// A searchable store of records.
///
/// All contenders share the records in memory and refer to them by number. So comparisons cost the same for all, and
/// `bytes` is the memory of the search structure alone.
pub trait Contender {
    /// Inserts a record.
    fn insert(&mut self, id: Sequence);

    /// Writes the stored records that reach the threshold to `found`.
    fn probe(&mut self, probe: &Record, threshold: Threshold, found: &mut Vec<Sequence>) -> Cost;

    /// Returns the first stored record found that reaches the threshold, or inserts the record, as a crawl does.
    fn admit(&mut self, id: Sequence, threshold: Threshold) -> (Option<Sequence>, Cost);

    fn bytes(&self) -> usize;
}

/// The kinds of contenders.
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

    /// Returns the name on the command line.
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

    /// Returns whether its structure depends on the threshold.
    pub fn is_built_for_one_threshold(self) -> bool {
        matches!(self, Kind::Prefix | Kind::PrefixSketch)
    }

    /// Returns whether it scans every stored record, so that only a few probes are affordable.
    pub fn is_brute(self) -> bool {
        matches!(self, Kind::Early | Kind::Plain)
    }

    pub fn is_lsh(self) -> bool {
        matches!(self, Kind::Lsh16x8 | Kind::Lsh21x6)
    }

    /// Returns an empty store over these records.
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
