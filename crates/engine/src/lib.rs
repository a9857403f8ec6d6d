//! *What becomes of a page, from its URL to its row?*
//!
//! One stage decides, writes rows and commits ([`pipeline`]); a crawl feeds it with what is fetched ([`crawl`]), and other
//! sources, such as files of pages, may feed it as well.
//!
//! Rooms import downward only; those on one line do not know each other:
//!
//! ```text
//! crawl
//! pipeline
//! headless
//! documents  focus
//! ```

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod crawl;
pub mod documents;
pub mod focus;
// A shell ends Chromium after the program was killed, and root is known by its number.
#[cfg(all(feature = "browser", unix))]
pub mod headless;
pub mod pipeline;
