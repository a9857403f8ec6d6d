//! The angle between two records, as vectors of term weights.
//!
//! `cos θ = Σ a_x·b_x / (|a|·|b|)`; weights are not negative, so angles end at 90 degrees.
//!
//! All sums are integers, and so is `|a|²·|b|² − (Σ a_x·b_x)²`, which is `|a|²·|b|²·sin² θ`. The angle is the arc
//! tangent of sine and cosine. Neither loses digits where pages are nearly the same, as the arc cosine does. Records
//! of equal proportions have an angle of exactly 0. The rest is one evaluation in 64-bit floating point, by a library
//! that gives the same digits on every machine; its error is about 10⁻¹⁵ of a half turn.

use std::cmp::Ordering;

use crate::model::{Score, Threshold};
use crate::similarity::Record;

/// Returns `1 − θ / 180°` in millionths, rounded down; `None` if no term is shared.
///
/// Records that share a term have at least 0.5. Only records of equal proportions have 1. Cost: one merge of the two
/// records.
pub(super) fn similarity(a: &Record, b: &Record) -> Option<Score> {
    let dot = dot(a, b);
    if dot == 0 {
        return None;
    }
    let (norms, square) = (U256::product(square(a), square(b)), U256::product(dot, dot));
    let sine = norms.less(square);
    if sine.is_zero() {
        return Some(Score(Threshold::ONE));
    }
    let half_turns = libm::atan2(libm::sqrt(sine.as_f64()), dot as f64) / std::f64::consts::PI;
    let millionths = libm::floor((1.0 - half_turns) * f64::from(Threshold::ONE)) as u32;
    Some(Score(millionths.min(Threshold::ONE - 1)))
}

/// Returns `Σ a_x²`. Below 2⁹⁶, since ids and weights have 32 bits.
pub(super) fn square(record: &Record) -> u128 {
    record.terms().iter().map(|&(_, weight)| u128::from(weight) * u128::from(weight)).sum()
}

fn dot(a: &Record, b: &Record) -> u128 {
    let (mut sum, mut rest) = (0, b.terms());
    for &(term, weight) in a.terms() {
        while let [(other, shared), after @ ..] = rest {
            match other.cmp(&term) {
                Ordering::Less => rest = after,
                Ordering::Equal => {
                    sum += u128::from(weight) * u128::from(*shared);
                    rest = after;
                    break;
                }
                Ordering::Greater => break,
            }
        }
    }
    sum
}

/// A 256-bit number: the product of two norms has up to 192 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct U256 {
    high: u128,
    low: u128,
}

impl U256 {
    fn product(a: u128, b: u128) -> Self {
        const HALF: u32 = 64;
        let split = |number: u128| (number >> HALF, number & u128::from(u64::MAX));
        let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
        let (low, first, second) = (a_low * b_low, a_low * b_high, a_high * b_low);
        let middle = (low >> HALF) + (first & u128::from(u64::MAX)) + (second & u128::from(u64::MAX));
        let high = a_high * b_high + (first >> HALF) + (second >> HALF) + (middle >> HALF);
        Self { high, low: middle << HALF | low & u128::from(u64::MAX) }
    }

    /// Returns the difference, or 0 if it is negative. Here it never is (Cauchy-Schwarz).
    fn less(self, other: Self) -> Self {
        let (low, borrowed) = self.low.overflowing_sub(other.low);
        let high = self.high.checked_sub(other.high).and_then(|high| high.checked_sub(u128::from(borrowed)));
        high.map_or(Self { high: 0, low: 0 }, |high| Self { high, low })
    }

    fn is_zero(self) -> bool {
        self == Self { high: 0, low: 0 }
    }

    fn as_f64(self) -> f64 {
        // 2⁶⁴ squared, since the largest 64-bit number is rounded to it.
        const HIGH: f64 = u64::MAX as f64 * u64::MAX as f64;
        self.high as f64 * HIGH + self.low as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TermId;

    fn record(weights: &[u32]) -> Record {
        Record::new((0..).map(TermId).zip(weights.iter().copied()).collect())
    }

    #[test]
    fn known_angles_have_their_scores() {
        for (a, b, score) in [
            (&[1, 0][..], &[1, 1][..], 750_000),
            (&[1, 1, 1], &[1, 1, 1], 1_000_000),
            (&[1, 2, 3], &[100, 200, 300], 1_000_000),
            // cos θ = √3 / 2.
            (&[1, 1, 1, 0], &[1, 1, 1, 1], 833_333),
            (&[1, 1, 0], &[0, 1, 1], 666_666),
        ] {
            let found = similarity(&record(a), &record(b)).unwrap();
            assert!(score - found.0 <= 1, "{a:?} {b:?}: {found:?}");
            assert_eq!(similarity(&record(b), &record(a)), Some(found));
        }
        assert_eq!(similarity(&record(&[1, 0]), &record(&[0, 1])), None);
        assert_eq!(similarity(&record(&[]), &record(&[])), None);
    }

    #[test]
    fn the_least_difference_is_told_from_none() {
        let heavy = |last| record(&[u32::MAX, u32::MAX, u32::MAX, last]);
        assert_eq!(similarity(&heavy(u32::MAX), &heavy(u32::MAX)), Some(Score(1_000_000)));
        assert_eq!(similarity(&heavy(u32::MAX), &heavy(u32::MAX - 1)), Some(Score(999_999)));
    }

    #[test]
    fn a_shared_term_is_never_beyond_a_right_angle() {
        let mut almost = vec![1];
        almost.extend([u32::MAX; 100]);
        let mut other = vec![0; 101];
        other[0] = 1;
        other.extend([u32::MAX; 100]);
        assert_eq!(similarity(&record(&almost), &record(&other)), Some(Score(500_000)));
    }

    #[test]
    fn wide_products_are_those_of_narrow_ones() {
        assert_eq!(U256::product(u128::MAX, u128::MAX), U256 { high: u128::MAX - 1, low: 1 });
        let product = U256::product(1 << 100, 3 << 60);
        assert_eq!(product, U256 { high: 3 << 32, low: 0 });
        assert_eq!(product.less(U256 { high: 0, low: 1 }), U256 { high: (3 << 32) - 1, low: u128::MAX });
        assert_eq!(product.as_f64(), 3.0 * 160_f64.exp2());
    }
}
