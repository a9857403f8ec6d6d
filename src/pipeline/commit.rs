//! The committer: archives the pages of a batch, then makes the batch durable.
//!
//! It has a thread of its own, so the decision stage builds the next batch meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Receiver;

use crate::model::CommitMark;
use crate::pagetext::PageReader;
use crate::store::{Archive, Store};

use super::{PipelineError, SealedBatch};

/// What the committer reports to other threads.
#[derive(Debug, Default)]
pub(crate) struct CommitProgress {
    /// Decided pages that are committed.
    pages: AtomicU32,
    /// Whether the disk has less free space than `--min-free` asks for.
    is_disk_full: AtomicBool,
    /// Whether the committer has ended, by a failure or otherwise.
    has_ended: AtomicBool,
}

impl CommitProgress {
    /// Begins with the pages that earlier runs have committed.
    pub fn new(pages: u32) -> Self {
        Self { pages: pages.into(), is_disk_full: false.into(), has_ended: false.into() }
    }

    /// Checks the free space of the disk.
    pub fn check_disk(&self, store: &Store) -> Result<(), PipelineError> {
        self.is_disk_full.store(!store.has_room()?, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the number of committed pages.
    pub fn pages(&self) -> u32 {
        self.pages.load(Ordering::Acquire)
    }

    /// Returns whether nothing more will be committed.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Returns whether the disk had too little free space at the last check.
    pub fn is_disk_full(&self) -> bool {
        self.is_disk_full.load(Ordering::Relaxed)
    }
}

/// Commits batches until the channel closes or a commit fails. Every commit before a failure is whole.
///
/// The archive keeps the text of near-duplicates if there is a `reader` of it. Updates `progress` after each batch, then
/// calls `committed`.
pub(crate) fn commit_all(
    store: &mut Store,
    (archive, reader): (&Archive, Option<&PageReader>),
    batches: Receiver<SealedBatch>,
    progress: &CommitProgress,
    mut committed: impl FnMut(CommitMark),
) -> Result<(), PipelineError> {
    let _end = EndOfCommits(progress);
    for sealed in batches {
        let mark = store.commit(sealed.archive(archive, reader)?)?;
        progress.pages.store(mark.pages, Ordering::Release);
        progress.check_disk(store)?;
        committed(mark);
    }
    Ok(())
}

/// Reports the end of the committer, however it ends.
struct EndOfCommits<'a>(&'a CommitProgress);

impl Drop for EndOfCommits<'_> {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Release);
    }
}
