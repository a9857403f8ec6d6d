//! Finds out whether the body of a page is archived.

use std::path::Path;

use crate::model::PageLine;
use crate::store::ArchiveReader;

/// Looks up records in the WARC files of a crawl.
pub(super) struct Bodies {
    archive: ArchiveReader,
}

impl Bodies {
    pub fn new(folder: &Path) -> Self {
        Self { archive: ArchiveReader::new(folder) }
    }

    /// Returns whether the place in the line holds a response.
    ///
    /// The record of a duplicate may only refer to it, so the record itself is read. Unreadable means absent.
    pub fn has(&mut self, line: &PageLine) -> bool {
        let (Some(name), Some(offset)) = (&line.warc_file, line.warc_offset) else { return false };
        let is_response =
            |archive: &mut ArchiveReader| archive.record(name, offset).is_ok_and(|r| r.kind() == "response");
        line.is_kept() || is_response(&mut self.archive)
    }
}
