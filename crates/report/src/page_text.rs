//! The text of pages from the archive.
//!
//! Stored pages are archived with their bodies, documents with their text beside them, near-duplicates with their text unless the crawl ran with `--keep-text
//! off`. The text is the one that exports have.

use std::path::Path;
use std::time::Duration;

use ndcrawl_model::{CanonicalUrl, Fetched, Normalizer, PageLine};
use ndcrawl_store::ArchiveReader;
use pagetext::{self, PageReader};

/// Where the archive has a page.
#[derive(Clone, Debug)]
pub(super) struct ArchivedAt {
    address: CanonicalUrl,
    file: String,
    offset: u64,
    /// The media type with the encoding.
    content_type: String,
    /// Whether the text was read from a document, and is kept beside it.
    is_document: bool,
}

impl ArchivedAt {
    /// Returns the place that a line names, if it names one.
    pub fn of(line: &PageLine) -> Option<Self> {
        let (kind, charset) = (line.media_type.as_deref()?, line.charset.as_deref().unwrap_or("utf-8"));
        Some(Self {
            address: line.address()?,
            file: line.warc_file.clone()?,
            offset: line.warc_offset?,
            content_type: format!("{kind}; charset={charset}"),
            is_document: line.text_from.is_some(),
        })
    }
}

/// Reads texts of archived pages.
pub(super) struct PageTexts {
    archive: ArchiveReader,
    renderer: PageReader,
}

impl PageTexts {
    /// Reads from the archive in this output folder.
    pub fn new(folder: &Path) -> Self {
        let renderer = PageReader::new(pagetext::Options::default(), Normalizer::default());
        Self { archive: ArchiveReader::new(folder), renderer }
    }

    /// Returns the text of a page; `None` if the archive has none.
    pub fn text(&mut self, at: &ArchivedAt) -> Option<String> {
        let record = self.archive.record(&at.file, at.offset).ok()?;
        if record.kind() != "response" || at.is_document {
            return self.archive.kept_text(&at.file, at.offset).ok()?;
        }
        let page = Fetched {
            url: at.address.clone(),
            spelling: None,
            status: 200,
            version: "HTTP/1.1",
            reason: String::new(),
            headers: vec![("content-type".to_owned(), at.content_type.clone().into_bytes())],
            request_headers: Vec::new(),
            body: record.http_body()?.to_vec(),
            truncated: false,
            broken_off: None,
            address: None,
            started_at: None,
            elapsed: Duration::ZERO,
        };
        self.renderer.reading(&page).map(|reading| reading.text)
    }
}
