//! Why the folder could not be opened, written or read.

use std::io;
use std::path::{Path, PathBuf};

/// Shorthand for results of this room.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on the folder of a crawl failed. Each message names the file or folder, the
/// reason and the next step.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has the folder.
    #[error(
        "{folder} is in use by another run (process {pid}): wait for it, stop it, or choose another folder with --out"
    )]
    InUse {
        /// The output folder.
        folder: PathBuf,
        /// The process that holds the lock, or `unknown`.
        pid: String,
    },
    /// There is nothing to read.
    #[error("{folder} holds no crawl: give the output folder of a crawl (the one with pages.jsonl and store/ in it)")]
    NotACrawl {
        /// The folder.
        folder: PathBuf,
    },
    /// The store was being made anew, and that was cut short.
    #[error("the store in {folder} was being made anew and is not whole: 'ndcrawl reindex {folder}' makes it")]
    Rebuilding {
        /// The output folder.
        folder: PathBuf,
    },
    /// The folder has output in it, but not the store that it belongs to.
    #[error("{file} is there without its store: choose another folder with --out, or start anew with --fresh --force")]
    NotEmpty {
        /// The file that would be overwritten.
        file: PathBuf,
    },
    /// The folder was made by another version of the program.
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
    /// The records in the folder were made in another way and can't be compared with new ones.
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
    /// Bytes are not what was written.
    #[error(
        "{place} is damaged: {reason}: 'ndcrawl verify' tells how far; what it does not name is sound, and --fresh --force starts anew"
    )]
    Corrupt {
        /// The file, or tree and key.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// No space is left. Nothing that was committed is lost.
    #[error("no space left for {path}: free some and run the same command again, it goes on where it stopped")]
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
    /// The caller handed over a batch that contradicts itself or the logs: a fault of this program.
    #[error("a batch can't be committed: {0}: this is a fault of ndcrawl, please report it")]
    Batch(String),
    /// The archive has a record there, but none with a body.
    #[error("{file}, offset {offset}, is a {kind} record and has no body: read the page that it refers to")]
    NoBody {
        /// The WARC file.
        file: String,
        /// The record's offset.
        offset: u64,
        /// The record's type.
        kind: String,
    },
    /// The store was closed, or could not be opened again after a failure.
    #[error("{0} is closed: open it again")]
    Closed(PathBuf),
}

impl Error {
    /// Names file and action of an error of the system; a full disk is told apart.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path, source },
            _ => Self::Io { action, path, source },
        }
    }

    /// Names the place of an error of the database.
    pub(crate) fn sled(action: &'static str, place: &str, error: sled::Error) -> Self {
        match error {
            sled::Error::Io(source) => Self::io(action, Path::new(place), source),
            // Its own words end with where in its code that was.
            sled::Error::Corruption { .. } => Self::corrupt(place, "the database has bytes that it did not write"),
            other => Self::corrupt(place, other),
        }
    }

    /// Bytes at `place` are not what was written.
    pub(crate) fn corrupt(place: impl Into<String>, reason: impl ToString) -> Self {
        Self::Corrupt { place: place.into(), reason: reason.to_string() }
    }
}
