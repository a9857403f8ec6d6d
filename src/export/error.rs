//! Why an export could not be made.

use std::io;
use std::path::PathBuf;

use crate::store;

/// Shorthand for results of this room.
pub type Result<T, E = ExportError> = std::result::Result<T, E>;

/// Why an export could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output folder of the crawl can't be read.
    #[error(transparent)]
    Crawl(#[from] store::Error),
    /// The export can't be written.
    #[error("can't write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
}

impl ExportError {
    /// The system's words, if it refused to write.
    pub fn write_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Write { source, .. } => Some(source.kind()),
            Self::Crawl(_) => None,
        }
    }
}
