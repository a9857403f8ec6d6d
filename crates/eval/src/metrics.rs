//! Confusion matrix, precision, recall and F1, with confidence intervals.
//!
//! | measure | definition | interval |
//! |---|---|---|
//! | precision | tp / (tp + fp) | Wilson, 95% |
//! | recall | tp / (tp + fn) | Wilson, 95% |
//! | F1 | 2 tp / (2 tp + fp + fn) | from Wilson's interval for J = tp / (tp + fp + fn) |
//!
//! F1 is not a proportion, but `F1 = 2 J / (1 + J)`, where `J` is the share of true positives among pairs that are
//! duplicates or are called so. F1 rises with `J`, so the ends of an interval for `J` map to the ends of one for F1. No
//! resampling is needed.
//!
//! All intervals assume independent pairs. Pairs that share a page or a template are not independent, so the true
//! intervals are somewhat wider.

use serde::Serialize;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A confusion matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// True positives.
    pub tp: usize,
    /// False positives.
    pub fp: usize,
    /// False negatives.
    #[serde(rename = "fn")]
    pub missed: usize,
    /// True negatives.
    pub tn: usize,
}

/// A share with its confidence interval. `None` without data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The share.
    pub value: Option<f64>,
    /// The 95% interval.
    pub interval: Option<(f64, f64)>,
}

impl Counts {
    /// Counts one answer.
    pub fn add(&mut self, expected: bool, called: bool) {
        *match (expected, called) {
            (true, true) => &mut self.tp,
            (false, true) => &mut self.fp,
            (true, false) => &mut self.missed,
            (false, false) => &mut self.tn,
        } += 1;
    }

    /// Returns the number of answers.
    pub fn total(&self) -> usize {
        self.tp + self.fp + self.missed + self.tn
    }

    /// Returns the precision.
    pub fn precision(&self) -> Estimate {
        Estimate::share(self.tp, self.tp + self.fp)
    }

    /// Returns the recall.
    pub fn recall(&self) -> Estimate {
        Estimate::share(self.tp, self.tp + self.missed)
    }

    /// Returns F1, the harmonic mean of precision and recall.
    pub fn f1(&self) -> Estimate {
        let of_share = |share: f64| 2.0 * share / (1.0 + share);
        let Estimate { value, interval } = Estimate::share(self.tp, self.tp + self.fp + self.missed);
        Estimate { value: value.map(of_share), interval: interval.map(|(low, high)| (of_share(low), of_share(high))) }
    }
}

impl Estimate {
    /// Returns the share of successes, with Wilson's interval.
    pub fn share(successes: usize, trials: usize) -> Self {
        let value = (trials > 0).then(|| successes as f64 / trials as f64);
        Self { value, interval: wilson(successes, trials) }
    }
}

/// Returns Wilson's score interval at 95% (E. B. Wilson, 1927); `None` without trials.
pub fn wilson(successes: usize, trials: usize) -> Option<(f64, f64)> {
    if trials == 0 {
        return None;
    }
    let (n, share) = (trials as f64, successes as f64 / trials as f64);
    let center = share + Z * Z / (2.0 * n);
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    Some((((center - reach) / scale).max(0.0), ((center + reach) / scale).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    #[track_caller]
    fn assert_interval(found: Option<(f64, f64)>, low: f64, high: f64) {
        let (found_low, found_high) = found.unwrap();
        assert_close(found_low, low, 5e-5);
        assert_close(found_high, high, 5e-5);
    }

    #[test]
    fn measures_are_those_worked_by_hand() {
        let counts = Counts { tp: 8, fp: 2, missed: 4, tn: 6 };
        assert_eq!(counts.total(), 20);
        assert_eq!(counts.precision().value, Some(0.8));
        assert_close(counts.recall().value.unwrap(), 2.0 / 3.0, 1e-12);
        // 2 · 8 / (2 · 8 + 2 + 4)
        assert_close(counts.f1().value.unwrap(), 16.0 / 22.0, 1e-12);
    }

    #[test]
    fn answers_are_counted_by_what_was_expected() {
        let mut counts = Counts::default();
        [(true, true), (true, true), (false, true), (true, false), (false, false)]
            .into_iter()
            .for_each(|(expected, called)| counts.add(expected, called));
        assert_eq!(counts, Counts { tp: 2, fp: 1, missed: 1, tn: 1 });
    }

    #[test]
    fn nothing_of_nothing_is_no_share() {
        assert_eq!(Counts { tn: 5, ..Counts::default() }.precision(), Estimate::default());
        let missed = Counts { missed: 3, ..Counts::default() };
        assert_eq!((missed.precision().value, missed.recall().value, missed.f1().value), (None, Some(0.0), Some(0.0)));
    }

    /// Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3.
    #[test]
    fn intervals_are_those_of_the_literature() {
        assert_interval(wilson(81, 263), 0.2553, 0.3662);
        assert_interval(wilson(15, 148), 0.0624, 0.1605);
        assert_interval(wilson(0, 20), 0.0, 0.1611);
        assert_interval(wilson(1, 29), 0.0061, 0.1718);
        assert_eq!(wilson(0, 0), None);
    }

    /// The interval of F1 against one by resampling: 4,000 samples, seeded.
    #[test]
    fn the_interval_of_f1_is_that_of_resampling() {
        let counts = Counts { tp: 180, fp: 12, missed: 28, tn: 300 };
        let mut state = 7u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % counts.total() as u64) as usize
        };
        let mut sample = || {
            let mut drawn = Counts::default();
            for _ in 0..counts.total() {
                match draw() {
                    n if n < counts.tp => drawn.tp += 1,
                    n if n < counts.tp + counts.fp => drawn.fp += 1,
                    n if n < counts.tp + counts.fp + counts.missed => drawn.missed += 1,
                    _ => drawn.tn += 1,
                }
            }
            drawn.f1().value.unwrap()
        };
        let mut drawn: Vec<f64> = (0..4000).map(|_| sample()).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        let (low, high) = counts.f1().interval.unwrap();
        assert_close(low, drawn[100], 0.006);
        assert_close(high, drawn[3900], 0.006);
    }
}
