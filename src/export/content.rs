//! The text of archived pages.

use std::path::Path;
use std::time::Duration;

use crate::record::{CanonicalUrl, Fetched, Normaliser, PageLine};
use crate::render::{Options, Reading, Renderer};
use crate::store::{self, ArchiveReader, WarcRecord};

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
        let page = fetched(line, &record).ok_or_else(|| store::Error::Corrupt {
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

/// What was fetched, as far as reading it needs.
fn fetched(line: &PageLine, record: &WarcRecord) -> Option<Fetched> {
    if record.field("WARC-Target-URI") != Some(line.url.as_str()) {
        return None;
    }
    let head = record.http_head()?;
    Some(Fetched {
        url: CanonicalUrl::from_canonical(&line.url).ok()?,
        status: head.status,
        version: "HTTP/1.1",
        reason: String::new(),
        headers: head.headers,
        request_headers: Vec::new(),
        body: record.http_body()?.to_owned(),
        truncated: line.truncated,
        address: None,
        started_at: 0,
        elapsed: Duration::ZERO,
    })
}
