//! The committer of a crawl: it tells frontier and scheduler of each commit.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use tokio::sync::watch;

use crate::pipeline::{CommitProgress, SealedBatch, SharedLog, Stop, commit_all};
use ndcrawl_frontier::EmbeddedFrontier;
use ndcrawl_store::{Archive, Store};
use pagetext::PageReader;

use super::CrawlError;
use super::url_log::StoredUrls;

/// Commits batches, on a thread of its own.
pub(super) struct Committer {
    pub store: Store,
    pub archive: Archive,
    /// Reads the text of near-duplicates, if that is kept.
    pub reader: Option<Arc<PageReader>>,
    /// The log of all processes, in a crawl of several.
    pub shared: Option<Box<dyn SharedLog>>,
    pub frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    pub progress: Arc<CommitProgress>,
    pub stop: watch::Sender<Stop>,
}

impl Committer {
    /// Commits batches until the channel closes. Returns the store even after an error: every commit before it is
    /// whole. An error stops the crawl at once, because no later page could be committed.
    pub fn run(mut self, batches: Receiver<SealedBatch>) -> (Store, Result<(), CrawlError>) {
        let archive = (&self.archive, self.reader.as_deref());
        let result = commit_all(&mut self.store, archive, self.shared.take(), batches, &self.progress, |mark| {
            self.frontier.committed(mark.urls);
            if self.progress.is_disk_full() {
                stop_if_running(&self.stop);
            }
        });
        if result.is_err() {
            self.stop.send_replace(Stop::Failed);
        }
        (self.store, result.map_err(CrawlError::from))
    }
}

fn stop_if_running(stop: &watch::Sender<Stop>) {
    stop.send_if_modified(|stop| {
        let goes_on = *stop == Stop::Go;
        if goes_on {
            *stop = Stop::DiskFull;
        }
        goes_on
    });
}
