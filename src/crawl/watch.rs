//! A running crawl as other threads see it.

use std::sync::Arc;

use crate::detect::DeciderStats;
use crate::fetch::Fetcher;
use crate::frontier::EmbeddedFrontier;
use crate::model::{FrontierCounts, Totals};
use crate::pipeline::{LiveStats, RecentUrl};

use super::queue_status::{QueueStatus, explained};
use super::url_log::StoredUrls;

/// A view of a running crawl, for progress output and the dashboard.
#[derive(Clone)]
pub struct CrawlWatch {
    pub(super) live: Arc<LiveStats>,
    pub(super) frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    pub(super) fetcher: Fetcher,
}

impl CrawlWatch {
    /// Returns the totals.
    pub fn totals(&self) -> Totals {
        self.live.totals()
    }

    /// Returns the URLs that got their outcomes last, the newest first.
    pub fn recent(&self) -> Vec<RecentUrl> {
        self.live.recent()
    }

    /// Returns the URL that got its outcome last.
    pub fn latest(&self) -> Option<String> {
        self.live.latest()
    }

    /// Returns the sizes of the index.
    pub fn index(&self) -> DeciderStats {
        self.live.index()
    }

    /// Returns the sizes of the frontier.
    pub fn counts(&self) -> FrontierCounts {
        self.frontier.counts()
    }

    /// Returns the bytes of the frontier's tables. Cost: visits every origin.
    pub fn frontier_bytes(&self) -> u64 {
        self.frontier.bytes()
    }

    /// Returns the origins with the longest queues. Cost: visits every origin.
    pub fn waiting(&self, most: usize) -> Vec<QueueStatus> {
        let origins = self.frontier.hosts_waiting(most);
        origins.into_iter().map(|waiting| explained(waiting, &self.fetcher)).collect()
    }
}
