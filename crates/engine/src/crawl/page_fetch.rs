//! What the worker, the soft-404 prober and the headless fetch share: requests, rendering and the stop signal.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc, watch};

use crate::pipeline::{ContentReader, RequestCounts, Stop, render_page};
use ndcrawl_fetch::{Fetcher, RobotsAnswer, no_text};
use ndcrawl_frontier::EmbeddedFrontier;
use ndcrawl_model::{CanonicalUrl, Fetched, Normalizer};

use super::messages::{DispatchMessage, FetchedPage};
use super::url_log::StoredUrls;

/// Longest body that is rendered in the task that fetched it, in bytes: about a millisecond of work.
const SHORT: usize = 64 * 1024;

/// A stop was requested before a page was complete.
#[derive(Debug)]
pub(super) struct Stopped;

/// Fetches and renders pages.
pub(super) struct PageFetch {
    pub fetcher: Fetcher,
    pub renderer: Arc<ContentReader>,
    pub normalizer: Normalizer,
    pub frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    /// Limits the long pages that are rendered at the same time.
    pub rendering: Arc<Semaphore>,
    pub stop: watch::Receiver<Stop>,
    pub paused: watch::Receiver<bool>,
    pub messages: mpsc::Sender<DispatchMessage>,
}

impl PageFetch {
    /// Returns whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        *self.stop.borrow() != Stop::Go
    }

    /// Returns whether the crawl is paused: then no lease begins a request.
    pub fn is_paused(&self) -> bool {
        *self.paused.borrow()
    }

    /// Waits until the crawl is not paused, or a stop is requested.
    pub async fn until_resumed(&self) {
        let (mut paused, mut stop) = (self.paused.clone(), self.stop.clone());
        tokio::select! {
            // An error says that the crawl is gone, and with it the reason to wait.
            _ = paused.wait_for(|paused| !paused) => {}
            _ = stop.wait_for(|stop| *stop != Stop::Go) => {}
        }
    }

    /// Returns whether scope and robots.txt allow a URL. May fetch robots.txt.
    pub async fn is_allowed(&self, url: &CanonicalUrl) -> bool {
        self.frontier.admits(url) && self.fetcher.robots(url).await.allows(url) == RobotsAnswer::Allowed
    }

    /// Returns whether header and first bytes show a media type that the crawl accepts.
    pub fn is_accepted(&self, fetched: &Fetched) -> bool {
        self.fetcher.accepts(&fetched.media_type())
            && no_text(&fetched.body).is_none_or(|found| self.fetcher.accepts(found))
    }

    /// Renders a page. An error says why that failed.
    ///
    /// A short page is rendered in this task, because a second thread would cost more than it saves. A long
    /// one, and a document, are rendered on a blocking thread.
    pub async fn render(&self, fetched: Arc<Fetched>) -> Result<FetchedPage, String> {
        let content = if fetched.body.len() <= SHORT && !self.renderer.is_document(&fetched) {
            // Other tasks run first: they wake threads that render, too.
            tokio::task::yield_now().await;
            render_page(&self.renderer, &fetched)?
        } else {
            let permit = self.rendering.clone().acquire_owned().await;
            let (renderer, page) = (self.renderer.clone(), fetched.clone());
            let rendering = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                render_page(&renderer, &page)
            });
            rendering.await.unwrap_or_else(|error| Err(error.to_string()))?
        };
        Ok(FetchedPage::new(fetched, content))
    }

    /// Sends requests to the dispatcher, to be counted at once.
    pub async fn count_requests(&self, origin: String) {
        let traffic = self.fetcher.take_traffic(&origin);
        if traffic.requests > 0 {
            let requests = RequestCounts { origin, traffic, probes: 0 };
            // If the dispatcher is gone, the crawl ends and nothing is counted.
            let _ = self.messages.send(DispatchMessage::Requests(requests)).await;
        }
    }
}
