//! A polite web crawler that keeps each page once and names the page that every near-duplicate
//! repeats.
//!
//! One crate, gated by whole modules:
//!
//! | feature | rooms | for |
//! |---|---|---|
//! | none | [`record`], [`filter`], [`verify`], [`detect`] | detecting near-duplicates among weighted terms |
//! | `html` | `render`, `focus` | from HTML and text to weighted terms and links, and how they compare with a topic |
//! | `eval` | `hypertext`, `eval` | measuring how often detectors are right, on labelled pages |
//! | `crawl` | `dust`, `frontier`, `fetch`, `store`, `crawl` | the crawler as a library |
//! | `browser` | `browser` | pages that scripts draw |
//! | `dedup` | `dedup` | the crawler's verdicts on pages that are there already |
//! | `export` | `export` | what a crawl kept, in the formats of other tools |
//! | `cli` | `report`, `demo`, `cli` | the program |
//!
//! Imports go downward only; rooms on one line do not know each other:
//!
//! ```text
//! cli
//! dedup  report
//! crawl  demo  eval  export
//! browser
//! detect  focus  frontier  fetch  store
//! filter  verify  hypertext  render  dust
//! record
//! ```

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod detect;
pub mod filter;
pub mod record;
pub mod verify;

#[cfg(feature = "html")]
pub mod focus;
#[cfg(feature = "html")]
pub mod render;

#[cfg(feature = "eval")]
pub mod eval;
#[cfg(feature = "eval")]
pub mod hypertext;

#[cfg(feature = "export")]
pub mod export;

#[cfg(feature = "dedup")]
pub mod dedup;

#[cfg(feature = "browser")]
pub mod browser;

#[cfg(feature = "crawl")]
pub mod crawl;
#[cfg(feature = "crawl")]
pub mod dust;
#[cfg(feature = "crawl")]
pub mod fetch;
#[cfg(feature = "crawl")]
pub mod frontier;
#[cfg(feature = "crawl")]
pub mod store;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod demo;
#[cfg(feature = "cli")]
pub mod report;

#[cfg(all(feature = "cli", any(test, fuzzing)))]
#[doc(hidden)]
pub mod fuzzing;
