use ndcrawl_store::Error as StoreError;
use neardup::detect::DetectError;

use super::reference_crawls::ReferenceCrawlsError;

/// Why a run could not go on. Every commit before is whole, so the run can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The store or the archive failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The decider failed.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// Pages cannot be compared with an earlier crawl.
    #[error(transparent)]
    Against(#[from] ReferenceCrawlsError),
    /// A line could not be written as JSON.
    #[error("a line of output could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The logs lack a row that another row names.
    #[error("the store does not hold {what} {id}: run `ndcrawl verify` on the folder")]
    Lost {
        /// The kind of row.
        what: &'static str,
        /// Its number.
        id: u32,
    },
    /// The crawl cannot go on sharing its work with other processes.
    #[error(transparent)]
    Sharing(#[from] super::SharingError),
    /// Another part failed first.
    #[error("stopped because another part failed")]
    Stopped,
}
