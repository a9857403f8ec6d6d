//! Figures that are read while a run goes on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::detect::DeciderStats;
use crate::model::Totals;

/// Counters that the decision stage publishes after each round and anyone may read.
#[derive(Debug, Default)]
pub(crate) struct LiveStats {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
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

    /// Records a seed that could not be fetched, with the reason.
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
