//! Paths of an output folder, and its lock.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::{Error, Result};

/// The name of the lock in an output folder.
pub const LOCK: &str = "ndcrawl.lock";
const LOCK_TRIES: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The paths of an output folder.
#[derive(Clone, Debug)]
pub(crate) struct OutputFolder {
    root: PathBuf,
}

impl OutputFolder {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn pages(&self) -> PathBuf {
        self.root.join("pages.jsonl")
    }

    /// The rewritten `pages.jsonl` of the commit with this number.
    pub(crate) fn rewritten(&self, number: u64) -> PathBuf {
        self.root.join(format!("pages.jsonl.{number}"))
    }

    /// Returns the commit number of a rewritten `pages.jsonl`.
    pub(crate) fn rewritten_for(&self, path: &Path) -> Option<u64> {
        path.file_name()?.to_str()?.strip_prefix("pages.jsonl.")?.parse().ok()
    }

    /// Returns the path of `pages.jsonl` as of a commit.
    pub(crate) fn pages_as_of(&self, number: u64) -> PathBuf {
        Some(self.rewritten(number)).filter(|path| path.exists()).unwrap_or_else(|| self.pages())
    }

    pub(crate) fn errors(&self) -> PathBuf {
        self.root.join("errors.jsonl")
    }

    pub(crate) fn warc(&self) -> PathBuf {
        self.root.join("warc")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    /// Creates the folder, readable by the user alone. An existing folder keeps its mode.
    pub(crate) fn create(&self) -> Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.root).map_err(|e| Error::io("make", &self.root, e))
    }

    /// Fails if there is output that a new crawl would overwrite. With an earlier generation, the archive is its.
    pub(crate) fn expect_no_output(&self, has_earlier: bool) -> Result<()> {
        let has_bytes = |path: &Path| fs::metadata(path).is_ok_and(|m| m.len() > 0);
        let has_entries = |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        for file in [self.pages(), self.errors()] {
            if has_bytes(&file) {
                return Err(Error::NotEmpty { file });
            }
        }
        if !has_earlier && has_entries(&self.warc()) { Err(Error::NotEmpty { file: self.warc() }) } else { Ok(()) }
    }

    /// Locks the folder for this process. The lock ends with the returned value, or with the process. The file stays.
    pub(crate) fn lock(&self) -> Result<FolderLock> {
        let path = self.root.join(LOCK);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| Error::io("open", &path, e))?;
        let mut tries = 0;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                // A child process inherits the lock until its program runs, so a just closed folder
                // may look locked for a moment.
                Err(TryLockError::WouldBlock) if tries < LOCK_TRIES => std::thread::sleep(LOCK_PAUSE),
                Err(TryLockError::WouldBlock) => return Err(self.in_use(&mut file)),
                Err(TryLockError::Error(e)) => return Err(Error::io("lock", &path, e)),
            }
            tries += 1;
        }
        file.set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(|e| Error::io("write", &path, e))?;
        Ok(FolderLock { _file: file })
    }

    fn in_use(&self, file: &mut File) -> Error {
        let pid = lock_owner(file).map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
        Error::InUse { folder: self.root.clone(), pid }
    }
}

/// Returns the process ID in a lock file; `None` if its owner has not written it yet.
fn lock_owner(file: &mut File) -> Option<u32> {
    let mut pid = String::new();
    file.take(20).read_to_string(&mut pid).ok()?;
    pid.trim().parse().ok()
}

/// Who uses an output folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderUse {
    /// Nobody: the process that wrote into it last has ended.
    Free,
    /// A process, by its ID if that is known.
    By(Option<u32>),
}

/// Returns who uses an output folder, by its lock. The lock ends with its process, however that ends.
///
/// Writes nothing and waits for nothing.
///
/// # Errors
/// [`Error::Io`] if the lock file cannot be read.
pub fn folder_use(folder: &Path) -> Result<FolderUse> {
    let path = folder.join(LOCK);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(FolderUse::Free),
        Err(error) => return Err(Error::io("open", &path, error)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(FolderUse::Free),
        Err(TryLockError::WouldBlock) => Ok(FolderUse::By(lock_owner(&mut file))),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", &path, error)),
    }
}

/// Deletes these files and folders of an output folder, unless a crawl is running there.
///
/// # Errors
/// [`Error::InUse`], [`Error::Io`].
pub fn delete_crawl(folder: &Path, paths: &[PathBuf]) -> Result<()> {
    let _lock = OutputFolder::new(folder).lock()?;
    for path in paths {
        let deleted = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        deleted.map_err(|e| Error::io("delete", path, e))?;
    }
    Ok(())
}

/// Lock on an output folder, until dropped.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_is_for_the_user_alone() {
        let parent = tempfile::tempdir().unwrap();
        let folder = OutputFolder::new(&parent.path().join("a/b"));
        folder.create().unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(folder.root()).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn the_second_taker_is_told_who_has_the_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = OutputFolder::new(parent.path());
        let lock = folder.lock().unwrap();
        match folder.lock() {
            Err(Error::InUse { pid, .. }) => assert_eq!(pid, std::process::id().to_string()),
            other => panic!("{other:?}"),
        }
        assert_eq!(folder_use(parent.path()).unwrap(), FolderUse::By(Some(std::process::id())));
        drop(lock);
        folder.lock().unwrap();
    }

    #[test]
    fn a_folder_is_free_without_a_lock_and_when_its_owner_has_ended() {
        let parent = tempfile::tempdir().unwrap();
        assert_eq!(folder_use(parent.path()).unwrap(), FolderUse::Free);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "looking writes nothing");
        drop(OutputFolder::new(parent.path()).lock().unwrap());
        assert_eq!(folder_use(parent.path()).unwrap(), FolderUse::Free);
    }

    #[test]
    fn output_without_a_store_is_not_overwritten() {
        let parent = tempfile::tempdir().unwrap();
        let folder = OutputFolder::new(parent.path());
        fs::write(folder.pages(), "").unwrap();
        folder.expect_no_output(false).unwrap();
        fs::write(folder.pages(), "{}\n").unwrap();
        assert!(matches!(folder.expect_no_output(false), Err(Error::NotEmpty { file }) if file == folder.pages()));
    }
}
