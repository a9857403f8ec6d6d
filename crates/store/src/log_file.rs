//! Append-only file with a known valid length.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::error::{Error, Result};

/// An append-only file. An append writes all bytes or none.
pub(crate) struct LogFile {
    file: File,
    path: PathBuf,
    disk: Disk,
    /// The valid length. After a failure the file may be longer.
    length: u64,
    /// Whether the file may be longer than its valid length.
    torn: bool,
    /// Whether all valid bytes are durable.
    synced: bool,
}

impl LogFile {
    /// Opens or creates the file and cuts it to `length`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it is shorter.
    pub(crate) fn open(path: &Path, length: u64, disk: &Disk) -> Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| Error::io("open", path, e))?;
        let found = file.metadata().map_err(|e| Error::io("read", path, e))?.len();
        if found < length {
            let reason = format!("it has {found} bytes, the last commit says {length}");
            return Err(Error::corrupt(path.display().to_string(), reason));
        }
        let (path, disk) = (path.to_owned(), disk.clone());
        let mut log = Self { file, path, disk, length, torn: found > length, synced: true };
        log.mend()?;
        Ok(log)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The valid length.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends all bytes or, in effect, none.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.mend()?;
        (self.torn, self.synced) = (true, false);
        self.disk.append(&mut self.file, self.length, bytes).map_err(|e| Error::io("append to", &self.path, e))?;
        self.length += bytes.len() as u64;
        self.torn = false;
        Ok(())
    }

    /// Makes the valid bytes durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.mend()?;
        if !self.synced {
            self.disk.sync(&self.file, &self.path).map_err(|e| Error::io("sync", &self.path, e))?;
            self.synced = true;
        }
        Ok(())
    }

    /// Drops everything after `length`.
    pub(crate) fn cut(&mut self, length: u64) -> Result<()> {
        self.torn |= length < self.length;
        self.length = self.length.min(length);
        self.mend()
    }

    /// Renames the file. It can still grow.
    pub(crate) fn rename(&mut self, to: &Path) -> Result<()> {
        self.disk.rename(&self.path, to).map_err(|e| Error::io("rename", &self.path, e))?;
        self.path = to.to_owned();
        Ok(())
    }

    /// Cuts off what a failed append left. Works on a full disk.
    fn mend(&mut self) -> Result<()> {
        if self.torn {
            self.disk.cut(&self.file, self.length).map_err(|e| Error::io("cut", &self.path, e))?;
            (self.torn, self.synced) = (false, false);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::disk::{DiskStep, Faults};
    use super::*;

    struct Full(AtomicBool);

    impl Faults for Full {
        fn before(&self, step: DiskStep) -> io::Result<()> {
            let full = step == DiskStep::Append && self.0.load(Ordering::Relaxed);
            if full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[test]
    fn half_an_append_is_cut_off_before_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let full = Arc::new(Full(AtomicBool::new(false)));
        let mut log = LogFile::open(&path, 0, &Disk::with_faults(full.clone())).unwrap();
        log.append(b"one ").unwrap();
        full.0.store(true, Ordering::Relaxed);
        assert!(matches!(log.append(b"two and more"), Err(Error::DiskFull { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"one two an");
        full.0.store(false, Ordering::Relaxed);
        log.append(b"3").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one 3");
        assert_eq!(log.length(), 5);
    }

    #[test]
    fn a_file_that_lost_bytes_is_damaged_and_one_that_has_more_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "12345").unwrap();
        assert!(matches!(LogFile::open(&path, 6, &Disk::default()), Err(Error::Corrupt { .. })));
        assert_eq!(LogFile::open(&path, 3, &Disk::default()).unwrap().length(), 3);
        assert_eq!(fs::read(&path).unwrap(), b"123");
    }
}
