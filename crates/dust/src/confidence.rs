//! The results of a rule's tests, and when the learner trusts the rule.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use ndcrawl_model::named;

/// Hits in a row that prove a rule if all were exact copies or redirects.
const EXACT_RUN: u32 = 16;
/// Hits in a row that prove a rule if any was a near-duplicate.
const NEAR_RUN: u32 = 24;
/// How often early misses double the required run. An early miss comes before the rule is proven.
const MAX_EARLY_DOUBLINGS: u32 = 1;
/// How often withdrawals and early misses together double the required run.
const MAX_DOUBLINGS: u32 = 6;
/// Hits that a proven rule needs for each miss, in all.
const HITS_PER_MISS: u32 = 9;
/// Hits of its own that keep a carried rule proven when the rule fails on another host.
const OWN_HITS: u32 = 4;
/// The 97.5% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

named! {
    /// Whether the learner trusts a rule.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RuleState {
        /// Too few tests, or a recent miss.
        #[default]
        Candidate = "candidate",
        /// The rule predicts duplicates.
        Proven = "proven",
        /// The rule was proven and then wrong.
        Withdrawn = "withdrawn",
        /// The user has switched the rule off.
        Off = "off",
    }
}

/// The result of one prediction, tested by fetching the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleTest {
    /// The page repeats the predicted original.
    Hit {
        /// Whether the pages are near-duplicates, not the same content.
        is_near: bool,
    },
    /// The page is unique, or an exact copy of another page.
    Miss,
}

/// Whether a URL is in the sample of one in so many. A sample at a smaller share is a part of the sample at a larger one.
pub fn is_sampled(url: &str, seed: u64, one_in: u64) -> bool {
    one_in > 0 && xxh3_64_with_seed(url.as_bytes(), seed) < u64::MAX / one_in
}

/// The results of a rule's tests in one context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleConfidence {
    /// Pairs of pages that the rule explains.
    pub support: u32,
    /// Pages that the rule predicted before their outcome.
    pub tests: u32,
    /// Predictions that were right.
    pub hits: u32,
    /// Hits since the last miss.
    pub run: u32,
    /// Near-duplicates among the hits of the run.
    pub near: u32,
    /// How often the rule was withdrawn.
    pub withdrawals: u32,
    /// Whether the learner trusts the rule.
    pub state: RuleState,
    /// Whether the learner trusts the rule because it holds on other hosts or in other directories. The rule itself has
    /// had too few tests.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub carried: bool,
}

impl RuleConfidence {
    /// Records a test. Returns whether it withdraws the rule.
    pub fn test(&mut self, test: RuleTest) -> bool {
        self.tests = self.tests.saturating_add(1);
        match test {
            RuleTest::Hit { is_near } => {
                self.hits = self.hits.saturating_add(1);
                self.run = self.run.saturating_add(1);
                self.near = self.near.saturating_add(u32::from(is_near));
                if self.state != RuleState::Off && self.is_confirmed() {
                    (self.state, self.carried) = (RuleState::Proven, false);
                }
                false
            }
            RuleTest::Miss => {
                (self.run, self.near) = (0, 0);
                self.carried = false;
                let was_proven = self.state == RuleState::Proven;
                if was_proven {
                    self.state = RuleState::Withdrawn;
                    self.withdrawals = self.withdrawals.saturating_add(1);
                }
                was_proven
            }
        }
    }

    /// Trusts the rule because it holds on other hosts, unless a test speaks against it. Returns whether that is new.
    /// Counts the page that confirmed the rule here, unless a test has counted it.
    pub(super) fn carry_over(&mut self) -> bool {
        let is_new = self.state == RuleState::Candidate && self.misses() == 0 && self.withdrawals == 0;
        if is_new {
            if self.tests == 0 {
                (self.tests, self.hits, self.run) = (1, 1, 1);
            }
            (self.state, self.carried) = (RuleState::Proven, true);
        }
        is_new
    }

    /// Withdraws the trust that came from other hosts. Returns whether the rule lost its state by that.
    pub(super) fn revoke_carried(&mut self) -> bool {
        let is_revoked = self.carried && self.state == RuleState::Proven && self.run < OWN_HITS;
        if is_revoked {
            (self.state, self.carried) = (RuleState::Candidate, false);
        }
        is_revoked
    }

    /// Wrong predictions.
    pub fn misses(&self) -> u32 {
        self.tests.saturating_sub(self.hits)
    }

    /// Whether the rule was right often enough, lately and in all.
    fn is_confirmed(&self) -> bool {
        self.run >= self.required_run() && self.hits >= HITS_PER_MISS.saturating_mul(self.misses())
    }

    fn required_run(&self) -> u32 {
        let run = if self.near == 0 { EXACT_RUN } else { NEAR_RUN };
        let early = self.misses().saturating_sub(self.withdrawals).min(MAX_EARLY_DOUBLINGS);
        run << (early + self.withdrawals).min(MAX_DOUBLINGS)
    }

    /// The sampling period: the crawl fetches 1 in so many predicted URLs. It is shorter for newly proven rules, for
    /// carried rules, and for rules with a miss.
    pub fn one_in(&self) -> u64 {
        let sampled = match self.run {
            _ if self.carried => 4,
            run if run < 2 * self.required_run() => 8,
            _ => 16,
        };
        if self.misses() == 0 { sampled } else { sampled / 2 }
    }

    /// The share of tests that were hits; 0 without tests.
    pub fn share(&self) -> f64 {
        if self.tests == 0 { 0.0 } else { f64::from(self.hits) / f64::from(self.tests) }
    }

    /// The 95% Wilson score interval of that share.
    pub fn interval(&self) -> (f64, f64) {
        if self.tests == 0 {
            return (0.0, 1.0);
        }
        let (n, p) = (f64::from(self.tests), self.share());
        let middle = p + Z * Z / (2.0 * n);
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let whole = 1.0 + Z * Z / n;
        (((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0))
    }
}
