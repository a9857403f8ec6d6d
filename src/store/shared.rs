//! What writer and readers have in common: the open database and the last commit.

use std::sync::{PoisonError, RwLock};

use crate::model::CommitMark;

use super::cache::BlockCache;
use super::database::Trees;
use super::error::{Error, Result};
use super::folder::{Folder, Lock};

/// Blocks of URLs and of pages that are kept ready for reads of single rows.
const URL_BLOCKS: usize = 256;
const PAGE_BLOCKS: usize = 64;

/// Shared by the writer and all readers. The folder is free when the last of them is gone.
pub(crate) struct Shared {
    folder: Folder,
    cache_bytes: u64,
    /// `None` after the store was closed, or if it could not be opened again.
    trees: RwLock<Option<Trees>>,
    mark: RwLock<CommitMark>,
    pub(crate) url_blocks: BlockCache,
    pub(crate) page_blocks: BlockCache,
    // Last, so that the database is closed before the folder is free.
    _lock: Lock,
}

impl Shared {
    pub(crate) fn new(folder: Folder, cache_bytes: u64, trees: Trees, mark: CommitMark, lock: Lock) -> Self {
        Self {
            folder,
            cache_bytes,
            trees: RwLock::new(Some(trees)),
            mark: RwLock::new(mark),
            url_blocks: BlockCache::new(URL_BLOCKS),
            page_blocks: BlockCache::new(PAGE_BLOCKS),
            _lock: lock,
        }
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The database. Hold it briefly: while it is held, it can't be opened anew.
    pub(crate) fn trees(&self) -> Result<Trees> {
        let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        trees.clone().ok_or_else(|| Error::Closed(self.folder.store()))
    }

    /// Closes the database and opens it again: it takes no more writes after one has failed.
    pub(crate) fn reopen(&self) -> Result<Trees> {
        let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
        *trees = None;
        let opened = Trees::open(&self.folder.store(), self.cache_bytes)?;
        *trees = Some(opened.clone());
        Ok(opened)
    }

    pub(crate) fn close(&self) {
        *self.trees.write().unwrap_or_else(PoisonError::into_inner) = None;
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
