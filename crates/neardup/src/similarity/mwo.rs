//! Minimum weight overlapping in integers.
//!
//! With `P = W_a · W_b` and `S = Σ min(c_a·W_b, c_b·W_a)`, MWO is `S / P`. It reaches `t` iff `S` reaches the *bar*,
//! the smallest integer with `10⁶ · bar ≥ (10⁶·t) · P`. `P` has at most 128 bits, and the bar is computed without
//! multiplying `P`, so nothing overflows for any two records.

use std::ops::{Add, Mul, Sub};

use super::Record;
use crate::model::{Score, Threshold};

const ONE: u128 = Threshold::ONE as u128;

const ZERO: Threshold = match Threshold::from_millionths(0) {
    Some(zero) => zero,
    None => panic!("0 is a threshold"),
};

/// Returns whether `MWO(a, b) ≥ threshold`, exactly; at 0, whether they share a term.
///
/// Cost: one merge of the two records, stopped as soon as either has lost more than it may.
pub fn reaches(a: &Record, b: &Record, threshold: Threshold) -> bool {
    score_reaching(a, b, threshold).is_some()
}

/// Returns `MWO(a, b)` in millionths, rounded down. Cost: one merge of the two records.
pub fn score(a: &Record, b: &Record) -> Score {
    score_reaching(a, b, ZERO).unwrap_or(Score(0))
}

/// Returns `MWO(a, b)` in millionths, rounded down, if it [reaches](reaches()) the threshold.
pub fn score_reaching(a: &Record, b: &Record, threshold: Threshold) -> Option<Score> {
    let product = u128::from(a.total()) * u128::from(b.total());
    let bar = bar(threshold, product);
    let slack = product.checked_sub(bar)?;
    // No product or sum in the merge exceeds W_a · W_b: where that fits 64 bits, they are enough.
    let sum = match (u64::try_from(product), u64::try_from(slack)) {
        (Ok(_), Ok(slack)) => u128::from(overlap(a, b, slack)?),
        _ => overlap(a, b, slack)?,
    };
    (sum >= bar).then(|| Score(millionths(sum, product)))
}

/// Returns the smallest overlap that reaches the threshold: `⌈t · product⌉`, and at least 1.
///
/// An overlap of nothing is no match. A product of 0 (a record without terms) stays below its bar.
fn bar(threshold: Threshold, product: u128) -> u128 {
    let t = u128::from(threshold.millionths());
    let whole = (product / ONE) * t;
    let rest = ((product % ONE) * t).div_ceil(ONE);
    (whole + rest).max(1)
}

/// Returns `⌊10⁶ · sum / product⌋` for `sum ≤ product`, `product > 0`.
fn millionths(sum: u128, product: u128) -> u32 {
    let exact = match sum.checked_mul(ONE) {
        Some(scaled) => scaled / product,
        // Too wide to scale: bisect for the largest threshold whose bar is reached.
        None => {
            let (mut reached, mut missed) = (0, Threshold::ONE + 1);
            while missed - reached > 1 {
                let middle = reached + (missed - reached) / 2;
                let below = Threshold::from_millionths(middle).is_some_and(|t| bar(t, product) <= sum);
                if below { reached = middle } else { missed = middle }
            }
            return reached;
        }
    };
    u32::try_from(exact).unwrap_or(Threshold::ONE)
}

