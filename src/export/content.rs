//! Reads the text of archived pages.

use std::path::Path;

use crate::model::{Fetched, Normalizer, PageLine};
use crate::pagetext::{Options, PageReader, Reading};
use crate::store::{self, ArchiveReader};

use super::error::Result;

/// Reads bodies from the archive and extracts their text exactly as the crawl did.
pub(super) struct Contents {
    archive: ArchiveReader,
    renderer: PageReader,
}

impl Contents {
    pub fn new(folder: &Path) -> Self {
        // Exports need no links.
        let options = Options { max_links: 0, ..Options::default() };
        Self { archive: ArchiveReader::new(folder), renderer: PageReader::new(options, Normalizer::default()) }
    }

    /// Returns the archived page of a line; `None` if its body is not archived.
    ///
    /// A duplicate may have a record without a body.
    pub fn page(&mut self, line: &PageLine) -> Result<Option<Fetched>> {
        let (Some(file), Some(offset)) = (&line.warc_file, line.warc_offset) else { return Ok(None) };
        let record = self.archive.record(file, offset)?;
        if record.kind() != "response" {
            return Ok(None);
        }
        let page = line.address().and_then(|url| record.response(&url, line.is_respelled())).ok_or_else(|| {
            store::Error::Corrupt {
                place: format!("{file}, offset {offset}"),
                reason: format!("no response of {}", line.url),
            }
        })?;
        Ok(Some(page))
    }

    /// Returns the decoded source and text of a page; `None` if it is not text.
    pub fn reading<'a>(&self, page: &'a Fetched) -> Option<Reading<'a>> {
        self.renderer.reading(page)
    }
}
