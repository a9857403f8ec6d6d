//! How the decider reads records back from the store's log.

use std::sync::Arc;

use crate::detect::{LoggedPage, RecordSource};
use crate::model::{PageRow, Sequence};
use crate::store::{Error as StoreError, StoreReader};

use super::reference_crawls::{Against, AgainstError};

/// The log of records of a crawl, and those of the earlier crawls that it is compared with.
#[derive(Clone)]
pub struct Records {
    reader: StoreReader,
    against: Option<Arc<Against>>,
}

impl Records {
    /// The records of a crawl that is compared with itself alone.
    pub fn new(reader: StoreReader) -> Self {
        Self { reader, against: None }
    }

    /// The same, with the records of earlier crawls.
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
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The records of earlier crawls could not be read.
    #[error(transparent)]
    Against(#[from] AgainstError),
    /// There is no such page.
    #[error("the store does not hold page {0}")]
    Missing(Sequence),
}