/// Returns `Σ min(c_a·W_b, c_b·W_a)`, or `None` once more than `slack` is certainly missing from `W_a·W_b`.
///
/// Weight that only one record has is lost. Both sides lose the same by the end, so the first to lose more than
/// `slack` stops the merge. The newest terms come first: they tend to be rare and tell records apart soonest.
fn overlap<N>(a: &Record, b: &Record, slack: N) -> Option<N>
where
    N: Copy + Ord + From<u64> + Add<Output = N> + Sub<Output = N> + Mul<Output = N>,
{
    let (total_a, total_b) = (N::from(a.total()), N::from(b.total()));
    let (terms_a, terms_b) = (a.terms(), b.terms());
    let (mut left_a, mut left_b) = (terms_a.len(), terms_b.len());
    let (mut sum, mut lost_a, mut lost_b) = (N::from(0), N::from(0), N::from(0));
    while left_a > 0 && left_b > 0 {
        let ((term_a, count_a), (term_b, count_b)) = (terms_a[left_a - 1], terms_b[left_b - 1]);
        if term_a == term_b {
            let share_a = N::from(u64::from(count_a)) * total_b;
            let share_b = N::from(u64::from(count_b)) * total_a;
            let common = share_a.min(share_b);
            sum = sum + common;
            lost_a = lost_a + (share_a - common);
            lost_b = lost_b + (share_b - common);
            left_a -= 1;
            left_b -= 1;
        } else if term_a > term_b {
            lost_a = lost_a + N::from(u64::from(count_a)) * total_b;
            left_a -= 1;
        } else {
            lost_b = lost_b + N::from(u64::from(count_b)) * total_a;
            left_b -= 1;
        }
        if lost_a > slack || lost_b > slack {
            return None;
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::model::TermId;

    fn record(weights: &[(u32, u32)]) -> Record {
        Record::new(weights.iter().map(|&(term, weight)| (TermId(term), weight)).collect())
    }

    fn threshold(millionths: u32) -> Threshold {
        Threshold::from_millionths(millionths).unwrap()
    }

    /// The definition, word for word: (10⁶ · Σ min(c_a·W_b, c_b·W_a), W_a · W_b).
    fn definition(a: &Record, b: &Record) -> (u128, u128) {
        let b_weights: BTreeMap<_, _> = b.terms().iter().copied().collect();
        let (total_a, total_b) = (u128::from(a.total()), u128::from(b.total()));
        let common = |&(term, weight): &(TermId, u32)| {
            let other = b_weights.get(&term).copied().unwrap_or(0);
            (u128::from(weight) * total_b).min(u128::from(other) * total_a)
        };
        (1_000_000 * a.terms().iter().map(common).sum::<u128>(), total_a * total_b)
    }

    #[test]
    fn a_tie_at_exactly_the_threshold_is_reached_and_one_unit_less_is_not() {
        let a = record(&[(0, 500), (1, 500)]);
        for (shared, reached) in [(799, false), (800, true), (801, true)] {
            let b = record(&[(0, 500), (1, shared - 500), (2, 1000 - shared)]);
            assert_eq!(reaches(&a, &b, threshold(800_000)), reached, "{shared}");
            assert_eq!(score(&a, &b), Score(shared * 1000));
        }
    }

    #[test]
    fn a_third_is_never_rounded_up() {
        let (a, b) = (record(&[(0, 1), (1, 2)]), record(&[(0, 1), (2, 2)]));
        assert_eq!(score(&a, &b), Score(333_333));
        assert!(reaches(&a, &b, threshold(333_333)));
        assert!(!reaches(&a, &b, threshold(333_334)));
    }

    #[test]
    fn at_zero_any_shared_term_matches_and_nothing_shared_does_not() {
        let a = record(&[(0, 1), (1, u32::MAX)]);
        assert!(reaches(&a, &record(&[(0, 1), (2, u32::MAX)]), threshold(0)));
        assert!(!reaches(&a, &record(&[(2, 5)]), threshold(0)));
    }

    #[test]
    fn at_one_only_equal_proportions_match() {
        let a = record(&[(0, 1), (1, 2)]);
        assert!(reaches(&a, &record(&[(0, 50), (1, 100)]), threshold(1_000_000)));
        assert!(!reaches(&a, &record(&[(0, 50_000), (1, 100_001)]), threshold(1_000_000)));
    }

    #[test]
    fn a_record_without_terms_matches_nobody_not_even_itself() {
        let (none, some) = (record(&[]), record(&[(0, 1)]));
        for t in [0, 1, 1_000_000] {
            assert!(!reaches(&none, &none, threshold(t)));
            assert!(!reaches(&none, &some, threshold(t)));
            assert!(!reaches(&some, &none, threshold(t)));
        }
    }

    #[test]
    fn totals_beyond_64_bits_are_compared_exactly() {
        let heavy = |last| record(&[(0, u32::MAX), (1, u32::MAX), (2, u32::MAX), (3, last)]);
        let (a, b) = (heavy(u32::MAX), heavy(u32::MAX - 1));
        assert!(u64::try_from(u128::from(a.total()) * u128::from(b.total())).is_err());
        assert!(reaches(&a, &b, threshold(999_999)));
        assert!(!reaches(&a, &b, threshold(1_000_000)));
        assert_eq!(score(&a, &b), Score(999_999));
    }

    #[test]
    fn the_widest_products_are_scored_like_narrow_ones() {
        let product = u128::MAX;
        for t in [0, 1, 333_333, 800_000, 999_999, 1_000_000] {
            let bar = bar(threshold(t), product);
            assert_eq!(millionths(bar, product), t);
            if t > 1 {
                assert_eq!(millionths(bar - 1, product), t - 1);
            }
        }
    }

    fn any_record() -> impl Strategy<Value = Record> {
        let weight = prop_oneof![1u32..6, 1u32..10_000, Just(u32::MAX)];
        prop::collection::vec((0u32..12, weight), 0..12).prop_map(|terms| record(&terms))
    }

    /// Thirty-six hundreds thrown on a few terms.
    fn even_record() -> impl Strategy<Value = Record> {
        prop::collection::vec(0u32..8, 36)
            .prop_map(|terms| Record::new(terms.into_iter().map(|term| (TermId(term), 100)).collect()))
    }

    proptest! {
        #[test]
        fn the_verdict_is_the_definition(a in any_record(), b in any_record(), t in 0u32..=1_000_000) {
            let (scaled, product) = definition(&a, &b);
            let expected = scaled > 0 && scaled >= u128::from(t) * product;
            prop_assert_eq!(reaches(&a, &b, threshold(t)), expected);
            prop_assert_eq!(u128::from(score(&a, &b).0), scaled.checked_div(product).unwrap_or(0));
        }

        #[test]
        fn the_score_is_the_highest_threshold_reached(a in any_record(), b in any_record()) {
            let Score(score) = score(&a, &b);
            if score > 0 {
                prop_assert!(reaches(&a, &b, threshold(score)));
            }
            if score < 1_000_000 {
                prop_assert!(!reaches(&a, &b, threshold(score + 1)));
            }
        }

        #[test]
        fn similarity_is_one_less_half_the_distance_and_distances_keep_the_triangle(
            a in even_record(), b in even_record(), c in even_record(),
        ) {
            // All weigh 3,600, so that 10⁶ · MWO = 10⁶ − 10⁶ · L1 / 7,200 up to rounding down.
            let distance = |a: &Record, b: &Record| {
                let b: BTreeMap<_, _> = b.terms().iter().copied().collect();
                let of_a: u32 = a.terms().iter().map(|(term, w)| w.abs_diff(b.get(term).copied().unwrap_or(0))).sum();
                let of_b: u32 = b.iter().filter(|(term, _)| a.terms().iter().all(|(other, _)| other != *term)).map(|(_, w)| w).sum();
                of_a + of_b
            };
            let (ab, bc, ac) = (distance(&a, &b), distance(&b, &c), distance(&a, &c));
            prop_assert!(ac <= ab + bc);
            // Of records that share next to nothing, this product takes more than 32 bits.
            let lost = (1_000_000 * u64::from(ab)).div_ceil(7_200);
            prop_assert_eq!(u64::from(score(&a, &b).0), 1_000_000 - lost);
        }

        #[test]
        fn similarity_is_symmetric_and_a_record_equals_itself(a in any_record(), b in any_record()) {
            prop_assert_eq!(score(&a, &b), score(&b, &a));
            prop_assert_eq!(score(&a, &a).0 == 1_000_000, !a.is_empty());
        }
    }
}
