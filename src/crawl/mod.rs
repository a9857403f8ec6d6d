//! *Who does what, in which order, and when is it over?*
//!
//! A crawl is a cycle:
//!
//! ```text
//! seeds ─► frontier ─lease─► worker (fetch ► render) ─► judge (decide) ─► committer ─► store
//!             ▲                                            │
//!             └──────────── links of the judged page ◄─────┘
//! ```
//!
//! The forward edges are bounded channels; the back edge is an insert into the frontier, which never
//! waits. Workers and the scheduler are tokio tasks; a worker renders a short page itself and has a
//! long one rendered on a blocking thread. The judge and the committer have a thread each. The crawl
//! is over when the frontier is empty and no lease is alive; the judge ends a lease only after it
//! has offered the page's links.
//!
//! Shutdown, in order: stop leasing, let fetches end within the time of grace, close the channel to
//! the judge, which drains it and seals the last batch, and close the channel to the committer,
//! which commits it.

mod batch;
mod commit;
mod conditional_fetch;
mod decision_stage;
mod enqueue;
#[cfg_attr(not(feature = "spider"), allow(dead_code))]
mod external_engine;
mod finish;
#[cfg(feature = "browser")]
mod headless_fetch;
mod host_stats;
mod index_snapshot;
mod live_stats;
mod messages;
mod options;
mod outcomes;
mod page_lines;
mod queue_status;
mod reading;
mod rebuild;
mod reference_crawls;
mod restore;
mod run;
mod scheduler;
mod soft_404;
#[cfg(feature = "spider")]
mod spider;
mod store_sources;
mod topic;
mod worker;

#[cfg(test)]
mod tests;

use crate::detect::DetectError;
use crate::fetch::FetchError;
use crate::frontier::FrontierError;
use crate::store::Error as StoreError;

/// What judging pages without a crawl shares with it.
#[cfg(feature = "dedup")]
pub(crate) mod parts {
    pub(crate) use super::batch::{Line, Sealed};
    pub(crate) use super::decision_stage::group;
    pub(crate) use super::host_stats::Book;
    pub(crate) use super::index_snapshot::{Snapshots, signature as snapshot_signature};
    pub(crate) use super::live_stats::Live;
    pub(crate) use super::outcomes::outcome_of;
    pub(crate) use super::page_lines::{add_answer, add_page, error_line, unleased_line};
    pub(crate) use super::reading::read;
    pub(crate) use super::reference_crawls::EarlierPage;
    pub(crate) use super::restore::decider as restored_decider;
    pub(crate) use super::store_sources::Records;
}

pub use conditional_fetch::Archived;
pub use finish::Ending;
#[cfg(feature = "browser")]
pub use headless_fetch::DrawingOptions;
pub use live_stats::Watch;
pub use options::{DuplicateLinks, DuplicateLinksError, Engine, Options};
pub use queue_status::{Waiting, Why};
pub use rebuild::{Rebuilt, rebuild};
pub use reference_crawls::{Against, AgainstError};
pub use run::{Crawl, Seed, Setup};
pub use store_sources::{RecordError, Records};
pub use topic::{Example, FocusError, FocusOptions};

/// How urgently a crawl is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It goes on.
    Go,
    /// No new fetches; those in flight may end within the time of grace.
    Soon,
    /// Fetches in flight are dropped; what arrived is committed.
    Now,
    /// As `Soon`, because the disk has less than the free space asked for.
    DiskFull,
    /// As `Now`, because a part failed.
    Failed,
}

/// Why a crawl ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing was left to fetch within scope and budgets.
    Finished,
    /// `max_time` was over.
    Time,
    /// A stop was asked for.
    Signal,
    /// Too little free space.
    DiskFull,
    /// A part failed; the error is reported beside.
    Failed,
}

/// Why a crawl could not go on. What was committed before is whole, and the crawl can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The store or the archive.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The frontier.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// The decider.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// An earlier crawl cannot be compared with.
    #[error(transparent)]
    Against(#[from] AgainstError),
    /// What is looked for could not be made out.
    #[error(transparent)]
    Focus(#[from] FocusError),
    /// The fetcher could not be set up.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A line could not be written as JSON.
    #[error("a line of output could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The logs do not hold what they must.
    #[error("the store does not hold {what} {id}: run `ndcrawl verify` on the folder")]
    Lost {
        /// Kind of row.
        what: &'static str,
        /// Its number.
        id: u32,
    },
    /// A worker panicked.
    #[error("a worker failed: {0}")]
    Worker(tokio::task::JoinError),
    /// A thread panicked.
    #[error("the {0} thread panicked")]
    Panic(&'static str),
    /// Another part failed first.
    #[error("stopped because another part failed")]
    Stopped,
}
