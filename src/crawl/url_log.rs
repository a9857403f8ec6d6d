//! How the frontier reads URLs back from the store's log.

use crate::frontier::UrlLog;
use crate::model::{UrlId, UrlRow};
use crate::store::{Error as StoreError, StoreReader};

/// The log of URLs.
#[derive(Clone)]
pub(crate) struct Urls(pub StoreReader);

impl UrlLog for Urls {
    type Error = StoreError;

    fn read(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>, StoreError> {
        self.0.urls(first, count)
    }
}
