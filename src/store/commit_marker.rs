//! The number of the last commit, kept beside the database.
//!
//! A database that meets a damaged place in its log may take that for the end and open as of an
//! earlier time. Files would then be cut to what it remembers, and sound data lost. The witness is
//! written after a commit has been flushed, so it never runs ahead of a sound database.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};

/// A file with one number in it, of as many digits as any has: it is written over where it stands, since to make
/// a file anew costs as much as to log fifteen pages.
pub(crate) struct CommitMarker {
    path: PathBuf,
    /// Once something was noted.
    file: Option<File>,
}

impl CommitMarker {
    /// The witness of the database in this folder.
    pub(crate) fn of(store: &Path) -> Self {
        Self { path: store.join("last-commit"), file: None }
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
    pub(crate) fn note(&mut self, number: u64) {
        if let Err(error) = self.write(number) {
            tracing::debug!(path = %self.path.display(), %error, "the last commit was not noted");
        }
    }

    fn write(&mut self, number: u64) -> io::Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => OpenOptions::new().write(true).create(true).truncate(false).open(&self.path)?,
        };
        file.rewind()?;
        file.write_all(format!("{number:020}\n").as_bytes())?;
        self.file = Some(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_has_forgotten_commits_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let mut witness = CommitMarker::of(folder.path());
        witness.check(0).unwrap();
        [8, 9, 10, 12].into_iter().for_each(|number| witness.note(number));
        witness.check(12).unwrap();
        witness.check(13).unwrap();
        let message = witness.check(11).unwrap_err().to_string();
        assert!(message.contains("ends with commit 11, but commit 12 was made"), "{message}");
    }
}
