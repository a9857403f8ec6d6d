//! What a crawl looks like from outside while it runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::detect::DeciderStats;
use crate::frontier::EmbeddedFrontier;
use crate::record::{Frontier, FrontierCounts, Totals};

use super::log_access::Urls;

/// Figures that the judge publishes after each round and anyone may read.
#[derive(Debug, Default)]
pub(super) struct Live {
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

    /// The origins at which most URLs wait: origin, URLs, and the moment before which none is due.
    pub fn waiting(&self, most: usize) -> Vec<(String, usize, Option<Instant>)> {
        self.frontier.hosts_waiting(most)
    }
}
