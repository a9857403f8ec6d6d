//! What a crawl looks like from outside while it runs.

use std::sync::Arc;

use crate::detect::DeciderStats;
use crate::fetch::Fetcher;
use crate::frontier::EmbeddedFrontier;
use crate::model::{FrontierCounts, Totals};
use crate::pipeline::LiveStats;

use super::queue_status::{Waiting, explained};
use super::url_log::Urls;

/// Looks at a running crawl.
#[derive(Clone)]
pub struct Watch {
    pub(super) live: Arc<LiveStats>,
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
