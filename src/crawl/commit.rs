//! The committer: archives the pages of a batch, then makes the batch durable.
//!
//! It runs on a thread of its own, so that the judge goes on while one batch is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Receiver;

use tokio::sync::watch;

use crate::frontier::EmbeddedFrontier;
use crate::store::{Archive, Store};

use super::batch::Sealed;
use super::store_sources::Urls;
use super::{CrawlError, Stop};

/// What the committer works with.
pub(super) struct Committer {
    pub store: Store,
    pub archive: Archive,
    pub frontier: Arc<EmbeddedFrontier<Urls>>,
    pub committed_pages: Arc<AtomicU32>,
    pub stop: watch::Sender<Stop>,
}

impl Committer {
    /// Commits batch by batch until the judge is done. Gives the store back, also after an error:
    /// what was committed before is whole. An error stops the crawl at once, since nothing that is
    /// fetched from then on could be kept.
    pub fn run(mut self, batches: Receiver<Sealed>) -> (Store, Result<(), CrawlError>) {
        let mut result = Ok(());
        for sealed in batches {
            result = self.commit(sealed);
            if result.is_err() {
                self.stop.send_replace(Stop::Failed);
                break;
            }
        }
        (self.store, result)
    }

    fn commit(&mut self, sealed: Sealed) -> Result<(), CrawlError> {
        let mark = self.store.commit(sealed.archived(&self.archive)?)?;
        self.frontier.committed(mark.urls);
        self.committed_pages.store(mark.pages, Ordering::Release);
        if !self.store.has_room()? {
            self.stop.send_if_modified(|stop| {
                let goes_on = *stop == Stop::Go;
                if goes_on {
                    *stop = Stop::DiskFull;
                }
                goes_on
            });
        }
        Ok(())
    }
}
