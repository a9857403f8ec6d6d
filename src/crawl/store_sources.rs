//! How frontier and decider read the store's logs: they ask through traits of their own, since
//! they do not know the store.

use std::sync::Arc;

use crate::detect::{LoggedPage, RecordSource};
use crate::frontier::UrlLog;
use crate::model::{PageRow, Sequence, UrlId, UrlRow};
use crate::store::{Error as StoreError, StoreReader};

use super::reference_crawls::{Against, AgainstError};

/// The log of URLs.
#[derive(Clone)]
pub(crate) struct Urls(pub StoreReader);

impl UrlLog for Urls {
    type Error = StoreError;

    fn read(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>, StoreError> {
        self.0.urls(first, count)
    }
}

/// The log of records, as a decider reads stored ones back; and those of earlier crawls, if it is compared with
/// them.
#[derive(Clone)]
pub struct Records {
    reader: StoreReader,
    against: Option<Arc<Against>>,
}

impl Records {
    /// The records of a crawl that stands for itself.
    pub fn new(reader: StoreReader) -> Self {
        Self { reader, against: None }
    }

    /// With the records of earlier crawls.
    pub(crate) fn with(reader: StoreReader, against: Option<Arc<Against>>) -> Self {
        Self { reader, against }
    }
}

impl RecordSource for Records {
    type Error = RecordError;

    fn page(&self, page: Sequence) -> Result<LoggedPage, RecordError> {
        if let Some(number) = page.as_earlier() {
            let against = self.against.as_ref().ok_or(RecordError::Missing(page))?;
            return Ok(against.logged(number)?);
        }
        let PageRow { group, terms, least_weight, order, .. } =
            self.reader.page(page)?.ok_or(RecordError::Missing(page))?;
        Ok(LoggedPage { group, terms, least_weight, order })
    }
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The store says why.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The records of earlier crawls say why.
    #[error(transparent)]
    Against(#[from] AgainstError),
    /// There is no such page.
    #[error("the store does not hold page {0}")]
    Missing(Sequence),
}
