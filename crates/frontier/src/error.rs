//! Errors of the frontier.

use std::error::Error;

use ndcrawl_model::{UrlError, UrlId};

/// Why the frontier failed. No page is to blame: the crawl cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    /// The log cannot be read.
    #[error("cannot read URL {id} back from the log")]
    Log {
        /// The wanted URL.
        id: UrlId,
        /// The log's error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The log ends before a committed URL.
    #[error("URL {0} is not in the log")]
    Missing(UrlId),
    /// The log has a text that is no canonical URL.
    #[error("URL {id} in the log is damaged")]
    Damaged {
        /// The wanted URL.
        id: UrlId,
        /// What is wrong with the text.
        source: UrlError,
    },
    /// Mail of another slot has a text that is no canonical URL.
    #[error("mail from another slot names '{url}', which is not a canonical URL")]
    Mail {
        /// The text.
        url: String,
        /// What is wrong with it.
        source: UrlError,
    },
    /// All numbers for URLs are in use.
    #[error("more than {} URLs", u32::MAX)]
    Full,
}
