//! What a slot has done so far, for those who watch, and which of its pages are to be fetched once more.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::slot_entry::SlotEntry;
use crate::model::{LinkKind, OutcomeKind, UrlId};

/// Counters of a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotCounts {
    /// Requests and outcomes by origin. What a page was before it was decided again does not count there.
    origins: BTreeMap<String, (u64, BTreeMap<OutcomeKind, u64>)>,
    /// Pages that are to be fetched once more, by their numbers in the log of the slot.
    revising: HashSet<UrlId>,
}

impl SlotCounts {
    /// Adds what a commit has.
    pub fn add(&mut self, entry: &SlotEntry) {
        for host in &entry.hosts {
            self.origins.insert(host.origin.clone(), (host.requests, host.outcomes.clone()));
        }
        let revised = entry.requeued.iter().filter(|requeue| requeue.discovery.kind == LinkKind::Revision);
        self.revising.extend(revised.map(|requeue| requeue.url));
        for outcome in &entry.outcomes {
            self.revising.remove(&outcome.url);
        }
    }

    /// Returns how many pages are to be fetched once more. They keep their places in the limit of pages.
    pub fn revising(&self) -> i64 {
        self.revising.len() as i64
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
