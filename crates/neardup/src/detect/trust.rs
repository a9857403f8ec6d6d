//! How trustworthy is a page?
//!
//! "A Hybrid Model for Detection and Elimination of Near-Duplicates Based on Web Provenance", section III, steps 10
//! and 11. The paper names four factors and gives no formula. Here each is a number in [0, 1]:
//!
//! | factor | paper | here |
//! |---|---|---|
//! | accountability | the author information | 1: an author is named; ½: only a copyright line; 0: neither |
//! | maintainability | up-to-date content | 1 / (1 + age in years) at the time of the fetch; 0: no date |
//! | coverage | working links of all links | the same; left out if unknown |
//! | authority | the place of publication | given by the caller |
//!
//! The score is the mean of the known factors. The paper ranks again by maintainability; here the score ranks, of
//! which maintainability is a part.

use serde::Serialize;

use crate::model::{Provenance, Source};

const DAYS_A_YEAR: f64 = 365.25;

/// Facts about a page beside its provenance, as plain numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// The quality of the place of publication, in [0, 1].
    pub authority: f64,
    /// Days from the page's date to its fetch.
    pub age_days: Option<f64>,
    /// The share of its links that work.
    pub coverage: Option<f64>,
}

/// The trust in a page. All numbers are in [0, 1], rounded to thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trust {
    /// The mean of the known factors.
    pub score: f64,
    /// Whether an author is named.
    pub accountability: f64,
    /// How recent the content is.
    pub maintainability: f64,
    /// Do its links work?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// Is its place a good one?
    pub authority: f64,
}

impl Trust {
    /// Computes the trust in a page.
    pub fn of(provenance: &Provenance, factors: Factors) -> Self {
        let accountability = match (&provenance.who, provenance.who_from) {
            (None, _) => 0.0,
            (Some(_), Some(Source::Copyright)) => 0.5,
            (Some(_), _) => 1.0,
        };
        let age = factors.age_days.map(|days| days.max(0.0) / DAYS_A_YEAR);
        let maintainability = rounded(age.map_or(0.0, |years| 1.0 / (1.0 + years)));
        let coverage = factors.coverage.map(rounded);
        let authority = rounded(factors.authority);
        let known = [Some(accountability), Some(maintainability), coverage, Some(authority)];
        let (sum, count) = known.iter().flatten().fold((0.0, 0.0), |(sum, count), factor| (sum + factor, count + 1.0));
        Self { score: rounded(sum / count), accountability, maintainability, coverage, authority }
    }
}

/// Rounds to thousandths and clamps to [0, 1].
fn rounded(factor: f64) -> f64 {
    // NaN becomes the lower bound.
    let within = if factor > 0.0 { factor.min(1.0) } else { 0.0 };
    (within * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance(who_from: Option<Source>) -> Provenance {
        Provenance { who: who_from.map(|_| "Jane".to_owned()), who_from, ..Provenance::default() }
    }

    #[test]
    fn the_score_is_the_mean_of_what_is_known() {
        let factors = Factors { authority: 0.5, age_days: Some(365.25), coverage: None };
        let trust = Trust::of(&provenance(Some(Source::Meta)), factors);
        assert_eq!((trust.accountability, trust.maintainability, trust.authority), (1.0, 0.5, 0.5));
        assert_eq!((trust.coverage, trust.score), (None, 0.667));
        let covered = Factors { coverage: Some(0.9), ..factors };
        assert_eq!(Trust::of(&provenance(Some(Source::Copyright)), covered).score, 0.6);
        assert_eq!(Trust::of(&provenance(None), Factors::default()).score, 0.0);
    }

    #[test]
    fn no_factor_leaves_its_bounds() {
        for odd in [f64::NAN, f64::INFINITY, -1.0, 7.0] {
            let factors = Factors { authority: odd, age_days: Some(odd), coverage: Some(odd) };
            let trust = Trust::of(&provenance(None), factors);
            let all = [trust.score, trust.maintainability, trust.authority, trust.coverage.unwrap()];
            assert!(all.iter().all(|factor| (0.0..=1.0).contains(factor)), "{odd} {trust:?}");
        }
    }
}
