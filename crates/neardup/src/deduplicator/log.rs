//! What is kept of each document beside its key.

use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::detect::{LoggedPage, NoLog, RecordSource};
use crate::model::{Digest, PageTerms, Sequence, Verdict};

/// A document in the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LogEntry {
    pub digest: Digest,
    pub terms: PageTerms,
    pub verdict: Verdict,
}

/// All documents in the order of insertion, packed: some three bytes a term. The index reads records back from here.
#[derive(Clone, Debug, Default)]
pub(super) struct Log(Arc<RwLock<Vec<LogEntry>>>);

impl Log {
    pub fn push(&self, entry: LogEntry) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    pub fn with<T>(&self, read: impl FnOnce(&[LogEntry]) -> T) -> T {
        read(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn get(&self, document: Sequence) -> Option<LogEntry> {
        self.with(|entries| entries.get(document.index()).cloned())
    }
}

impl RecordSource for Log {
    type Error = NoLog;

    fn page(&self, page: Sequence) -> Result<LoggedPage, NoLog> {
        let entry = self.get(page).ok_or(NoLog)?;
        Ok(LoggedPage { terms: entry.terms, ..LoggedPage::default() })
    }
}
