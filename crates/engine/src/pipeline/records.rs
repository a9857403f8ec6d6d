//! Reads page records back from the log, for a decider. The decider does not know the store: it asks through
//! its own trait.

use std::sync::Arc;

use ndcrawl_model::{PageRow, Sequence};
use ndcrawl_store::{Error as StoreError, StoreReader};
use neardup::detect::{LoggedPage, RecordSource};

use super::reference_crawls::{ReferenceCrawls, ReferenceCrawlsError};

/// The log of records of a crawl, and those of the earlier crawls that it is compared with.
#[derive(Clone)]
pub struct PageRecords {
    reader: StoreReader,
    against: Option<Arc<ReferenceCrawls>>,
}

impl PageRecords {
    /// Reads the records of a crawl alone.
    pub fn new(reader: StoreReader) -> Self {
        Self { reader, against: None }
    }

    /// Reads the records of a crawl and of earlier crawls.
    pub fn with(reader: StoreReader, against: Option<Arc<ReferenceCrawls>>) -> Self {
        Self { reader, against }
    }
}

impl RecordSource for PageRecords {
    type Error = PageRecordError;

    fn page(&self, page: Sequence) -> Result<LoggedPage, PageRecordError> {
        if let Some(number) = page.as_earlier() {
            let against = self.against.as_ref().ok_or(PageRecordError::Missing(page))?;
            return Ok(against.logged(number)?);
        }
        let PageRow { group, terms, least_weight, order, .. } =
            self.reader.page(page)?.ok_or(PageRecordError::Missing(page))?;
        Ok(LoggedPage { group, terms, least_weight, order })
    }
}

/// Why a page record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PageRecordError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The records of earlier crawls could not be read.
    #[error(transparent)]
    Against(#[from] ReferenceCrawlsError),
    /// The log does not have the page.
    #[error("the store does not hold page {0}")]
    Missing(Sequence),
}
