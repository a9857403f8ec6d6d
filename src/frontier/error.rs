//! What can go wrong in the frontier.

use std::error::Error;

use crate::model::{UrlError, UrlId};

/// Why the frontier could not do what it was asked. None of these is the fault of a page: all say
/// that the crawl cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    /// The log could not be read.
    #[error("cannot read URL {id} back from the log")]
    Log {
        /// The URL that was asked for.
        id: UrlId,
        /// What the log says.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The log ends before a URL that was reported as committed.
    #[error("URL {0} is not in the log")]
    Missing(UrlId),
    /// The log holds a text that no canonical URL has.
    #[error("URL {id} in the log is damaged")]
    Damaged {
        /// The URL that was asked for.
        id: UrlId,
        /// What is wrong with it.
        source: UrlError,
    },
    /// The numbers for URLs are used up.
    #[error("more than {} URLs", u32::MAX)]
    Full,
}
