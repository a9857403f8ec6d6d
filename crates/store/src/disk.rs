//! All disk operations in one place, so that a test can make any of them fail.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

#[cfg(unix)]
use super::error::Error;
use super::error::Result;

/// Kinds of disk operations.
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
    /// Entries are written to the database.
    Apply,
    /// The database is made durable.
    Flush,
}

/// Fault injection for tests, called before every operation. Its error becomes the error of the operation. A failed
/// append has then written half its bytes.
pub trait Faults: Send + Sync {
    /// Allows the operation, or returns its error.
    fn before(&self, step: DiskStep) -> io::Result<()>;

    /// Called when the bytes of a file, or the names in a folder, are durable. The database is passed as its folder
    /// name, without the path.
    fn durable(&self, _path: &Path) {}
}

/// The disk, with optional fault injection.
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

    /// Writes `bytes` at `offset`, the valid end of the file.
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

/// Returns the free bytes for the user on the disk of `path`. Without a system call for it, returns `u64::MAX`.
///
/// # Errors
/// [`Error::Io`] if the system refuses.
pub fn free_space(path: &Path) -> Result<u64> {
    #[cfg(unix)]
    {
        let stat = rustix::fs::statvfs(path).map_err(|e| Error::io("read the free space of", path, e.into()))?;
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
