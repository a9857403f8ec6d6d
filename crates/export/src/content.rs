//! Reads the text of archived pages.

use std::path::Path;

use ndcrawl_model::{Fetched, Normalizer, PageLine};
use ndcrawl_store::{self as store, ArchiveReader};
use pagetext::{BlockCounts, CommonBlocks, Options, PageReader, PageText, WantedText};

use super::error::Result;

/// Reads bodies from the archive and extracts their text.
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
    /// A duplicate may have a record without a body. A document is the text that was read from it.
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
        if line.text_from.is_none() {
            return Ok(Some(page));
        }
        Ok(Some(match self.archive.kept_text(file, offset)? {
            Some(text) => as_plain_text(page, text),
            None => page,
        }))
    }

    /// Returns the texts of a page whose host repeats these blocks; `None` if it is not text.
    pub fn text(&self, page: &Fetched, wanted: WantedText, common: &CommonBlocks) -> Option<PageText> {
        self.renderer.text_on_host(page, wanted, common)
    }

    /// Counts the blocks of text of a page.
    pub fn count_blocks(&self, page: &Fetched, counts: &mut BlockCounts) {
        self.renderer.count_blocks(page, counts);
    }

    /// Returns the decoded source of a page; `None` if it is not text.
    pub fn source(&self, page: &Fetched) -> Option<String> {
        self.renderer.reading(page).map(|reading| reading.source.into_owned())
    }
}

/// Returns a document as the text that was read from it.
fn as_plain_text(document: Fetched, text: String) -> Fetched {
    let headers = vec![("Content-Type".to_owned(), b"text/plain; charset=utf-8".to_vec())];
    Fetched { headers, body: text.into_bytes(), ..document }
}
