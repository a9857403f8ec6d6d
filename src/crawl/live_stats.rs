//! What a crawl looks like from outside while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use crate::detect::DeciderStats;
use crate::fetch::Fetcher;
use crate::frontier::EmbeddedFrontier;
use crate::model::{FrontierCounts, Totals};

use super::queue_status::{Waiting, explained};
use super::store_sources::Urls;

/// Figures that the judge publishes after each round and anyone may read.
#[derive(Debug, Default)]
pub(crate) struct Live {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    totals: Totals,
    index: DeciderStats,
    failed_seeds: Vec<(String, String)>,
}

impl Live {
    pub fn publish(&self, totals: Totals, index: DeciderStats) {
        let mut state = self.lock();
        state.totals = totals;
        state.index = index;
    }

    pub fn seed_failed(&self, url: String, why: String) {
        self.lock().failed_seeds.push((url, why));
    }

    /// The counters.
    pub fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    /// The index.
    pub fn index(&self) -> DeciderStats {
        self.lock().index
    }

    /// Seeds that could not be had, each with the reason.
    pub fn failed_seeds(&self) -> Vec<(String, String)> {
        self.lock().failed_seeds.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at a running crawl.
#[derive(Clone)]
pub struct Watch {
    pub(super) live: Arc<Live>,
    pub(super) frontier: Arc<EmbeddedFrontier<Urls>>,
    pub(super) fetcher: Fetcher,
}

impl Watch {
    /// The counters.
    pub fn totals(&self) -> Totals {
        self.live.totals()
    }

    /// The index.
    pub fn index(&self) -> DeciderStats {
        self.live.index()
    }

    /// Sizes of the frontier.
    pub fn counts(&self) -> FrontierCounts {
        self.frontier.counts()
    }

    /// Bytes of the frontier's tables. Costs a look at every origin.
    pub fn frontier_bytes(&self) -> u64 {
        self.frontier.bytes()
    }

    /// The origins at which most URLs wait. Costs a look at every origin.
    pub fn waiting(&self, most: usize) -> Vec<Waiting> {
        let origins = self.frontier.hosts_waiting(most);
        origins.into_iter().map(|waiting| explained(waiting, &self.fetcher)).collect()
    }
}
