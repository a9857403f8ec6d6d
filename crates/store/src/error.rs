//! Errors of opening, writing and reading an output folder.

use std::io;
use std::path::{Path, PathBuf};

/// Result of this room.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on an output folder failed. Each message names file or folder, reason and remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process holds the folder.
    #[error(
        "{folder} is in use by another run (process {pid}): wait for it, stop it, or choose another folder with --out"
    )]
    InUse {
        /// The output folder.
        folder: PathBuf,
        /// The process that holds the lock, or `unknown`.
        pid: String,
    },
    /// The folder holds no crawl.
    #[error("{folder} holds no crawl: give the output folder of a crawl (the one with pages.jsonl and store/ in it)")]
    NotACrawl {
        /// The folder.
        folder: PathBuf,
    },
    /// A rebuild of the store was interrupted.
    #[error("the store in {folder} is incomplete: a rebuild was interrupted: run 'ndcrawl reindex {folder}' again")]
    Rebuilding {
        /// The output folder.
        folder: PathBuf,
    },
    /// The crawl goes on in a database.
    #[error(
        "the crawl in {folder} has moved, and is the crawl '{crawl}' of {servers} now: go on with ndcrawl worker, get it back \
         into a new folder with ndcrawl gather, or delete moved.json here to have two crawls"
    )]
    Moved {
        /// The folder.
        folder: PathBuf,
        /// The servers.
        servers: String,
        /// The name of the crawl.
        crawl: String,
    },
    /// The folder has output without its store.
    #[error("{file} is there without its store: choose another folder with --out, or start over with --fresh --force")]
    NotEmpty {
        /// The file that would be overwritten.
        file: PathBuf,
    },
    /// Another version of the program made the folder.
    #[error(
        "{store} has format {found}, this program reads format {known}: use the version of ndcrawl that made it, or choose another folder with --out"
    )]
    Format {
        /// The store's folder.
        store: PathBuf,
        /// The format of the folder.
        found: u32,
        /// The format of the program.
        known: u32,
    },
    /// The stored records were made with other settings and cannot be compared with new ones.
    #[error(
        "{store} was made with the rendering '{found}', this run has '{wanted}': use the same settings, or choose another folder with --out"
    )]
    Rendering {
        /// The store's folder.
        store: PathBuf,
        /// The rendering of the folder.
        found: String,
        /// The rendering of this run.
        wanted: String,
    },
    /// Stored bytes are damaged.
    #[error(
        "{place} is damaged: {reason}: 'ndcrawl verify' lists all damage; what it does not name is sound, and --fresh --force starts over"
    )]
    Corrupt {
        /// The file, or tree and key.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The disk is full. Committed data is safe.
    #[error("no space left for {path}: free some and run the same command again, it resumes where it stopped")]
    DiskFull {
        /// The file that was written.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// The system refused an operation.
    #[error("can't {action} {path}: {source}: check the disk and the permissions, then run again")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// The batch contradicts itself or the logs: a bug of this program.
    #[error("a batch can't be committed: {0}: this is a bug in ndcrawl, please report it")]
    Batch(String),
    /// The record in the archive has no body.
    #[error("{file}, offset {offset}, is a {kind} record and has no body: read the page that it refers to")]
    NoBody {
        /// The WARC file.
        file: String,
        /// The record's offset.
        offset: u64,
        /// The record's type.
        kind: String,
    },
    /// The store was closed, or could not be reopened after a failure.
    #[error("{0} is closed: open it again")]
    Closed(PathBuf),
}

impl Error {
    /// Wraps an I/O error with file and action. A full disk has its own variant.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path, source },
            _ => Self::Io { action, path, source },
        }
    }

    /// Wraps a database error with its place.
    pub(crate) fn sled(action: &'static str, place: &str, error: sled::Error) -> Self {
        match error {
            sled::Error::Io(source) => Self::io(action, Path::new(place), source),
            // The message of sled ends with a place in its code.
            sled::Error::Corruption { .. } => Self::corrupt(place, "the database found bytes that it did not write"),
            other => Self::corrupt(place, other),
        }
    }

    /// Creates an error for damaged bytes at `place`.
    pub(crate) fn corrupt(place: impl Into<String>, reason: impl ToString) -> Self {
        Self::Corrupt { place: place.into(), reason: reason.to_string() }
    }
}
