//! What writer and readers have in common: the open database and the last commit.

use std::sync::{PoisonError, RwLock};

use crate::model::CommitMark;

use super::cache::BlockCache;
use super::database::Database;
use super::error::{Error, Result};
use super::folder::{FolderLock, OutputFolder};

/// Blocks of URLs and of pages that are kept ready for reads of single rows.
const URL_BLOCKS: usize = 256;
const PAGE_BLOCKS: usize = 64;

/// Shared by the writer and all readers. The folder is free when the last of them is gone.
pub(crate) struct SharedStore {
    folder: OutputFolder,
    cache_bytes: u64,
    /// `None` after the store was closed, or if it could not be opened again.
    database: RwLock<Option<Database>>,
    mark: RwLock<CommitMark>,
    pub(crate) url_blocks: BlockCache,
    pub(crate) page_blocks: BlockCache,
    // Last, so that the database is closed before the folder is free.
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

    /// The database. Hold it briefly: while it is held, it can't be opened anew.
    pub(crate) fn database(&self) -> Result<Database> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        database.clone().ok_or_else(|| Error::Closed(self.folder.store()))
    }

    /// Closes the database and opens it again: it takes no more writes after one has failed.
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
