//! Errors of exports.

use std::io;
use std::path::{Path, PathBuf};

use ndcrawl_store as store;

/// A result with [`ExportError`].
pub type Result<T, E = ExportError> = std::result::Result<T, E>;

/// Errors that prevent an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output folder of the crawl cannot be read.
    #[error(transparent)]
    Crawl(#[from] store::Error),
    /// The export cannot be written.
    #[error("can't write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl ExportError {
    /// Returns the error of a write to this file.
    pub(super) fn at(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// Returns the kind of a write error.
    pub fn write_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Write { source, .. } => Some(source.kind()),
            Self::Crawl(_) => None,
        }
    }
}
