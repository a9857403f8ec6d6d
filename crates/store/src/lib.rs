//! *What is stored, and how far did the crawl get?*
//!
//! One folder holds a crawl. Only this room writes to it and knows sled. One operation makes data of the crawl durable:
//! [`Store::commit`]. The bytes on disk are in `docs/design/store.md`.
//!
//! # The folder
//!
//! | file | holds | written |
//! |---|---|---|
//! | `pages.jsonl`, `errors.jsonl` | a line for every URL with an outcome | appended by a commit |
//! | `warc/` | exchanges with servers, WARC/1.1 | appended by [`Archive`], made durable by a commit |
//! | `store/` | the logs: URLs, terms, judged pages, outcomes, origins, commit records | by a commit |
//! | `earlier/` | earlier [generations](set_aside) of the crawl | by [`set_aside`] |
//! | `rebuilding.json` | marks a store that is being rebuilt | by [`set_aside_to_rebuild`] |
//! | `moved.json` | marks a crawl that goes on in a database | by [`mark_moved`] |
//! | `rests.jsonl` | until when hosts and addresses must not be asked | by [`RestLog`], at once and without a sync |
//! | `ndcrawl.lock` | the id of the process that holds the folder | by [`Store::open`] |
//! | `crawl.json`, `status.json` | summaries for people and monitors | by [`write_crawl_file`], [`write_status_file`] |
//!
//! # Life of a commit
//!
//! 1. The archive, whose bytes were appended before, is synced.
//! 2. Lines are appended to `pages.jsonl` and `errors.jsonl`, and both are synced.
//! 3. Rows are packed into blocks and written to the logs in small batches.
//! 4. The commit record is written. It holds the length of every file and log.
//! 5. The logs are flushed. Now the whole batch is committed.
//!
//! After a crash, opening the folder cuts or removes everything above the last commit record.
//!
//! # Invariants
//!
//! * Blocks are never rewritten and rows never change.
//! * No name on disk comes from a page or a URL.
//! * Readers see only committed data.
//! * No timer and no other thread flushes.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod archive;
mod archive_reader;
mod block;
mod cache;
mod check;
mod commit_marker;
mod compact_lines;
mod crawl_file;
mod database;
mod disk;
mod error;
mod folder;
mod generations;
mod gzip;
mod host;
mod host_key;
mod http_block;
mod integrity;
mod line_index;
mod line_texts;
mod log_file;
mod log_writer;
mod moved;
mod mutex;
mod options;
mod page_lines;
mod reader;
mod rebuilding;
mod record_check;
mod rests;
mod shared;
mod snapshot;
mod table;
mod value_chunk;
mod warc;
mod warc_files;
mod warc_reader;
mod writer;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
mod tests;

pub use archive::Archive;
pub use archive_reader::ArchiveReader;
pub use compact_lines::LastDepth;
pub use crawl_file::{read_json_file, write_crawl_file, write_json_file, write_status_file};
pub use disk::{DiskStep, Faults, free_space};
pub use error::{Error, Result};
pub use folder::{FolderLock, FolderUse, LOCK, delete_crawl, folder_use};
pub use generations::{CrawlVersion, EARLIER, complete, set_aside};
pub use gzip::Gzip;
pub use integrity::{CheckedCounts, VerifyReport, verify};
pub use line_index::LineIndex;
pub use moved::{MOVED, MovedTo, mark_moved};
pub use options::{FORMAT, Identity, OpenedStore, Options};
pub use page_lines::PageLines;
pub use reader::{DoneRow, StoreReader};
pub use rebuilding::{REBUILDING, expect_whole, hold, rebuilt, set_aside_to_rebuild, take_back};
pub use record_check::{ExpectedRecord, wrong_digests};
pub use rests::{RESTS, RestLog};
pub use snapshot::{NewSnapshot, SnapshotHead, SnapshotInput};
pub use warc::{payload_digest, warcinfo_member};
pub use warc_files::warc_serial;
pub use warc_reader::{HttpHead, WarcReader, WarcRecord, WarcRecordError};
pub use writer::Store;
