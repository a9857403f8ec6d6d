//! The number of the last commit, kept beside the database.
//!
//! A database that meets a damaged place in its log may take that for the end and open as of an
//! earlier time. Files would then be cut to what it remembers, and sound data lost. The witness is
//! written after a commit has been flushed, so it never runs ahead of a sound database.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{Error, Result};

/// A file with one number in it.
pub(crate) struct Witness {
    path: PathBuf,
}

impl Witness {
    /// The witness of the database in this folder.
    pub(crate) fn of(store: &Path) -> Self {
        Self { path: store.join("last-commit") }
    }

    /// Fails if a commit above `number` is known to have been made.
    pub(crate) fn check(&self, number: u64) -> Result<()> {
        // Without a witness nothing is known.
        let seen = fs::read_to_string(&self.path).ok().and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
        if seen <= number {
            return Ok(());
        }
        let store = self.path.parent().unwrap_or(&self.path).display().to_string();
        Err(Error::corrupt(store, format!("it ends with commit {number}, but commit {seen} was made")))
    }

    /// Notes that a commit has been made. If that fails, an older number stands, which is true as
    /// well.
    pub(crate) fn note(&self, number: u64) {
        if let Err(error) = fs::write(&self.path, format!("{number}\n")) {
            tracing::debug!(path = %self.path.display(), %error, "the last commit was not noted");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_has_forgotten_commits_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let witness = Witness::of(folder.path());
        witness.check(0).unwrap();
        witness.note(12);
        witness.check(12).unwrap();
        witness.check(13).unwrap();
        let message = witness.check(11).unwrap_err().to_string();
        assert!(message.contains("ends with commit 11, but commit 12 was made"), "{message}");
    }
}
