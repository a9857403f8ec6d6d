//! Rules as they are listed, kept and exchanged: one JSON object a line.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::confidence::{RuleConfidence, RuleState};
use super::learner::RuleLearner;
use super::rule::Rule;
use super::table::RuleId;

/// A rule in one of its contexts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedRule {
    /// For people.
    #[serde(default)]
    pub text: String,
    /// What it makes of a URL.
    pub rule: Rule,
    /// Where: `*` for the whole origin, `*.html`, `/directory/*`; or for which URLs: `same-name`, `unlinked`.
    pub context: String,
    /// How it does there.
    #[serde(flatten)]
    pub confidence: RuleConfidence,
    /// The share of tests that were hits.
    #[serde(default, rename = "validity")]
    pub share: f64,
    /// Its interval at 95 %.
    #[serde(default)]
    pub interval: (f64, f64),
    /// URLs that were not fetched because of it.
    #[serde(default)]
    pub saved: u64,
    /// Whether the user has switched it off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
}

/// Rules that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ListingError {
    /// The file.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// A line.
    #[error("line {line} is no rule: {source}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
}

impl ListedRule {
    /// The rules of a learner that were tested or are switched off; those that saved most first. `saved` gives the
    /// URLs that were not fetched because of a rule.
    pub fn all(learner: &RuleLearner, saved: impl Fn(RuleId) -> u64) -> Vec<Self> {
        let listed =
            learner.rules().filter(|(.., confidence)| confidence.tests > 0 || confidence.state != RuleState::Candidate);
        let mut all: Vec<Self> =
            listed.map(|(id, rule, context, confidence)| Self::of(rule, context, confidence, saved(id))).collect();
        let order = |rule: &Self| (std::cmp::Reverse((rule.saved, rule.confidence.run)), rule.text.clone());
        all.sort_by_cached_key(|rule| (order(rule), rule.context.clone()));
        all
    }

    fn of(rule: &Rule, context: &str, confidence: RuleConfidence, saved: u64) -> Self {
        Self {
            text: rule.to_string(),
            rule: rule.clone(),
            context: context.to_owned(),
            confidence,
            share: confidence.share(),
            interval: confidence.interval(),
            saved,
            off: confidence.state == RuleState::Off,
        }
    }

    /// Reads rules, one a line; empty lines are skipped.
    pub fn read(lines: impl BufRead) -> Result<Vec<Self>, ListingError> {
        let mut rules = Vec::new();
        for (place, line) in lines.lines().enumerate() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let mut rule: Self =
                serde_json::from_str(&line).map_err(|source| ListingError::Line { line: place + 1, source })?;
            match (rule.off, rule.confidence.state) {
                (true, _) => rule.confidence.state = RuleState::Off,
                (false, RuleState::Off) => rule.confidence.state = RuleState::Candidate,
                _ => {}
            }
            rules.push(rule);
        }
        Ok(rules)
    }
}
