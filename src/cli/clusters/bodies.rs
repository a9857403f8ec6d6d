//! Whether the body of a page is archived.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use crate::record::{OutcomeKind, PageLine};
use crate::store::WarcReader;

/// Looks into the archive of a crawl.
pub(super) struct Bodies {
    folder: PathBuf,
    /// The file that was looked into last.
    open: Option<(String, File)>,
}

impl Bodies {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), open: None }
    }

    /// Whether a response lies where the line says. A stored page has no other record; for a
    /// duplicate it may be one that only tells of it, so that the record itself is asked. What can't be
    /// read is not there.
    pub fn has(&mut self, line: &PageLine) -> bool {
        let (Some(name), Some(offset)) = (&line.warc_file, line.warc_offset) else { return false };
        line.outcome == OutcomeKind::Stored.name() || self.is_response(name, offset).unwrap_or(false)
    }

    fn is_response(&mut self, name: &str, offset: u64) -> Option<bool> {
        if self.open.as_ref().is_none_or(|(open, _)| open != name) {
            self.open = Some((name.to_owned(), self.open(name)?));
        }
        let (_, file) = self.open.as_mut()?;
        file.seek(SeekFrom::Start(offset)).ok()?;
        let record = WarcReader::new(file, offset).next()?.ok()?;
        Some(record.kind() == "response")
    }

    /// A file has another suffix while it grows.
    fn open(&self, name: &str) -> Option<File> {
        let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let names = [name.to_owned(), format!("{name}.open")];
        names.iter().filter(|_| is_inside).find_map(|name| File::open(self.folder.join(name)).ok())
    }
}
