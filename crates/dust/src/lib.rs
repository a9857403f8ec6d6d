//! *Which URLs will repeat a page that we already have?*
//!
//! Different URLs with similar text (Bar-Yossef, Keidar and Schonfeld, WWW 2007). A crawl knows the original of each
//! duplicate. The difference between the two URLs is a [`Rule`]: another host, another leading directory, another
//! extension, one parameter less.
//!
//! **Lifecycle.** [`infer_rule`] turns a pair of duplicates into a rule. [`RuleLearner::observe`] tests each rule on
//! all later pages to which it applies. A rule with enough hits in a row is proven. [`RuleLearner::predict`] then
//! predicts duplicates, and the crawl fetches only a sample of them. A miss withdraws the rule.
//!
//! | file | content |
//! |---|---|
//! | `parts` | a canonical URL, split |
//! | `rule` | [`Rule`]: derives one URL from another |
//! | `infer_rule` | from two URLs to a rule |
//! | `rule_scope` | the contexts in which a rule is measured |
//! | `alternates` | links between counterparts, which tell copies from translations |
//! | `cross_host` | host rewrites: what many mirrored hosts have in common |
//! | `cross_rule` | groups of rules that are tested together |
//! | `confidence` | test results, and when a rule is proven |
//! | `table` | all rules, bounded |
//! | `learner` | [`RuleLearner`]: from outcomes to rules, from rules to predictions |
//! | `listing` | [`ListedRule`]: the file format of rules |
//! | `url_change` | [`UrlChange`]: pairs the links of two pages that look alike |
//!
//! **Invariants.** Everything follows from the outcomes in their order: no clock, no randomness, no store. The pair that
//! made a rule known does not test it.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod alternates;
mod confidence;
mod cross_host;
mod cross_rule;
mod infer_rule;
mod learner;
mod listing;
mod parts;
mod rule;
mod rule_scope;
mod table;
#[cfg(test)]
mod tests;
mod url_change;

pub use confidence::{RuleConfidence, RuleState};
pub use confidence::{RuleTest, is_sampled};
pub use infer_rule::{are_counterparts, infer_rule};
pub use learner::{ObservedOutcome, PredictedTarget, RuleLearner};
pub use listing::{ListedRule, ListingError};
pub use rule::{Change, Rule};
pub use table::RuleId;
pub use url_change::UrlChange;
