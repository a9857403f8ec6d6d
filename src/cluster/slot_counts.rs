//! What a slot has done so far, for those who watch.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::slot_entry::SlotEntry;
use crate::model::OutcomeKind;

/// Counters of a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotCounts {
    outcomes: BTreeMap<OutcomeKind, u64>,
    /// Requests by origin.
    requests: BTreeMap<String, u64>,
}

impl SlotCounts {
    /// Adds what a commit has.
    pub fn add(&mut self, entry: &SlotEntry) {
        for outcome in &entry.outcomes {
            *self.outcomes.entry(outcome.kind).or_default() += 1;
        }
        for host in &entry.hosts {
            self.requests.insert(host.origin.clone(), host.requests);
        }
    }

    /// Returns the counters for the row of the slot.
    pub fn json(&self) -> Value {
        let outcomes: BTreeMap<&str, u64> = self.outcomes.iter().map(|(kind, count)| (kind.name(), *count)).collect();
        json!({ "outcomes": outcomes, "requests": self.requests.values().sum::<u64>(), "origins": self.requests.len() })
    }
}
