//! How frontier and decider read the store's logs: they ask through traits of their own, since
//! they do not know the store.

use crate::detect::{LoggedPage, RecordSource};
use crate::frontier::UrlLog;
use crate::record::{PageRow, Sequence, UrlId, UrlRow};
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

/// The log of records, as a decider reads stored ones back.
#[derive(Clone)]
pub struct Records(pub StoreReader);

impl RecordSource for Records {
    type Error = RecordError;

    fn page(&self, page: Sequence) -> Result<LoggedPage, RecordError> {
        let PageRow { group, terms, least_weight, order, .. } = self.0.page(page)?.ok_or(RecordError::Missing(page))?;
        Ok(LoggedPage { group, terms, least_weight, order })
    }
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The store says why.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such page.
    #[error("the store does not hold page {0}")]
    Missing(Sequence),
}
