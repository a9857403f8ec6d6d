//! Whether the body of a page is archived.

use std::path::Path;

use crate::model::PageLine;
use crate::store::ArchiveReader;

/// Looks into the archive of a crawl.
pub(super) struct Bodies {
    archive: ArchiveReader,
}

impl Bodies {
    pub fn new(folder: &Path) -> Self {
        Self { archive: ArchiveReader::new(folder) }
    }

    /// Whether a response lies where the line says. A stored page has no other record; for a
    /// duplicate it may be one that only tells of it, so that the record itself is asked. What can't be
    /// read is not there.
    pub fn has(&mut self, line: &PageLine) -> bool {
        let (Some(name), Some(offset)) = (&line.warc_file, line.warc_offset) else { return false };
        let is_response =
            |archive: &mut ArchiveReader| archive.record(name, offset).is_ok_and(|r| r.kind() == "response");
        line.is_kept() || is_response(&mut self.archive)
    }
}
