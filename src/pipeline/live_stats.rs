//! Counters of a run that other threads may read while it runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::detect::DeciderStats;
use crate::model::Totals;

/// Counters that the decision stage publishes after each round.
#[derive(Debug, Default)]
pub(crate) struct LiveStats {
    state: Mutex<PublishedStats>,
}

#[derive(Debug, Default)]
struct PublishedStats {
    totals: Totals,
    index: DeciderStats,
    failed_seeds: Vec<(String, String)>,
    /// Pages that were compared with the topic, and those of them that have a word of it.
    focused: u64,
    on_topic: u64,
}

impl LiveStats {
    pub fn publish(&self, totals: Totals, index: DeciderStats) {
        let mut state = self.lock();
        state.totals = totals;
        state.index = index;
    }

    /// PageRecords a seed that could not be fetched, with the reason.
    pub fn add_failed_seed(&self, url: String, why: String) {
        self.lock().failed_seeds.push((url, why));
    }

    /// Counts a page that was compared with the topic of the crawl.
    pub fn add_focused(&self, is_on_topic: bool) {
        let mut state = self.lock();
        state.focused += 1;
        state.on_topic += u64::from(is_on_topic);
    }

    /// Whether pages were compared with the topic, and none has a word of it.
    pub fn is_topic_absent(&self) -> bool {
        let state = self.lock();
        state.focused > 0 && state.on_topic == 0
    }

    pub fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    pub fn index(&self) -> DeciderStats {
        self.lock().index
    }

    /// Returns the seeds that could not be fetched, each with the reason.
    pub fn failed_seeds(&self) -> Vec<(String, String)> {
        self.lock().failed_seeds.clone()
    }

    fn lock(&self) -> MutexGuard<'_, PublishedStats> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
