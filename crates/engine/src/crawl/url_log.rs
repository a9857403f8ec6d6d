//! Reads URL rows back from the log, for the frontier. The frontier does not know the store: it asks through its own
//! trait.

use ndcrawl_frontier::UrlLog;
use ndcrawl_model::{UrlId, UrlRow};
use ndcrawl_store::{Error as StoreError, StoreReader};

/// The log of URLs.
#[derive(Clone)]
pub(crate) struct StoredUrls(pub StoreReader);

impl UrlLog for StoredUrls {
    type Error = StoreError;

    fn read(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>, StoreError> {
        self.0.urls(first, count)
    }
}
