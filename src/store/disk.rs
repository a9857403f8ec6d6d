//! Every step by which the disk changes, in one place, so that a test can make any of them fail.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use super::error::{Error, Result};

/// The kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskStep {
    /// Bytes are appended to a file.
    Append,
    /// A file is made durable.
    Sync,
    /// A file is cut to a length.
    Cut,
    /// A file is renamed.
    Rename,
    /// A file is removed.
    Remove,
    /// TableEntries are handed to the database.
    Apply,
    /// The database is made durable.
    Flush,
}

/// The seam for fault injection: asked before every step. An error is taken for the step's own; an
/// append that fails has then written half its bytes.
pub trait Faults: Send + Sync {
    /// Lets the step happen, or says how it fails.
    fn before(&self, step: DiskStep) -> io::Result<()>;

    /// Told when what was written so far to a file, or the names in a folder, would outlast a power
    /// failure. Of the database the folder's name is told, without its path.
    fn durable(&self, _path: &Path) {}
}

/// The disk, perhaps with faults.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    faults: Option<Arc<dyn Faults>>,
}

impl Disk {
    pub(crate) fn with_faults(faults: Arc<dyn Faults>) -> Self {
        Self { faults: Some(faults) }
    }

    fn before(&self, step: DiskStep) -> io::Result<()> {
        self.faults.as_ref().map_or(Ok(()), |faults| faults.before(step))
    }

    fn durable(&self, path: &Path) {
        if let Some(faults) = &self.faults {
            faults.durable(path);
        }
    }

    /// Writes `bytes` at `offset`, the end of what counts.
    pub(crate) fn append(&self, file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        file.seek(SeekFrom::Start(offset))?;
        if let Err(fault) = self.before(DiskStep::Append) {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(fault);
        }
        file.write_all(bytes)
    }

    pub(crate) fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        self.before(DiskStep::Sync)?;
        file.sync_data()?;
        self.durable(path);
        Ok(())
    }

    pub(crate) fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        self.before(DiskStep::Cut)?;
        file.set_len(length)
    }

    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.before(DiskStep::Rename)?;
        fs::rename(from, to)
    }

    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        self.before(DiskStep::Remove)?;
        fs::remove_file(path)
    }

    /// Makes names in a folder durable (new files, renamed files).
    pub(crate) fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.before(DiskStep::Sync)?;
        if cfg!(unix) {
            File::open(folder)?.sync_all()?;
        }
        self.durable(folder);
        Ok(())
    }

    pub(crate) fn apply(&self, tree: &sled::Tree, batch: sled::Batch) -> sled::Result<()> {
        self.before(DiskStep::Apply).map_err(sled::Error::Io)?;
        tree.apply_batch(batch)
    }

    pub(crate) fn flush(&self, db: &sled::Db) -> sled::Result<()> {
        self.before(DiskStep::Flush).map_err(sled::Error::Io)?;
        // The blocking call: flush_async of this version can hang.
        db.flush()?;
        self.durable(Path::new("store"));
        Ok(())
    }
}

/// Bytes that the user may still write to the disk on which `path` lies. Where the system has no
/// such call, the largest number.
///
/// # Errors
/// [`Error::Io`] if the path can't be asked about.
pub fn free_space(path: &Path) -> Result<u64> {
    #[cfg(unix)]
    {
        let stat = rustix::fs::statvfs(path).map_err(|e| Error::io("ask for the free space of", path, e.into()))?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_known_and_a_missing_path_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_space(folder.path()).unwrap() > 0);
        assert!(matches!(free_space(&folder.path().join("missing")), Err(Error::Io { .. })));
    }
}
