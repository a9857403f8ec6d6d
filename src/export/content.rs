//! Reads the text of archived pages.

use crate::model::{Fetched, Normalizer, PageLine};
use crate::pagetext::{BlockCounts, Options, PageReader, PageText};
use crate::store::{self, ArchiveReader};

use super::columns::TextColumns;
use super::error::Result;
use super::host_blocks::HostBlocks;
use super::pages::ExportSource;

/// Reads bodies from the archive and extracts their text.
pub(super) struct Contents {
    archive: ArchiveReader,
    renderer: PageReader,
    hosts: HostBlocks,
}

impl Contents {
    /// Opens the archive. Where main texts are wanted, some pages of each host are read to learn what they repeat.
    pub fn open(source: ExportSource<'_>, columns: TextColumns) -> Result<Self> {
        // Exports need no links.
        let options = Options { max_links: 0, ..Options::default() };
        let renderer = PageReader::new(options, Normalizer::default());
        let archive = ArchiveReader::new(source.folder);
        let mut contents = Self { archive, renderer, hosts: HostBlocks::default() };
        if columns.main || columns.markdown {
            contents.hosts = HostBlocks::learn(source, &mut contents)?;
        }
        Ok(contents)
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

    /// Returns the texts of a line's page; `None` if it is not text.
    pub fn text(&self, line: &PageLine, page: &Fetched, columns: TextColumns) -> Option<PageText> {
        self.renderer.text_on_host(page, columns.wanted(), self.hosts.of(line))
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
