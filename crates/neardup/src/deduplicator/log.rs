//! What is kept of each document beside its key.

use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::detect::{LoggedPage, NoLog, RecordSource};
use crate::model::{Digest, PageTerms, RunningText, Sequence, TermOrder, Verdict};

/// A document in the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LogEntry {
    pub digest: Digest,
    pub terms: PageTerms,
    pub text: RunningText,
    pub verdict: Verdict,
}

/// All documents in the order of insertion, packed: some three bytes a term, and where own words are compared four bytes
/// a word. The index reads records back from here.
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
        let order = TermOrder { text: entry.text, ..TermOrder::default() };
        Ok(LoggedPage { terms: entry.terms, order, ..LoggedPage::default() })
    }
}
