//! The committer: archives the pages of a batch, then makes the batch durable.
//!
//! It has a thread of its own, so the decision stage builds the next batch meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use ndcrawl_model::CommitMark;
use ndcrawl_store::{Archive, Store};
use pagetext::PageReader;

use super::{ArchiveReach, PipelineError, SealedBatch, SharedLog};

/// What the committer reports to other threads.
#[derive(Debug, Default)]
pub struct CommitProgress {
    /// Decided pages that are committed.
    pages: AtomicU32,
    /// Committed batches.
    batches: AtomicU64,
    /// Whether the disk has less free space than `--min-free` asks for.
    is_disk_full: AtomicBool,
    /// Whether the committer has ended, by a failure or otherwise.
    has_ended: AtomicBool,
}

impl CommitProgress {
    /// Begins with the pages that earlier runs have committed.
    pub fn new(pages: u32) -> Self {
        Self { pages: pages.into(), batches: 0.into(), is_disk_full: false.into(), has_ended: false.into() }
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

    /// Returns the number of batches that this run has committed.
    pub fn batches(&self) -> u64 {
        self.batches.load(Ordering::Acquire)
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
/// calls `committed`. In a crawl of several processes, `shared` has each batch before the store.
pub fn commit_all(
    store: &mut Store,
    (archive, reader): (&Archive, Option<&PageReader>),
    mut shared: Option<Box<dyn SharedLog>>,
    batches: Receiver<SealedBatch>,
    progress: &CommitProgress,
    mut committed: impl FnMut(CommitMark),
) -> Result<(), PipelineError> {
    let _end = EndOfCommits(progress);
    for mut sealed in batches {
        let changes = std::mem::take(&mut sealed.shared);
        let mut batch = sealed.archive(archive, reader)?;
        if let Some(shared) = &mut shared {
            let (serial, bytes) = archive.sync()?;
            let file = archive.file_name(serial).map(|name| ArchiveReach { serial, name, bytes });
            shared.commit(&batch, changes, &store.reader(), file)?;
            // The shared log has the pages and their terms. Their numbers count there.
            batch.pages = Vec::new();
            batch.terms = Vec::new();
        }
        let mark = store.commit(batch)?;
        progress.pages.store(mark.pages, Ordering::Release);
        progress.batches.fetch_add(1, Ordering::Release);
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
