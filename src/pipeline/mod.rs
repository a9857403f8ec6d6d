//! *How does a page that was read become a decision, a row and a record of the archive?*
//!
//! A crawl and `dedup` share this: pages arrive in an order, the [`DecisionStage`] decides them in that order and builds
//! batches, and the committer makes the batches durable, one after the other.
//!
//! ```text
//! page ─► DecisionStage ─► SealedBatch ─► commit_all ─► store
//!            │    ▲                           │
//!            │    └──── CommitProgress ◄──────┘
//!            └► HostStats, LiveStats, IndexSnapshots
//! ```
//!
//! A URL's outcome, its row and the terms that it was the first to hold stand in one batch, and batches are committed
//! in order. So a committed page never names a term or a page that is not.

mod batch;
mod commit;
mod decision_stage;
mod error;
mod host_stats;
mod index_snapshot;
mod live_stats;
mod page_lines;
mod reading;
mod records;
mod reference_crawls;
mod restore;
mod stop;

pub use error::PipelineError;
pub use records::{RecordError, Records};
pub use reference_crawls::{Against, AgainstError};
pub use stop::{Stop, StopReason};

pub(crate) use batch::SealedBatch;
pub(crate) use commit::{CommitProgress, commit_all};
pub(crate) use decision_stage::{ArchivePolicy, DecidedPage, DecisionStage, group_of, outcome_of};
pub(crate) use host_stats::{Attempts, HostStats};
pub(crate) use index_snapshot::{IndexSnapshots, signature as snapshot_signature};
pub(crate) use live_stats::LiveStats;
pub(crate) use page_lines::{add_answer, add_page, leased_line, unleased_line};
pub(crate) use reading::read;
pub(crate) use restore::restore_decider;
