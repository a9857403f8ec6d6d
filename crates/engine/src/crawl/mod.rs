//! *Who does what, in which order, and when is it over?*
//!
//! A crawl is a cycle:
//!
//! ```text
//! seeds ─► frontier ─lease─► worker (fetch ► read) ─► dispatcher (decide) ─► committer ─► store
//!             ▲                                            │
//!             └──────────── links of the decided page ◄────┘
//! ```
//!
//! The forward edges are bounded channels. The back edge is an insert into the frontier, which never waits. Workers
//! and the scheduler are tokio tasks. A worker renders a short page itself, and a long page on a blocking thread.
//! The dispatcher and the committer have a thread each.
//!
//! **End.** The crawl is over when the frontier is empty and no lease is alive. The dispatcher ends a lease only
//! after it has offered the page's links, so the frontier never looks empty too early.
//!
//! **Shutdown**, in order: the scheduler leases nothing more; fetches in flight end within the grace time; the
//! dispatcher drains its channel and seals the last batch; the committer commits that batch.
//!
//! Public types: [`Crawl`] is a crawl that is ready to run, [`CrawlWatch`] a view of it for other threads, [`PauseSwitch`] its pause,
//! [`CrawlEnding`] its result. [`rebuild`] restores lost logs from the output folder.

mod commit;
mod conditional_fetch;
mod counterpart_links;
mod dispatcher;
mod early_failures;
mod enqueue;
mod excused_tries;
#[cfg_attr(not(feature = "spider"), allow(dead_code))]
mod external_engine;
mod finish;
#[cfg(all(feature = "browser", unix))]
mod headless_fetch;
mod messages;
mod options;
mod outcomes;
mod page_fetch;
mod page_share;
mod queue_status;
mod rebuild;
mod recrawl;
mod redirect_chains;
mod restore;
mod run;
mod scheduler;
mod shared_revisions;
mod sitemap_claims;
mod soft_404;
mod spellings;
#[cfg(feature = "spider")]
mod spider;
mod taken_over;
mod topic;
mod url_log;
mod watch;
mod worker;

#[cfg(test)]
mod tests;

use crate::pipeline::{PipelineError, ReferenceCrawlsError};
use ndcrawl_fetch::FetchError;
use ndcrawl_frontier::FrontierError;
use ndcrawl_store::Error as StoreError;
use neardup::detect::DetectError;

pub use conditional_fetch::ArchivedPages;
pub use finish::{CrawlEnding, finish_folder};
#[cfg(all(feature = "browser", unix))]
pub use headless_fetch::HeadlessOptions;
pub use options::{DuplicateLinks, DuplicateLinksError, Engine, Options};
pub use queue_status::{QueueStatus, RestingOrigin, WaitReason};
pub use rebuild::{RebuildReport, rebuild};
pub use run::{Crawl, CrawlSetup, Seed, SharedParts};
pub use topic::{Example, FocusError, FocusOptions};
pub use watch::{CrawlWatch, PauseSwitch};

/// Why a crawl could not go on. Every commit before is whole, so the crawl can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// Deciding or storing pages failed.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// The frontier failed.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// The topic of a focused crawl could not be determined.
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
    /// The system refused to start a thread.
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
macro_rules! from_pipeline_parts {
    ($($error:ty),*) => {$(
        impl From<$error> for CrawlError {
            fn from(error: $error) -> Self {
                PipelineError::from(error).into()
            }
        }
    )*};
}

from_pipeline_parts!(StoreError, DetectError, ReferenceCrawlsError, serde_json::Error);
