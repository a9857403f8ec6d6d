//! State shared by writer and readers: the open database and the last commit.

use std::sync::{PoisonError, RwLock};

use ndcrawl_model::CommitMark;

use super::cache::BlockCache;
use super::database::Database;
use super::error::{Error, Result};
use super::folder::{FolderLock, OutputFolder};

/// Cached blocks of URLs and pages, for reads of single rows.
const URL_BLOCKS: usize = 256;
const PAGE_BLOCKS: usize = 64;

/// State shared by the writer and all readers. The last one to be dropped unlocks the folder.
pub(crate) struct SharedStore {
    folder: OutputFolder,
    cache_bytes: u64,
    /// `None` after the store was closed, or could not be reopened.
    database: RwLock<Option<Database>>,
    mark: RwLock<CommitMark>,
    pub(crate) url_blocks: BlockCache,
    pub(crate) page_blocks: BlockCache,
    // Last, so that the database is closed before the folder is unlocked.
    _lock: FolderLock,
}

impl SharedStore {
    pub(crate) fn new(
        folder: OutputFolder,
        cache_bytes: u64,
        database: Database,
        mark: CommitMark,
        lock: FolderLock,
    ) -> Self {
        Self {
            folder,
            cache_bytes,
            database: RwLock::new(Some(database)),
            mark: RwLock::new(mark),
            url_blocks: BlockCache::new(URL_BLOCKS),
            page_blocks: BlockCache::new(PAGE_BLOCKS),
            _lock: lock,
        }
    }

    pub(crate) fn folder(&self) -> &OutputFolder {
        &self.folder
    }

    /// Returns the database. Drop it soon: it cannot be reopened while it is held.
    pub(crate) fn database(&self) -> Result<Database> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        database.clone().ok_or_else(|| Error::Closed(self.folder.store()))
    }

    /// Closes and reopens the database: sled refuses all writes after a failed one.
    pub(crate) fn reopen(&self) -> Result<Database> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        *database = None;
        let opened = Database::open(&self.folder.store(), self.cache_bytes)?;
        *database = Some(opened.clone());
        Ok(opened)
    }

    pub(crate) fn close(&self) {
        *self.database.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn mark(&self) -> CommitMark {
        self.with_mark(CommitMark::clone)
    }

    pub(crate) fn with_mark<T>(&self, look: impl FnOnce(&CommitMark) -> T) -> T {
        look(&self.mark.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_mark(&self, mark: CommitMark) {
        *self.mark.write().unwrap_or_else(PoisonError::into_inner) = mark;
    }
}
