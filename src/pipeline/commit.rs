//! The committer: archives the pages of a batch, then makes the batch durable.
//!
//! It runs on a thread of its own, so that the decision stage goes on while one batch is written.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Receiver;

use crate::model::CommitMark;
use crate::store::{Archive, Store};

use super::{PipelineError, SealedBatch};

/// What the committer reports to other threads.
#[derive(Debug, Default)]
pub(crate) struct CommitProgress {
    /// Decided pages that are committed.
    pages: AtomicU32,
    /// Whether the disk has less than the free space asked for.
    is_disk_full: AtomicBool,
}

impl CommitProgress {
    pub fn new(pages: u32) -> Self {
        Self { pages: pages.into(), is_disk_full: false.into() }
    }

    /// Checks the free space of the disk.
    pub fn check_disk(&self, store: &Store) -> Result<(), PipelineError> {
        self.is_disk_full.store(!store.has_room()?, Ordering::Relaxed);
        Ok(())
    }

    pub fn pages(&self) -> u32 {
        self.pages.load(Ordering::Acquire)
    }

    pub fn is_disk_full(&self) -> bool {
        self.is_disk_full.load(Ordering::Relaxed)
    }
}

/// Commits batch by batch until the decision stage is done, or one fails: everything that was committed before is whole.
///
/// Calls `committed` after each batch, when the progress has been updated.
pub(crate) fn commit_all(
    store: &mut Store,
    archive: &Archive,
    batches: Receiver<SealedBatch>,
    progress: &CommitProgress,
    mut committed: impl FnMut(CommitMark),
) -> Result<(), PipelineError> {
    for sealed in batches {
        let mark = store.commit(sealed.archived(archive)?)?;
        progress.pages.store(mark.pages, Ordering::Release);
        progress.check_disk(store)?;
        committed(mark);
    }
    Ok(())
}
