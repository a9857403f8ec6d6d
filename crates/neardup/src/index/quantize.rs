//! Shares of a record's weight as 16-bit integers that serve as bounds.
//!
//! A share is rounded *up* to 1/65,535 of its record. With `q_x = ⌈65535 · c_x / W⌉`, `65535 · MWO(a, b) ≤ Σ
//! min(q_x(a), q_x(b))`. The right side is an integer, so `MWO ≥ t` implies
//!
//! ```text
//! Σ min(q_x(a), q_x(b))  ≥  ⌈65535 · t⌉  =:  goal
//! ```
//!
//! Every bound of this room is an upper bound on that sum, compared with that goal. Rounded-up shares add up to more
//! than 65,535, by less than one a term. So sums have 32 bits: enough for 2³² − 65,536 terms, more than a record can
//! have.
//!
//! | symbol | meaning |
//! |---|---|
//! | `c_x`, `W` | weight of term `x`; total weight of the record |
//! | `q_x` | share of term `x`, in 1/65,535, rounded up |
//! | `t`, `goal` | threshold; the sum of shares that it requires |

use crate::model::{Score, TermId, Threshold};

/// The sum of a record's shares before rounding.
pub(super) const WHOLE: u32 = 65_535;

/// Returns the shares of `terms`, rounded up. All are at least 1.
pub(super) fn shares_of(terms: &[(TermId, u32)]) -> impl Iterator<Item = (TermId, u16)> {
    let total: u64 = terms.iter().map(|&(_, weight)| u64::from(weight)).sum();
    terms.iter().map(move |&(term, weight)| (term, share_of(weight, total)))
}

/// Returns `⌈65535 · weight / total⌉`. `total` must not be below `weight`; 0 stands for no weight at all.
///
/// Floating-point division is several times as fast. Both numbers are exact in it, except totals from 2⁵³ on, for
/// which the quotient is 0 anyway. The quotient is the share or one less; the product tells which.
fn share_of(weight: u32, total: u64) -> u16 {
    let scaled = u64::from(weight) * u64::from(WHOLE);
    let quotient = (scaled as f64 / total as f64) as u32;
    let share = quotient + u32::from(u64::from(quotient) * total < scaled);
    share.min(WHOLE) as u16
}

/// Returns the bound that a candidate must reach. At least 1: a record that shares nothing is no candidate.
pub(super) fn goal(threshold: Threshold) -> u32 {
    let scaled = u64::from(WHOLE) * u64::from(threshold.millionths());
    let goal = scaled.div_ceil(u64::from(Threshold::ONE)).max(1);
    u32::try_from(goal).unwrap_or(WHOLE)
}

/// Converts a bound to a score. A score is MWO rounded down, so the bound may be rounded down too.
pub(super) fn at_most(bound: u32) -> Score {
    let millionths = u64::from(bound) * u64::from(Threshold::ONE) / u64::from(WHOLE);
    Score(u32::try_from(millionths).map_or(Threshold::ONE, |m| m.min(Threshold::ONE)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_are_rounded_up_and_never_vanish() {
        let of = |terms: &[(TermId, u32)]| shares_of(terms).collect::<Vec<_>>();
        let shares = of(&[(TermId(4), 1), (TermId(1), u32::MAX), (TermId(2), u32::MAX)]);
        assert_eq!(shares, [(TermId(4), 1), (TermId(1), 32_768), (TermId(2), 32_768)]);
        assert_eq!(of(&[(TermId(0), 3)]), [(TermId(0), 65_535)]);
    }

    #[test]
    fn goals_are_rounded_up_and_bounds_as_scores_down() {
        let at = |millionths| goal(Threshold::from_millionths(millionths).unwrap());
        assert_eq!([at(0), at(1), at(500_000), at(1_000_000)], [1, 1, 32_768, 65_535]);
        assert_eq!(at_most(0), Score(0));
        assert_eq!(at_most(32_768), Score(500_007));
        assert_eq!(at_most(70_000), Score(1_000_000));
    }

    proptest! {
        #[test]
        fn shares_are_those_of_whole_numbers(
            weight in prop_oneof![0..100u32, any::<u32>()],
            others in prop_oneof![0..200_000u64, any::<u32>().prop_map(u64::from), 0..1u64 << 60],
        ) {
            // Also where one number divides the other, and next to it.
            let near = u64::from(weight) * (others % 70_000);
            for total in [others, near, near + 1].map(|total| total.max(weight.into()).max(1)) {
                let exact = (u64::from(weight) * u64::from(WHOLE)).div_ceil(total);
                prop_assert_eq!(u64::from(share_of(weight, total)), exact);
            }
        }
    }
}
