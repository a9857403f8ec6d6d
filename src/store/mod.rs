//! *What is kept, and how far did we get?*
//!
//! One folder holds a crawl. This room alone writes to it, alone knows sled, and offers one
//! operation that makes anything durable: [`Store::commit`].
//!
//! # The folder
//!
//! | file | holds | written |
//! |---|---|---|
//! | `pages.jsonl`, `errors.jsonl` | a line for every URL that has got its outcome | appended by a commit |
//! | `warc/` | exchanges with servers, WARC/1.1 | appended by [`Archive`], made durable by a commit |
//! | `store/` | the logs: URLs, terms, judged pages, outcomes, origins, commit records | by a commit |
//! | `earlier/` | [generations](set_aside) of the crawl that are over | by [`set_aside`] |
//! | `rebuilding.json` | says that the store is being made anew | by [`set_aside_to_rebuild`] |
//! | `ndcrawl.lock` | the id of the process that has the folder | by [`Store::open`] |
//! | `crawl.json`, `status.json` | what people and monitors read | by [`write_crawl_file`], [`write_status_file`] |
//!
//! # Life of a commit
//!
//! 1. Archive bytes were appended before. The archive is synced.
//! 2. Lines are appended to `pages.jsonl` and `errors.jsonl`, and both are synced.
//! 3. Rows are sealed into blocks and written to the logs, a little at a time.
//! 4. The commit record is written. It names how far every file and log reaches.
//! 5. The logs are flushed. Now the batch counts, all of it.
//!
//! A crash before the end leaves the folder as the last commit record says: what lies above it is
//! cut off or removed when the folder is opened again.
//!
//! # What is not there
//!
//! * No block is ever rewritten, and no row is ever changed.
//! * No name on disk comes from a page or a URL.
//! * No reader sees anything that is not committed.
//! * Nothing is flushed by a timer or by another thread.
//!
//! # Bytes on disk
//!
//! Numbers in keys are big-endian, so that they sort. Values are
//! [postcard](https://postcard.jamesmunns.com/wire-format).
//!
//! | tree | key | value |
//! |---|---|---|
//! | `url`, `term`, `page` | id of the block's first row, u32 | a block of rows |
//! | `done` | commit number, u64, then the block's number, u32 | a block of requeued URLs, outcomes and what duplicates repeat |
//! | `host` | BLAKE3-128 of the origin, then the commit number, u64 | a row; the newest one counts |
//! | `robots` | BLAKE3-128 of the body | a robots.txt, written once however often its origin changes |
//! | `commit` | commit number, u64 | a [`CommitMark`](crate::model::CommitMark); the last two are kept |
//! | `meta` | `format` or `identity` | the format in decimal digits; an [`Identity`] |
//!
//! Beside the database, `store/index.snapshot` holds state that was derived from the logs, so that
//! opening need not derive it again; it is never needed. And `store/last-commit` has the number of the last commit in
//! decimal digits: a database that has forgotten commits is not taken at its word.
//!
//! A block is a sequence of rows, each behind its length (LEB128). Every value but `format` is
//! written as one or more pieces of at most 16 KiB, each with a format byte, the number of pieces
//! and an XXH3 checksum over tree, key and bytes. The first piece has the key itself, the others
//! have the key and their number, u16.

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
mod log_file;
mod mutex;
mod options;
mod page_lines;
mod reader;
mod rebuilding;
mod shared;
mod snapshot;
mod table;
mod value_chunk;
mod warc;
mod warc_files;
mod warc_reader;
mod writer;

#[cfg(any(test, fuzzing))]
pub mod fuzzing;
#[cfg(test)]
mod tests;

pub use archive::Archive;
pub use archive_reader::ArchiveReader;
pub use crawl_file::{read_json_file, write_crawl_file, write_json_file, write_status_file};
pub use disk::{DiskStep, Faults, free_space};
pub use error::{Error, Result};
pub use folder::{FolderLock, delete_crawl};
pub use generations::{EARLIER, Generation, complete, set_aside};
pub use integrity::{CheckedCounts, VerifyReport, verify};
pub use options::{FORMAT, Identity, OpenedStore, Options};
pub use page_lines::PageLines;
pub use reader::{DoneRow, StoreReader};
pub use rebuilding::{REBUILDING, expect_whole, hold, rebuilt, set_aside_to_rebuild, take_back};
pub use snapshot::{NewSnapshot, SnapshotHead, SnapshotInput};
pub use warc::{payload_digest, warcinfo_member};
pub use warc_files::warc_serial;
pub use warc_reader::{HttpHead, WarcReader, WarcRecord, WarcRecordError};
pub use writer::Store;
