//! The committer: archives the pages of a batch, then makes the batch durable.
//!
//! It runs on a thread of its own, so that the judge goes on while one batch is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Receiver;

use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::frontier::EmbeddedFrontier;
use crate::record::{Batch, PageLine, PageStore, PutPage};
use crate::store::{Archive, Store};

use super::log_access::Urls;
use super::{CrawlError, Stop};

/// A line of `pages.jsonl` whose place in the archive is not yet known.
#[derive(Debug)]
pub(super) struct Line {
    pub line: PageLine,
    /// Index into [`Sealed::puts`].
    pub page: Option<usize>,
}

/// A batch on its way to the committer.
#[derive(Debug, Default)]
pub(super) struct Sealed {
    pub batch: Batch,
    pub lines: Vec<Line>,
    /// Pages for the archive, each with the index of its row in `batch.pages`.
    pub puts: Vec<(usize, PutPage)>,
    /// Octets of the bodies.
    pub bytes: usize,
}

impl Sealed {
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.batch.urls.is_empty() && self.batch.hosts.is_empty()
    }
}

/// What the committer works with.
pub(super) struct Committer {
    pub store: Store,
    pub archive: Archive,
    pub frontier: Arc<EmbeddedFrontier<Urls>>,
    pub committed_pages: Arc<AtomicU32>,
    pub stop: watch::Sender<Stop>,
    pub runtime: Handle,
}

impl Committer {
    /// Commits batch by batch until the judge is done. Gives the store back, also after an error:
    /// what was committed before is whole.
    pub fn run(mut self, batches: Receiver<Sealed>) -> (Store, Result<(), CrawlError>) {
        let mut result = Ok(());
        for sealed in batches {
            result = self.commit(sealed);
            if result.is_err() {
                break;
            }
        }
        (self.store, result)
    }

    fn commit(&mut self, sealed: Sealed) -> Result<(), CrawlError> {
        let Sealed { mut batch, lines, puts, .. } = sealed;
        let (rows, pages): (Vec<usize>, Vec<PutPage>) = puts.into_iter().unzip();
        let locations = self.runtime.block_on(self.archive.put(pages))?;
        for (row, location) in rows.iter().zip(&locations) {
            batch.pages[*row].location = *location;
        }
        for Line { mut line, page } in lines {
            if let Some(location) = page.and_then(|page| locations.get(page).copied().flatten()) {
                line.warc_file = self.archive.file_name(location.file);
                line.warc_offset = Some(location.offset);
            }
            batch.page_lines.push(serde_json::to_string(&line)?);
        }
        let mark = self.store.commit(batch)?;
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
