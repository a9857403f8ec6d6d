//! How frontier and decider read the store's logs: they ask through traits of their own, since
//! they do not know the store.

use crate::detect::RecordSource;
use crate::frontier::UrlLog;
use crate::record::{FieldCounts, Sequence, TermId, UrlId, UrlRow};
use crate::store::{Error as StoreError, StoreReader};

/// The log of URLs.
#[derive(Clone)]
pub(super) struct Urls(pub StoreReader);

impl UrlLog for Urls {
    type Error = StoreError;

    fn read(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>, StoreError> {
        self.0.urls(first, count)
    }
}

/// The log of records.
#[derive(Clone)]
pub(super) struct Records(pub StoreReader);

impl RecordSource for Records {
    type Error = RecordError;

    fn terms(&self, page: Sequence) -> Result<Vec<(TermId, FieldCounts)>, RecordError> {
        Ok(self.0.page(page)?.ok_or(RecordError::Missing(page))?.terms)
    }
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum RecordError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the store does not hold page {0}")]
    Missing(Sequence),
}
