//! Uploads a folder to a bucket, with a mark that says that it is not complete.
//!
//! A bucket has no folders that could be renamed. So the first object below the address is [`MARK`], and the last step
//! deletes it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ndcrawl_objects::{Bucket, ObjectUrl, ObjectWriter};

use super::error::{ExportError, Result};
use super::output::{ExportCounts, Output};

/// The object that is there while others are missing.
const MARK: &str = "_INCOMPLETE";
/// The file that is uploaded last: the card of a data set.
const LAST: &str = "README.md";
/// Uploads at the same time.
const AT_ONCE: usize = 4;

/// A folder in a bucket that is being written.
pub struct ObjectFolder {
    bucket: Bucket,
    url: ObjectUrl,
}

impl ObjectFolder {
    /// Begins a folder: nothing may be there but what an export left that was killed, which is removed.
    ///
    /// # Errors
    /// [`ExportError::Write`]; with the kind [`io::ErrorKind::DirectoryNotEmpty`] if something is there.
    pub fn begin(url: &ObjectUrl) -> Result<Self> {
        let begin = || -> io::Result<Bucket> {
            let bucket = Bucket::open(url)?;
            let found = bucket.below(url)?;
            let mark = url.join(MARK);
            if !found.is_empty() && !found.iter().any(|object| object.url == mark) {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            for object in found.iter().filter(|object| object.url != mark) {
                bucket.delete(&object.url)?;
            }
            ObjectWriter::create(&bucket, &mark)?.finish()?;
            Ok(bucket)
        };
        let bucket = begin().map_err(|source| error(url, source))?;
        Ok(Self { bucket, url: url.clone() })
    }

    /// Uploads the files of a folder, and takes the mark away.
    ///
    /// # Errors
    /// [`ExportError`]; then the mark stays.
    pub fn upload(self, folder: &Path) -> Result<()> {
        let mut names = Vec::new();
        add_names(folder, "", &mut names).map_err(|source| error(&self.url, source))?;
        let (last, others): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| name == LAST);
        self.upload_all(folder, others)?;
        self.upload_all(folder, last)?;
        self.bucket.delete(&self.url.join(MARK)).map_err(|source| error(&self.url, source))
    }

    fn upload_all(&self, folder: &Path, names: Vec<String>) -> Result<()> {
        let names = Mutex::new(names.into_iter());
        let next = || names.lock().unwrap_or_else(PoisonError::into_inner).next();
        let upload = || -> Result<()> {
            while let Some(name) = next() {
                let url = self.url.join(&name);
                let sent = File::open(folder.join(&name)).and_then(|mut file| {
                    let mut writer = ObjectWriter::create(&self.bucket, &url)?;
                    io::copy(&mut file, &mut writer)?;
                    writer.finish()
                });
                sent.map_err(|source| error(&url, source))?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(upload)).collect();
            let panicked = |_| Err(error(&self.url, io::Error::other("a thread of the upload panicked")));
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked))
        })
    }
}

/// Has an export write to a folder or file on this machine, and hands what it wrote over. Takes as many bytes of the
/// folder for temporary files.
///
/// # Errors
/// [`ExportError`].
pub fn in_scratch_folder(
    name: &str,
    write: impl FnOnce(&Path) -> Result<ExportCounts>,
    hand_over: impl FnOnce(&Path) -> Result<()>,
) -> Result<ExportCounts> {
    let scratch = tempfile::tempdir().map_err(|source| ExportError::Write { path: std::env::temp_dir(), source })?;
    let path = scratch.path().join(name);
    let counts = write(&path)?;
    hand_over(&path)?;
    Ok(counts)
}

impl Output {
    /// Copies a file, and finishes.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn copy_of(mut self, file: &Path) -> Result<()> {
        let copied = File::open(file).and_then(|mut file| io::copy(&mut file, &mut self));
        copied.map_err(|source| self.error(source))?;
        self.finish().map(drop)
    }
}

/// Lists the files of a folder by their paths below it.
fn add_names(folder: &Path, below: &str, names: &mut Vec<String>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => add_names(&entry.path(), &format!("{name}/"), names)?,
            false => names.push(name),
        }
    }
    Ok(())
}

fn error(url: &ObjectUrl, source: io::Error) -> ExportError {
    ExportError::Write { path: PathBuf::from(url.to_string()), source }
}
