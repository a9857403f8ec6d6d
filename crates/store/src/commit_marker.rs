//! Keeps the number of the last commit beside the database.
//!
//! A database may take damage in its log for the end and open at an earlier commit. Files would then be cut to that
//! commit, and sound data lost. The marker is written after the flush of a commit, so it is never ahead of a sound
//! database.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};

/// A file with one number of fixed width. It is overwritten in place, which is much cheaper than a new file.
pub(crate) struct CommitMarker {
    path: PathBuf,
    /// Open after the first write.
    file: Option<File>,
}

impl CommitMarker {
    /// Creates the marker of the database in this folder.
    pub(crate) fn of(store: &Path) -> Self {
        Self { path: store.join("last-commit"), file: None }
    }

    /// Fails if the marker has a commit above `number`.
    pub(crate) fn check(&self, number: u64) -> Result<()> {
        // Without a marker nothing is known.
        let seen = fs::read_to_string(&self.path).ok().and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
        if seen <= number {
            return Ok(());
        }
        let store = self.path.parent().unwrap_or(&self.path).display().to_string();
        Err(Error::corrupt(store, format!("it ends with commit {number}, but commit {seen} was made")))
    }

    /// Writes the number of a commit. After a failure an older number stays, which is valid too.
    pub(crate) fn note(&mut self, number: u64) {
        if let Err(error) = self.write(number) {
            tracing::debug!(path = %self.path.display(), %error, "commit marker not written: the older number stays");
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
