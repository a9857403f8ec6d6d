//! A running crawl as other threads see it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::pipeline::{LiveStats, RecentUrl};
use ndcrawl_fetch::Fetcher;
use ndcrawl_frontier::EmbeddedFrontier;
use ndcrawl_model::{FrontierCounts, Totals};
use neardup::detect::DeciderStats;

use super::queue_status::{QueueStatus, explained};
use super::url_log::StoredUrls;

/// Pauses a crawl. It does not hold the output folder.
#[derive(Clone, Debug)]
pub struct PauseSwitch(watch::Sender<bool>);

impl Default for PauseSwitch {
    fn default() -> Self {
        Self(watch::channel(false).0)
    }
}

impl PauseSwitch {
    /// Pauses the crawl, or lets it go on. Requests in flight end. `--max-time` counts the pause.
    pub fn set(&self, paused: bool) {
        self.0.send_replace(paused);
    }

    /// Returns whether the crawl is paused.
    pub fn is_paused(&self) -> bool {
        *self.0.borrow()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }
}

/// A view of a running crawl, for progress output and the dashboard.
#[derive(Clone)]
pub struct CrawlWatch {
    pub(super) live: Arc<LiveStats>,
    pub(super) frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    pub(super) fetcher: Fetcher,
    pub(super) paused: PauseSwitch,
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

    /// Returns the URLs that failed last, the newest first.
    pub fn failures(&self) -> Vec<RecentUrl> {
        self.live.failures()
    }

    /// Returns the URL that got its outcome last.
    pub fn latest(&self) -> Option<String> {
        self.live.latest()
    }

    /// Returns the URL of the request that takes longest, and for how long.
    pub fn longest_request(&self) -> Option<(String, Duration)> {
        let (url, elapsed) = self.fetcher.longest_request()?;
        Some((url.to_string(), elapsed))
    }

    /// Returns the switch that pauses the crawl.
    pub fn pause_switch(&self) -> PauseSwitch {
        self.paused.clone()
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
