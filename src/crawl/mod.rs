//! *Who does what, in which order, and when is it over?*
//!
//! A crawl is a cycle:
//!
//! ```text
//! seeds ─► frontier ─lease─► worker (fetch ► read) ─► dispatcher (decide) ─► committer ─► store
//!             ▲                                            │
//!             └──────────── links of the judged page ◄─────┘
//! ```
//!
//! The forward edges are bounded channels; the back edge is an insert into the frontier, which never
//! waits. Workers and the scheduler are tokio tasks; a worker renders a short page itself and has a
//! long one rendered on a blocking thread. The dispatcher and the committer have a thread each. The crawl
//! is over when the frontier is empty and no lease is alive; the dispatcher ends a lease only after it
//! has offered the page's links.
//!
//! Shutdown, in order: stop leasing, let fetches end within the time of grace, close the channel to
//! the dispatcher, which drains it and seals the last batch, and close the channel to the committer,
//! which commits it.

mod commit;
mod conditional_fetch;
mod dispatcher;
mod enqueue;
#[cfg_attr(not(feature = "spider"), allow(dead_code))]
mod external_engine;
mod finish;
#[cfg(feature = "browser")]
mod headless_fetch;
mod messages;
mod options;
mod outcomes;
mod queue_status;
mod rebuild;
mod restore;
mod run;
mod scheduler;
mod soft_404;
#[cfg(feature = "spider")]
mod spider;
mod topic;
mod url_log;
mod watch;
mod worker;

#[cfg(test)]
mod tests;

use crate::detect::DetectError;
use crate::fetch::FetchError;
use crate::frontier::FrontierError;
use crate::pipeline::{AgainstError, PipelineError};
use crate::store::Error as StoreError;

pub use conditional_fetch::Archived;
pub use finish::Ending;
#[cfg(feature = "browser")]
pub use headless_fetch::DrawingOptions;
pub use options::{DuplicateLinks, DuplicateLinksError, Engine, Options};
pub use queue_status::{Waiting, Why};
pub use rebuild::{Rebuilt, rebuild};
pub use run::{Crawl, Seed, Setup};
pub use topic::{Example, FocusError, FocusOptions};
pub use watch::Watch;

/// Why a crawl could not go on. What was committed before is whole, and the crawl can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// Deciding or storing pages failed.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// The frontier.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// What is looked for could not be made out.
    #[error(transparent)]
    Focus(#[from] FocusError),
    /// The fetcher could not be set up.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A worker panicked.
    #[error("a worker failed: {0}")]
    Worker(tokio::task::JoinError),
    /// A thread panicked.
    #[error("the {0} thread panicked")]
    Panic(&'static str),
    /// The system starts no further thread.
    #[error(
        "the {name} thread could not be started: {source}; raise the limit on processes (ulimit -u) or free memory"
    )]
    Spawn {
        /// The thread.
        name: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// Errors of the pipeline's parts become its errors on the way.
macro_rules! by_way_of_the_pipeline {
    ($($error:ty),*) => {$(
        impl From<$error> for CrawlError {
            fn from(error: $error) -> Self {
                PipelineError::from(error).into()
            }
        }
    )*};
}

by_way_of_the_pipeline!(StoreError, DetectError, AgainstError, serde_json::Error);
