//! A polite web crawler that keeps each page once and names the page that every near-duplicate
//! repeats.
//!
//! The parts are crates, re-exported here. What a feature brings:
//!
//! | feature | crates | for |
//! |---|---|---|
//! | none | [`neardup`], [`pagetext`], [`model`] | the detector, the page reader, the values that the parts exchange |
//! | `eval` | `html_writer`, `eval` | measuring how often detectors are right, on labelled pages |
//! | `crawl` | `dust`, `frontier`, `fetch`, `store`, `objects`, and of the engine `documents`, `focus`, `pipeline`, `crawl` | the crawler as a library |
//! | `dedup` | `dedup` | the crawler's verdicts on pages that are there already |
//! | `export` | `export` | what a crawl kept, in the formats of other tools |
//! | `cluster` | `cluster`, `batch` | several processes that share a crawl or the files of a manifest, by way of PostgreSQL |
//! | `pdf` | in `documents` | the text of PDF |
//! | `s3` | in `objects` | exports to S3, inputs from there |
//! | `browser` | `headless` | pages that scripts draw |
//! | `cli` | `report`, `demo`, `cli` | the program |

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub use ndcrawl_model as model;
#[doc(hidden)]
pub use ndcrawl_model::seeded;
pub use neardup::{detect, index, similarity};
pub use pagetext;

#[cfg(feature = "eval")]
pub use ndcrawl_eval as eval;
#[cfg(feature = "eval")]
pub use ndcrawl_html_writer as html_writer;

#[cfg(feature = "export")]
pub use ndcrawl_export as export;

#[cfg(feature = "dedup")]
pub use ndcrawl_dedup as dedup;

#[cfg(feature = "cluster")]
pub use ndcrawl_batch as batch;
#[cfg(feature = "cluster")]
pub use ndcrawl_cluster as cluster;
#[cfg(feature = "crawl")]
pub use ndcrawl_dust as dust;
#[cfg(all(feature = "browser", unix))]
pub use ndcrawl_engine::headless;
#[cfg(feature = "crawl")]
pub use ndcrawl_engine::{crawl, documents, focus, pipeline};
#[cfg(feature = "crawl")]
pub use ndcrawl_fetch as fetch;
#[cfg(feature = "crawl")]
pub use ndcrawl_frontier as frontier;
#[cfg(feature = "crawl")]
pub use ndcrawl_objects as objects;
#[cfg(feature = "crawl")]
pub use ndcrawl_store as store;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub use ndcrawl_demo as demo;
#[cfg(feature = "cli")]
pub use ndcrawl_report as report;

#[cfg(all(feature = "cli", feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
