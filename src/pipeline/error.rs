use crate::detect::DetectError;
use crate::store::Error as StoreError;

use super::reference_crawls::AgainstError;

/// Why deciding and storing pages could not go on. Everything that was committed before is whole.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The store or the archive failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The decider failed.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// An earlier crawl cannot be compared with.
    #[error(transparent)]
    Against(#[from] AgainstError),
    /// A line could not be written as JSON.
    #[error("a line of output could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The logs miss a row that they must hold.
    #[error("the store does not hold {what} {id}: run `ndcrawl verify` on the folder")]
    Lost {
        /// The kind of row.
        what: &'static str,
        /// Its number.
        id: u32,
    },
    /// Another part failed first.
    #[error("stopped because another part failed")]
    Stopped,
}
