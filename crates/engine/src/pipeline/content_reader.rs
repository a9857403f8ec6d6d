//! Reads pages and documents.

use std::borrow::Cow;
use std::sync::Arc;

use crate::documents::{DocumentError, DocumentText, Readers, is_pdf};
use ndcrawl_model::{Fetched, PageContent, PageSource, TextError};
use pagetext::{PageReader, Reading};

/// Reads pages, and documents by readers of their own. Shared by threads.
#[derive(Debug)]
pub struct ContentReader {
    pages: Arc<PageReader>,
    /// Reads PDF, if that is wanted.
    documents: Option<Readers>,
}

/// A page that was read.
#[derive(Debug, Default)]
pub struct ReadContent {
    pub rendered: Box<PageContent>,
    /// Text that was read from a document, line by line.
    pub document_text: Option<String>,
    /// Why a document has no text, or a part of it only.
    pub text_error: Option<TextError>,
}

impl ContentReader {
    /// Creates a reader. Without `documents`, they have no text.
    pub fn new(pages: PageReader, documents: Option<Readers>) -> Self {
        Self { pages: Arc::new(pages), documents }
    }

    /// Returns the reader of pages alone.
    pub fn pages(&self) -> &Arc<PageReader> {
        &self.pages
    }

    /// Returns whether a page is a document that takes another process, and so longer than a page.
    pub fn is_document(&self, page: &Fetched) -> bool {
        self.documents.is_some() && is_pdf(&page.media_type(), &page.body)
    }

    /// Reads a page. A document whose text cannot be read is read as a page without text.
    pub fn read(&self, page: &Fetched) -> ReadContent {
        let Some(documents) = self.documents.as_ref().filter(|_| self.is_document(page)) else {
            return ReadContent { rendered: Box::new(self.pages.render(page)), ..ReadContent::default() };
        };
        match documents.read(&page.body) {
            Ok(DocumentText { html, is_cut }) => self.read_html(page, &html, is_cut),
            Err(error) => {
                tell(page, &error);
                let without_text = Box::new(self.pages.render(self.as_document(page).source()));
                ReadContent { rendered: without_text, text_error: Some(error.kind), document_text: None }
            }
        }
    }

    /// Reads the HTML that a document became.
    fn read_html(&self, page: &Fetched, html: &str, is_cut: bool) -> ReadContent {
        let headers = with_type(page, "text/html; charset=utf-8");
        let source = PageSource { body: html.as_bytes(), headers: &headers, ..page.source() };
        let mut rendered = Box::new(self.pages.render(source));
        // These are about the page that we wrote.
        (rendered.charset, rendered.charset_declared, rendered.provenance.markup) = ("", None, None);
        if is_cut {
            rendered.text_digest = None;
        }
        let text = self.pages.reading(source).map(|Reading { text, .. }| text);
        ReadContent { rendered, document_text: text, text_error: is_cut.then_some(TextError::Cut) }
    }

    /// Returns a document under its own type, so that a server that calls it HTML does not make it words.
    fn as_document<'a>(&self, page: &'a Fetched) -> Cow<'a, Fetched> {
        if !page.body.starts_with(b"%PDF-") {
            return Cow::Borrowed(page);
        }
        Cow::Owned(Fetched { headers: with_type(page, "application/pdf"), ..page.clone() })
    }
}

/// Returns the header lines of a page with another media type.
fn with_type(page: &Fetched, media_type: &str) -> Vec<(String, Vec<u8>)> {
    let others = page.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-type")).cloned();
    others.chain([("Content-Type".to_owned(), media_type.as_bytes().to_vec())]).collect()
}

fn tell(page: &Fetched, error: &DocumentError) {
    let url = page.url.shown();
    let size = page.body.len();
    if error.kind.is_of_reader() {
        tracing::warn!(%url, size, truncated = page.truncated, "PDF has no text: {error}");
    } else {
        tracing::info!(%url, size, truncated = page.truncated, "PDF has no text: {error}");
    }
}
