//! A record's mass in 64 buckets of terms, in one cache line: an upper bound on similarity.

use ndcrawl::model::{TermId, Threshold};
use ndcrawl::similarity::Record;

const BUCKETS: usize = 64;
/// The total mass of a record. A bucket holds at most an eighth of it.
const WHOLE: u64 = 2048;

/// A sketch. Masses are rounded up, so that the bound stays valid.
#[derive(Clone, Debug)]
pub struct Sketch {
    masses: [u8; BUCKETS],
    /// Mass that did not fit into the buckets.
    excess: u16,
}

impl Sketch {
    pub fn new(record: &Record) -> Self {
        let mut weights = [0; BUCKETS];
        for &(term, weight) in record.terms() {
            weights[bucket(term)] += u64::from(weight);
        }
        let total = u128::from(record.total().max(1));
        let masses = weights.map(|weight| (u128::from(weight) * u128::from(WHOLE)).div_ceil(total) as u16);
        Self {
            masses: masses.map(|mass| mass.min(u8::MAX.into()) as u8),
            excess: masses.map(|mass| mass.saturating_sub(u8::MAX.into())).iter().sum(),
        }
    }

    /// Returns whether the records could reach the threshold.
    pub fn may_reach(&self, other: &Self, threshold: Threshold) -> bool {
        let common: u32 = self.masses.iter().zip(&other.masses).map(|(a, b)| u32::from(*a.min(b))).sum();
        let bound = common + u32::from(self.excess.min(other.excess));
        u64::from(bound) * u64::from(Threshold::ONE) >= WHOLE * u64::from(threshold.millionths())
    }
}

fn bucket(term: TermId) -> usize {
    (term.0.wrapping_mul(0x9E37_79B1) >> 26) as usize
}
