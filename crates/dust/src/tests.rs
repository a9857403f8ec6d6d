//! Tests of rules and of the learner.

mod editions;
mod host_rewrites;
mod learner;
mod rules;

use super::alternates::LinkEvidence;
use super::confidence::RuleTest;
use super::*;
use ndcrawl_model::{OutcomeKind, UrlId};

fn rule(url: &str, original: &str) -> Rule {
    infer_rule(url, original).unwrap_or_else(|| panic!("{url} and {original}"))
}
