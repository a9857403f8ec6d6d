//! The part of a commit that belongs to one slot, as the log of the slot has it.
//!
//! Numbers of URLs count within the log: a URL has the number of its first mention. So a slot can change hands, and its
//! log can be read without those of other slots. URLs of other slots are mentioned with their text, too, once.

use serde::{Deserialize, Serialize};

use super::error::ClusterError;
use super::sealed::{open_sealed, seal};
use ndcrawl_model::{OutcomeRow, PageLinksRow, PageRow, Requeue, Slot, UrlId, UrlRow};

/// A URL that the log mentions for the first time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MentionedUrl {
    /// Its place among all URLs of the commit, whatever their slots: a referrer comes before the URLs that it names.
    pub order: u32,
    /// Its row. That of another slot's URL is `Elsewhere` and names no referrer.
    pub row: UrlRow,
}

/// The part of a commit that belongs to one slot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SlotEntry {
    pub urls: Vec<MentionedUrl>,
    pub requeued: Vec<Requeue>,
    pub shortened: Vec<Requeue>,
    pub links: Vec<PageLinksRow>,
    pub outcomes: Vec<OutcomeRow>,
    pub repeats: Vec<(UrlId, UrlId)>,
    pub counterparts: Vec<(UrlId, UrlId)>,
    pub unmatched: Vec<UrlId>,
    /// Decided pages without their terms, which the arrivals have.
    pub pages: Vec<PageRow>,
    /// The folder of the archive, below that of the worker.
    pub folder: String,
    pub page_lines: Vec<String>,
    pub error_lines: Vec<String>,
}

impl SlotEntry {
    /// Returns the entry as the database keeps it.
    pub fn sealed(&self) -> Result<Vec<u8>, ClusterError> {
        let bytes = postcard::to_stdvec(self).map_err(|error| ClusterError::Damaged(error.to_string()))?;
        seal(&bytes)
    }

    /// Reads an entry.
    pub fn open(sealed: &[u8], slot: Slot, number: i64) -> Result<Self, ClusterError> {
        let name = || format!("commit {number} of slot {}", slot.0);
        let bytes = open_sealed(sealed, name)?;
        postcard::from_bytes(&bytes).map_err(|error| ClusterError::Damaged(format!("{}: {error}", name())))
    }
}
