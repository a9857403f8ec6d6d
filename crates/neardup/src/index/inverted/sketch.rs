//! A record in one cache line: the second filter.
//!
//! Terms are hashed into 64 buckets. A bucket holds the weight of its terms in 1/2,048 of the record, rounded up. For
//! two records, `Σ min` over the buckets is at least `Σ min` over the terms. A bucket ends at 255; the rest
//! (`excess`) is summed for the whole record. With each bucket divided as `p = p' + p''`, `min(p, q) ≤ min(p', q') +
//! min(p'', q'')`, so that
//!
//! ```text
//! 2048 · MWO  ≤  Σ min(p', q') + min(Σ p'', Σ q'')
//! ```
//!
//! Rounding costs about 0.015 of similarity on average.

use std::io::{self, Read, Write};

use super::memory::{heap_bytes, make_room};
use super::prefetch::prefetch;
use super::quantize::WHOLE;
use crate::model::TermId;
use crate::model::arrays::{read_array, write_array};

const BUCKETS: usize = 64;

/// Shares ([`WHOLE`] to a record) in one unit of a bucket.
const COARSER: u32 = (WHOLE + 1) / 2048;

/// The weights of 64 groups of terms.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    buckets: Buckets,
    excess: u16,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Buckets([u8; BUCKETS]);

/// The sketches of all records. 66 bytes a record.
#[derive(Debug, Default)]
pub(super) struct Sketches {
    buckets: Vec<Buckets>,
    /// Apart, so that buckets fill cache lines; most probes have no excess and need not look.
    excesses: Vec<u16>,
}

impl Sketch {
    /// Returns the sketch of a record's shares.
    pub(super) fn new(shares: &[(TermId, u16)]) -> Self {
        let mut masses = [0u32; BUCKETS];
        for &(term, share) in shares {
            masses[bucket(term)] += u32::from(share);
        }
        let mut buckets = Buckets([0; BUCKETS]);
        let mut excess = 0u16;
        for (slot, mass) in buckets.0.iter_mut().zip(masses) {
            let units = mass.div_ceil(COARSER);
            *slot = u8::try_from(units).unwrap_or(u8::MAX);
            let above = u16::try_from(units - u32::from(*slot)).unwrap_or(u16::MAX);
            excess = excess.saturating_add(above);
        }
        Self { buckets, excess }
    }
}

impl Sketches {
    /// Adds the sketch of the next record.
    pub(super) fn push(&mut self, sketch: &Sketch) {
        make_room(&mut self.buckets);
        self.buckets.push(sketch.buckets);
        make_room(&mut self.excesses);
        self.excesses.push(sketch.excess);
    }

    /// Prefetches a record's sketch.
    pub(super) fn prefetch(&self, record: usize) {
        prefetch(&self.buckets[record]);
    }

    /// Returns an upper bound on the overlap of a probe and a record, in units of [`WHOLE`].
    pub(super) fn bound(&self, probe: &Sketch, record: usize) -> u32 {
        let excess = if probe.excess == 0 { 0 } else { probe.excess.min(self.excesses[record]) };
        (common(&probe.buckets, &self.buckets[record]) + u32::from(excess)) * COARSER
    }

    /// Writes the sketches to a snapshot.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        write_array(out, &self.excesses)?;
        self.buckets.iter().try_for_each(|buckets| out.write_all(&buckets.0))
    }

    /// Reads what [`save`](Self::save) wrote.
    pub(super) fn load(input: &mut dyn Read) -> io::Result<Self> {
        let excesses = read_array(input)?;
        let mut buckets = vec![Buckets([0; BUCKETS]); excesses.len()];
        buckets.iter_mut().try_for_each(|buckets| input.read_exact(&mut buckets.0))?;
        Ok(Self { buckets, excesses })
    }

    pub(super) fn bytes(&self) -> usize {
        heap_bytes(&self.buckets) + heap_bytes(&self.excesses)
    }
}

/// Returns `Σ min`.
///
/// Sixteen lanes at a time, each sum within 16 bits: the compiler turns this shape into `pminub` and `psadbw`.
fn common(a: &Buckets, b: &Buckets) -> u32 {
    let lanes = a.0.chunks_exact(16).zip(b.0.chunks_exact(16));
    lanes.map(|(a, b)| u32::from(a.iter().zip(b).map(|(&p, &q)| u16::from(p.min(q))).sum::<u16>())).sum()
}

/// Hashes by multiplication: consecutive ids go to different buckets.
fn bucket(term: TermId) -> usize {
    (term.0.wrapping_mul(0x9E37_79B1) >> 26) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::quantize::shares_of;
    use super::*;

    fn shares(terms: &[(u32, u32)]) -> Vec<(TermId, u16)> {
        let distinct: std::collections::BTreeMap<_, _> = terms.iter().copied().collect();
        let terms: Vec<_> = distinct.into_iter().map(|(term, weight)| (TermId(term), weight)).collect();
        shares_of(&terms).collect()
    }

    fn bound(a: &[(TermId, u16)], b: &[(TermId, u16)]) -> u32 {
        let mut sketches = Sketches::default();
        sketches.push(&Sketch::new(b));
        sketches.bound(&Sketch::new(a), 0)
    }

    #[test]
    fn a_record_of_one_term_is_bounded_through_its_excess() {
        let one = shares(&[(3, 1)]);
        assert!(bound(&one, &one) >= WHOLE);
        assert_eq!(bound(&one, &shares(&[(4, 1)])), (2048 - 255) * COARSER);
    }

    #[test]
    fn records_without_a_common_bucket_are_bounded_by_nothing_but_excess() {
        let even = |from| shares(&(from..from + 20).map(|term| (term, 1)).collect::<Vec<_>>());
        assert!(bound(&even(0), &even(20)) < WHOLE / 2);
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
            prop_assert!(bound(&a, &b) >= overlap);
        }
    }
}
