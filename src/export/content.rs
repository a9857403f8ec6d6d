//! The text of archived pages.

use std::path::Path;

use crate::model::{CanonicalUrl, Fetched, Normaliser, PageLine};
use crate::pagetext::{Options, Reading, Renderer};
use crate::store::{self, ArchiveReader};

use super::error::Result;

/// Reads bodies from the archive and makes text of them, as the crawl itself decoded and read them.
pub(super) struct Contents {
    archive: ArchiveReader,
    renderer: Renderer,
}

impl Contents {
    pub fn new(folder: &Path) -> Self {
        // Links are found by the way and not looked at.
        let options = Options { max_links: 0, ..Options::default() };
        Self { archive: ArchiveReader::new(folder), renderer: Renderer::new(options, Normaliser::default()) }
    }

    /// The archived page of this line; `None` if its body is not archived. A duplicate may have a record
    /// that only tells of it.
    pub fn page(&mut self, line: &PageLine) -> Result<Option<Fetched>> {
        let (Some(file), Some(offset)) = (&line.warc_file, line.warc_offset) else { return Ok(None) };
        let record = self.archive.record(file, offset)?;
        if record.kind() != "response" {
            return Ok(None);
        }
        let url = CanonicalUrl::from_canonical(&line.url).ok();
        let page = url.and_then(|url| record.response(&url)).ok_or_else(|| store::Error::Corrupt {
            place: format!("{file}, offset {offset}"),
            reason: format!("no response of {}", line.url),
        })?;
        Ok(Some(page))
    }

    /// What such a page holds; `None` if it is no text.
    pub fn reading<'a>(&self, page: &'a Fetched) -> Option<Reading<'a>> {
        self.renderer.reading(page)
    }
}
