//! The file format of rules: one JSON object a line.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::confidence::{RuleConfidence, RuleState};
use super::rule::Rule;

/// A rule in one of its contexts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedRule {
    /// The rule for people.
    #[serde(default)]
    pub text: String,
    /// The rule.
    pub rule: Rule,
    /// The context: `*` for the whole origin, `*.html`, `/directory/*`; or a class of URLs: `same-name`, `unlinked`.
    pub context: String,
    /// The results of its tests there.
    #[serde(flatten)]
    pub confidence: RuleConfidence,
    /// The share of tests that were hits.
    #[serde(default, rename = "validity")]
    pub share: f64,
    /// The 95% interval of that share.
    #[serde(default)]
    pub interval: (f64, f64),
    /// Requests that the rule saved.
    #[serde(default)]
    pub saved: u64,
    /// Whether the user has switched the rule off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
}

/// Why rules cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ListingError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// A line is not a rule.
    #[error("line {line} is not a rule: {source}")]
    Line {
        /// The line number, from 1.
        line: usize,
        /// The cause.
        source: serde_json::Error,
    },
}

impl ListedRule {
    /// Lists a rule that saved so many requests.
    pub(super) fn of(rule: &Rule, context: &str, confidence: RuleConfidence, saved: u64) -> Self {
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

    /// Reads rules, one a line; skips empty lines.
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
