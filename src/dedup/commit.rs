//! The committer: archives the pages of a batch, then makes the batch durable, while the judge goes on.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Receiver;

use crate::crawl::CrawlError;
use crate::crawl::parts::Sealed;
use crate::store::{Archive, Store};

/// What the committer tells the other threads.
#[derive(Debug, Default)]
pub(super) struct Committed {
    /// Judged pages that are committed.
    pages: AtomicU32,
    /// Whether the disk has less than the free space asked for.
    is_full: AtomicBool,
}

impl Committed {
    pub fn new(pages: u32) -> Self {
        Self { pages: pages.into(), is_full: false.into() }
    }

    /// Looks for room on the disk.
    pub fn look(&self, store: &Store) -> Result<(), CrawlError> {
        self.is_full.store(!store.has_room()?, Ordering::Relaxed);
        Ok(())
    }

    pub fn pages(&self) -> u32 {
        self.pages.load(Ordering::Acquire)
    }

    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }
}

/// Commits batch by batch until the judge is done, or one fails: what was committed before is whole.
pub(super) fn commit_all(
    store: &mut Store,
    archive: &Archive,
    batches: Receiver<Sealed>,
    committed: &Committed,
) -> Result<(), CrawlError> {
    for sealed in batches {
        let mark = store.commit(sealed.archived(archive)?)?;
        committed.pages.store(mark.pages, Ordering::Release);
        committed.look(store)?;
    }
    Ok(())
}
