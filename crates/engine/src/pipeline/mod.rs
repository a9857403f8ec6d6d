//! *How does a page become a verdict, a line and a row?*
//!
//! The part that a crawl and `dedup` share: both hand over pages in order, and both write the same kind of output
//! folder.
//!
//! ```text
//! body ─► render_page ─► DecisionStage ─► SealedBatch ─► commit_all ─► store
//!                           │    ▲                           │
//!                           │    └──── CommitProgress ◄──────┘
//!                           └► HostStats, LiveStats, IndexSnapshots
//! ```
//!
//! **Lifecycle.** `restore_decider` brings the decider to the state of the last commit. Then one thread owns a
//! `DecisionStage`: it decides pages in their order and builds a `SealedBatch`. When a batch is full, that thread
//! seals it and sends it to the thread of `commit_all`, which archives the bodies and commits the batch. The stage
//! builds the next batch meanwhile.
//!
//! A URL's outcome, its row and the terms that it was the first to hold are in one batch, and batches are committed in
//! order. So a committed page never names a term or a page that is not committed. A kill costs at most the batch that
//! is being built and the batch that is being committed: the next run repeats both.
//!
//! Public types: [`ReferenceCrawls`] holds the pages of earlier crawls (`--against`), [`PageRecords`] reads records
//! back from the log for a decider, and [`PipelineError`] says why a run cannot go on.

mod batch;
mod commit;
mod content_reader;
mod counterparts;
mod decision_stage;
mod displaced_page;
mod error;
mod host_stats;
mod index_snapshot;
mod kept_copies;
mod live_stats;
mod named_original;
mod page_decider;
mod page_lines;
mod records;
mod reference_crawls;
mod render;
mod restore;
mod shared_crawl;
mod shared_rests;
mod stop;

pub use counterparts::{Counterpart, counterparts};
pub use error::PipelineError;
pub use records::{PageRecordError, PageRecords};
pub use reference_crawls::{ReferenceCrawls, ReferenceCrawlsError, link_hash};
pub use shared_crawl::{
    ArchiveReach, Letter, SharedChanges, SharedDecider, SharedLog, SharedOriginal, SharedPage, SharedRevision,
    SharedStep, SharingError,
};
pub use shared_rests::SharedRests;
pub use stop::{Stop, StopReason};

pub use batch::SealedBatch;
pub use commit::{CommitProgress, commit_all};
pub use content_reader::ContentReader;
pub use decision_stage::{ArchivePolicy, DecidedPage, DecisionStage, group_of};
pub use host_stats::{HostStats, RequestCounts};
pub use index_snapshot::{IndexSnapshots, signature as snapshot_signature};
pub use kept_copies::Cluster;
pub use live_stats::LiveStats;
pub use live_stats::RecentUrl;
pub use named_original::{NamedOriginal, OriginalLinks};
pub use page_decider::PageDecider;
pub use page_lines::outcome_line;
pub use page_lines::{
    add_answer, add_document, add_original, add_page, leased_line, outcome_of, told_text_digest, unleased_line,
};
pub use render::as_own_document;
pub use render::{RenderedPage, compared_digest, page_input, render_page};
pub use restore::restore_decider;
