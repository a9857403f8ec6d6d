//! *Which text does this document hold?* PDF, read in processes of their own.
//!
//! A reader of PDF meets compressed, nested and crossed structures that strangers wrote. So this program does not read
//! them itself: [`Readers`] starts it once more for that, with limits, and talks to it over pipes.
//!
//! ```text
//! crawl, dedup ─► Readers ─► ReaderProcess ──body──► process: serve ─► pdf
//!                  (pool)                  ◄──HTML──          limits of memory and time
//! ```
//!
//! A reader that crashes, hangs or wants too much costs that one document its text: [`DocumentError`] says why.
//!
//! The text comes as HTML, with title, author, dates and language as a page has them, so the page reader reads it
//! like a page. Without the feature `pdf` there is no reader to start.

mod error;
mod exchange;
mod options;
#[cfg(feature = "pdf")]
mod pdf;
mod process;
mod readers;
#[cfg(feature = "pdf")]
mod serve;

pub use error::DocumentError;
pub use exchange::DocumentText;
pub use options::{Limits, Options};
pub use readers::Readers;
#[cfg(feature = "pdf")]
pub use serve::serve;

/// The media types of PDF.
pub const PDF_TYPES: [&str; 2] = ["application/pdf", "application/x-pdf"];

/// Bytes in which the header of a PDF may begin. Programs accept other bytes before it.
#[cfg(feature = "pdf")]
const HEADER_WITHIN: usize = 1024;

/// Returns whether a body is meant as PDF: by its first bytes, or by its media type.
pub fn is_pdf(media_type: &str, body: &[u8]) -> bool {
    body.starts_with(b"%PDF-") || PDF_TYPES.contains(&media_type)
}
