//! Who decides: the decider of this folder, or processes together.

use ndcrawl_model::{Sequence, Verdict};
use neardup::detect::{Decider, DeciderStats};

use super::IndexSnapshots;
use super::records::PageRecords;
use super::shared_crawl::SharedDecider;

/// Who decides on the pages of a crawl.
pub enum PageDecider {
    /// The decider of this folder, and its snapshots.
    Folder(Box<FolderDecider>),
    /// Several processes together.
    Shared(Box<dyn SharedDecider>),
}

/// The decider of a folder.
pub struct FolderDecider {
    pub decider: Decider<PageRecords>,
    pub snapshots: IndexSnapshots,
}

impl PageDecider {
    /// Returns the folder's own decider, if pages are decided here.
    pub fn folder(&self) -> Option<&FolderDecider> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Shared(_) => None,
        }
    }

    /// As [`folder`](Self::folder).
    pub fn folder_mut(&mut self) -> Option<&mut FolderDecider> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Shared(_) => None,
        }
    }

    /// Returns the verdict on a page that was decided here.
    pub fn verdict(&self, page: Sequence) -> Option<Verdict> {
        self.folder()?.decider.verdict(page)
    }

    /// Returns the sizes of the index.
    pub fn stats(&self) -> DeciderStats {
        match self {
            Self::Folder(folder) => folder.decider.stats(),
            Self::Shared(shared) => shared.stats(),
        }
    }
}
