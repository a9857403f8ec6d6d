//! Writes an export to a file, renamed into place when complete, to an object of a bucket, or to a stream.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ndcrawl_model::{PageLine, Permission};
use ndcrawl_objects::{Bucket, ObjectUrl, ObjectWriter};

use super::error::{ExportError, Result};

/// Counters of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportCounts {
    /// Pages written or counted.
    pub pages: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Stored pages whose body is not archived.
    pub without_body: u64,
    /// Pages left out because of their `noindex` or `noarchive` directive.
    pub held_back: u64,
    /// Pages left out because of what is said of their use, in the order of [`Permission::ALL`].
    pub other_use: [u64; Permission::ALL.len()],
}

impl ExportCounts {
    /// Counts a stored page without a body. Other pages need no body.
    pub(super) fn count_body(&mut self, line: &PageLine, is_there: bool) {
        self.without_body += u64::from(!is_there && line.is_kept());
    }
}

/// The destination of an export. Dropping an unfinished file removes it; an unfinished object never appears.
pub struct Output {
    to: Option<BufWriter<To>>,
    bytes: u64,
    path: PathBuf,
}

enum To {
    File(File),
    Object(Box<ObjectWriter>),
    Stream(Box<dyn Write + Send>),
}

impl Output {
    /// Opens a file and creates its folder. [`finish`](Self::finish) replaces an existing file of that name.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn file(path: &Path) -> Result<Self> {
        let error = |source| ExportError::Write { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(error)?;
        }
        if path.is_dir() {
            return Err(error(io::ErrorKind::IsADirectory.into()));
        }
        let file = File::create(open_name(path)).map_err(error)?;
        Ok(Self { to: Some(BufWriter::with_capacity(64 * 1024, To::File(file))), bytes: 0, path: path.to_owned() })
    }

    /// Opens an object, which appears when it is [finished](Self::finish).
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn object(url: &ObjectUrl) -> Result<Self> {
        let path = PathBuf::from(url.to_string());
        match Bucket::open(url).and_then(|bucket| ObjectWriter::create(&bucket, url)) {
            Ok(writer) => {
                Ok(Self { to: Some(BufWriter::with_capacity(64 * 1024, To::Object(Box::new(writer)))), bytes: 0, path })
            }
            Err(source) => Err(ExportError::Write { path, source }),
        }
    }

    /// Wraps a stream, called `name` in errors.
    pub fn stream(name: &str, to: impl Write + Send + 'static) -> Self {
        let to = Some(BufWriter::with_capacity(64 * 1024, To::Stream(Box::new(to))));
        Self { to, bytes: 0, path: PathBuf::from(name) }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns a write error with the path of the file.
    pub(super) fn error(&self, source: io::Error) -> ExportError {
        ExportError::Write { path: self.path.clone(), source }
    }

    /// Syncs the file, renames it into place and returns its length.
    ///
    /// # Errors
    /// [`ExportError::Write`]; then no file is left.
    pub fn finish(mut self) -> Result<u64> {
        self.settle().map_err(|source| self.error(source))?;
        self.to = None;
        Ok(self.bytes)
    }

    /// As [`finish`](Self::finish), without a sync of its own: for one file of many.
    ///
    /// # Errors
    /// [`ExportError::Write`]; then no file is left.
    pub(super) fn finish_unsynced(mut self) -> Result<u64> {
        let path = self.path.clone();
        let flushed = self.flush().and_then(|()| match self.to.take() {
            Some(to) if matches!(to.get_ref(), To::File(_)) => fs::rename(open_name(&path), &path),
            _ => Ok(()),
        });
        flushed.map_err(|source| self.error(source))?;
        Ok(self.bytes)
    }

    fn settle(&mut self) -> io::Result<()> {
        let Some(to) = &mut self.to else { return Ok(()) };
        to.flush()?;
        match to.get_mut() {
            To::File(file) => {
                file.sync_all()?;
                fs::rename(open_name(&self.path), &self.path)
            }
            To::Object(object) => object.finish(),
            To::Stream(_) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(to) = &mut self.to else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let written = to.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let Some(to) = self.to.take() else { return };
        // Discard the buffer: nobody reads an incomplete export.
        if let (To::File(_), _) = to.into_parts() {
            let _ = fs::remove_file(open_name(&self.path));
        }
    }
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            To::File(file) => file.write(bytes),
            To::Object(object) => object.write(bytes),
            To::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            To::File(file) => file.flush(),
            To::Object(object) => object.flush(),
            To::Stream(stream) => stream.flush(),
        }
    }
}

fn open_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".open");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_when_it_is_whole_and_leaves_nothing_if_it_never_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file");
        let mut output = Output::file(&path).unwrap();
        output.write_all(b"half").unwrap();
        assert!(!path.exists() && open_name(&path).exists());
        drop(output);
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 0);
        let mut output = Output::file(&path).unwrap();
        output.write_all(b"whole").unwrap();
        assert_eq!(output.finish().unwrap(), 5);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert!(!open_name(&path).exists());
    }

    #[test]
    fn a_folder_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Output::file(folder.path()).is_err());
    }
}
