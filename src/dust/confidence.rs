//! How often a rule was right, and when it is believed.

use serde::{Deserialize, Serialize};

/// Hits in a row that prove a rule if all were exact copies or redirects ...
const EXACT_RUN: u32 = 16;
/// ... and if there were near-duplicates among them.
const NEAR_RUN: u32 = 24;
/// After each miss before it is proven the run must be twice as long, so many times ...
const MAX_EARLY_DOUBLINGS: u32 = 1;
/// ... and after each time that it was withdrawn, so many times in all.
const MAX_DOUBLINGS: u32 = 6;
/// So many hits there must be for each miss, in all.
const HITS_PER_MISS: u32 = 9;
/// So many hits of its own keep a rule believed that was carried over, if it proves wrong for another host.
const OWN_HITS: u32 = 4;
/// 97.5 % of the normal distribution lie below it.
const Z: f64 = 1.959_963_984_540_054;

/// Whether a rule is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleState {
    /// It was not tested often enough, or was wrong too lately.
    #[default]
    Candidate,
    /// It foretells.
    Proven,
    /// It foretold, and was wrong then.
    Withdrawn,
    /// The user has switched it off.
    Off,
}

impl RuleState {
    /// The name in output.
    pub fn name(self) -> &'static str {
        match self {
            RuleState::Candidate => "candidate",
            RuleState::Proven => "proven",
            RuleState::Withdrawn => "withdrawn",
            RuleState::Off => "off",
        }
    }
}

/// What became of a page of which a rule has said that it repeats a certain other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleTest {
    /// It does.
    Hit { is_near: bool },
    /// It is unique, or says exactly what another page says.
    Miss,
}

/// The tests of a rule in one context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleConfidence {
    /// Pairs of pages that the rule explains.
    pub support: u32,
    /// Pages of which the rule had said what they repeat before they were fetched.
    pub tests: u32,
    /// Of these, those that repeat the page that it said.
    pub hits: u32,
    /// Hits since the last miss.
    pub run: u32,
    /// Of these, near-duplicates.
    pub near: u32,
    /// How often it was withdrawn.
    pub withdrawals: u32,
    /// Whether it is believed.
    pub state: RuleState,
    /// Whether it is believed since the same holds for other hosts, or other directories of the site: it was not
    /// tested often enough itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub carried: bool,
}

impl RuleConfidence {
    /// Takes note of a test. Whether the rule is believed no longer.
    pub(super) fn test(&mut self, test: RuleTest) -> bool {
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

    /// Believes it for the sake of other hosts, unless something speaks against it. One page has borne it out here:
    /// that is counted unless the rule was known by then. Whether it is believed now, and was not before.
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

    /// What it was believed for has proved wrong. Whether it is believed no longer.
    pub(super) fn revoke_carried(&mut self) -> bool {
        let is_revoked = self.carried && self.state == RuleState::Proven && self.run < OWN_HITS;
        if is_revoked {
            (self.state, self.carried) = (RuleState::Candidate, false);
        }
        is_revoked
    }

    /// Pages that the rule was wrong about.
    pub fn misses(&self) -> u32 {
        self.tests.saturating_sub(self.hits)
    }

    /// Whether it was right often enough of late, and in all.
    fn is_confirmed(&self) -> bool {
        self.run >= self.required_run() && self.hits >= HITS_PER_MISS.saturating_mul(self.misses())
    }

    fn required_run(&self) -> u32 {
        let run = if self.near == 0 { EXACT_RUN } else { NEAR_RUN };
        let early = self.misses().saturating_sub(self.withdrawals).min(MAX_EARLY_DOUBLINGS);
        run << (early + self.withdrawals).min(MAX_DOUBLINGS)
    }

    /// One in so many of the URLs of which it foretells something is fetched all the same: more as long as it has
    /// only just been proven, or only others of its kind have, and of a rule that was ever wrong.
    pub(super) fn one_in(&self) -> u64 {
        let sampled = match self.run {
            _ if self.carried => 4,
            run if run < 2 * self.required_run() => 8,
            _ => 16,
        };
        if self.misses() == 0 { sampled } else { sampled / 2 }
    }

    /// The share of tests that were hits; 0 if there were none.
    pub fn share(&self) -> f64 {
        if self.tests == 0 { 0.0 } else { f64::from(self.hits) / f64::from(self.tests) }
    }

    /// Wilson's interval of that share, at 95 %.
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
