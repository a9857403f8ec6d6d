//! *Which URLs will repeat a page that is there already?* Different URLs with similar text (Bar-Yossef,
//! Keidar, Schonfeld, WWW 2007).
//!
//! A crawl knows of each duplicate which page it repeats. How the two URLs differ is a [`Rule`]: another
//! host, another first directory, another ending, a parameter less. Rules are learned from such pairs, and
//! measured on all pages to which they apply from then on; those that were never wrong for long enough
//! foretell duplicates, so that they need not be fetched.
//!
//! | file | what it says |
//! |---|---|
//! | `parts` | a canonical URL, cut |
//! | `rule` | what a rule makes of a URL |
//! | `difference` | from two URLs to the rule that makes one of the other |
//! | `context` | in which part of a site a rule is measured |
//! | `editions` | which pages link to their counterparts |
//! | `family` | what the origins of many copies have in common |
//! | `siblings` | what the rules of one site have in common |
//! | `confidence` | how often a rule was right, and when it is believed |
//! | `table` | all rules, bounded |
//! | `learner` | from outcomes to rules, and from rules to what is foretold |
//! | `listing` | rules as they are listed, kept and exchanged |
//!
//! **Invariants.** Everything follows from outcomes in their order: no clock, no chance, no store. A pair
//! that makes a rule known is no test of it.

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

pub use confidence::{RuleConfidence, RuleState};
pub use infer_rule::{are_counterparts, infer_rule};
pub use learner::{ObservedOutcome, PredictedTarget, RuleLearner};
pub use listing::{ListedRule, ListingError};
pub use rule::{Change, Rule};
pub use table::RuleId;
