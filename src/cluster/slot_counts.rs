//! What a slot has done so far, for those who watch.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::slot_entry::SlotEntry;
use crate::model::OutcomeKind;

/// Counters of a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotCounts {
    /// Requests and outcomes by origin. What a page was before it was decided again does not count there.
    origins: BTreeMap<String, (u64, BTreeMap<OutcomeKind, u64>)>,
}

impl SlotCounts {
    /// Adds what a commit has.
    pub fn add(&mut self, entry: &SlotEntry) {
        for host in &entry.hosts {
            self.origins.insert(host.origin.clone(), (host.requests, host.outcomes.clone()));
        }
    }

    /// Returns the counters for the row of the slot.
    pub fn json(&self) -> Value {
        let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
        for (kind, count) in self.origins.values().flat_map(|(_, outcomes)| outcomes).filter(|(_, count)| **count > 0) {
            *outcomes.entry(kind.name()).or_default() += count;
        }
        let requests: u64 = self.origins.values().map(|(requests, _)| requests).sum();
        json!({ "outcomes": outcomes, "requests": requests, "origins": self.origins.len() })
    }
}
