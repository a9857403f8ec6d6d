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
