//! What a crawl looks like from outside while it runs.

use std::sync::{Mutex, PoisonError};

use crate::detect::DeciderStats;
use crate::record::Totals;

/// Figures that the judge publishes after each round and anyone may read.
#[derive(Debug, Default)]
pub struct Live {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    totals: Totals,
    index: DeciderStats,
    failed_seeds: Vec<(String, String)>,
}

impl Live {
    pub(super) fn publish(&self, totals: Totals, index: DeciderStats) {
        let mut state = self.lock();
        state.totals = totals;
        state.index = index;
    }

    pub(super) fn seed_failed(&self, url: String, why: String) {
        self.lock().failed_seeds.push((url, why));
    }

    /// The counters.
    pub fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    /// The index.
    pub fn index(&self) -> DeciderStats {
        self.lock().index.clone()
    }

    /// Seeds that could not be had, each with the reason.
    pub fn failed_seeds(&self) -> Vec<(String, String)> {
        self.lock().failed_seeds.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
