//! A record in one cache line: the second filter.
//!
//! Terms are thrown into 64 buckets; a bucket holds the mass of its terms in 1/2,048 of the record,
//! rounded up. For two records, `Σ min` over the buckets is no less than `Σ min` over the terms. A
//! bucket ends at 255; what is above (`excess`) is added up for the whole record. With each bucket
//! `p = p' + p''` so divided, `min(p, q) ≤ min(p', q') + min(p'', q'')`, so that
//!
//! ```text
//! 2048 · MWO  ≤  Σ min(p', q') + min(Σ p'', Σ q'')
//! ```
//!
//! Rounding costs about one and a half hundredths of similarity on average.

use super::units::WHOLE;
use crate::record::TermId;

const BUCKETS: usize = 64;

/// Units of [`WHOLE`] in one unit of a bucket.
const COARSER: u32 = (WHOLE + 1) / 2048;

/// The masses of 64 groups of terms. 66 bytes.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    buckets: [u8; BUCKETS],
    excess: u16,
}

impl Sketch {
    /// Sketches a record's shares.
    pub(super) fn new(shares: &[(TermId, u16)]) -> Self {
        let mut masses = [0u32; BUCKETS];
        for &(term, share) in shares {
            masses[bucket(term)] += u32::from(share);
        }
        let mut sketch = Self { buckets: [0; BUCKETS], excess: 0 };
        for (slot, mass) in sketch.buckets.iter_mut().zip(masses) {
            let units = mass.div_ceil(COARSER);
            *slot = u8::try_from(units).unwrap_or(u8::MAX);
            let above = u16::try_from(units - u32::from(*slot)).unwrap_or(u16::MAX);
            sketch.excess = sketch.excess.saturating_add(above);
        }
        sketch
    }

    /// An upper bound on the overlap of two records, in units of [`WHOLE`].
    pub(super) fn bound(&self, other: &Sketch) -> u32 {
        let common: u32 = self.buckets.iter().zip(&other.buckets).map(|(&p, &q)| u32::from(p.min(q))).sum();
        (common + u32::from(self.excess.min(other.excess))) * COARSER
    }
}

/// Multiplicative hashing: ids in a row go to different buckets.
fn bucket(term: TermId) -> usize {
    (term.0.wrapping_mul(0x9E37_79B1) >> 26) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::units::quantise;
    use super::*;

    fn shares(terms: &[(u32, u32)]) -> Vec<(TermId, u16)> {
        let distinct: std::collections::BTreeMap<_, _> = terms.iter().copied().collect();
        let terms: Vec<_> = distinct.into_iter().map(|(term, weight)| (TermId(term), weight)).collect();
        let mut shares = Vec::new();
        quantise(&terms, &mut shares);
        shares
    }

    #[test]
    fn a_record_of_one_term_is_bounded_through_its_excess() {
        let sketch = Sketch::new(&shares(&[(3, 1)]));
        assert!(sketch.bound(&sketch) >= WHOLE);
        assert_eq!(sketch.bound(&Sketch::new(&shares(&[(4, 1)]))), (2048 - 255) * COARSER);
    }

    #[test]
    fn records_without_a_common_bucket_are_bounded_by_nothing_but_excess() {
        let even = |from| (from..from + 20).map(|term| (term, 1)).collect::<Vec<_>>();
        let (a, b) = (Sketch::new(&shares(&even(0))), Sketch::new(&shares(&even(20))));
        assert!(a.bound(&b) < WHOLE / 2, "{}", a.bound(&b));
    }

    proptest! {
        #[test]
        fn the_bound_is_never_below_the_overlap(
            a in prop::collection::vec((0u32..200, 1u32..5_000), 1..60),
            b in prop::collection::vec((0u32..200, 1u32..5_000), 1..60),
        ) {
            let (a, b) = (shares(&a), shares(&b));
            let common = |&(term, share): &(TermId, u16)| {
                b.iter().find(|(other, _)| *other == term).map_or(0, |&(_, other)| u32::from(share.min(other)))
            };
            let overlap: u32 = a.iter().map(common).sum();
            prop_assert!(Sketch::new(&a).bound(&Sketch::new(&b)) >= overlap);
        }
    }
}
