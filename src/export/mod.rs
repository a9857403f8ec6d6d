//! *Can other tools read it?*
//!
//! Writes what a crawl has kept in the formats that other tools read. Each export goes once over
//! `pages.jsonl`, takes the lines that a [`Selection`] asks for, and reads the bodies it needs from the
//! archive. There is no network and no store, and nothing is gathered but what a block of the output
//! holds, so that memory does not grow with the crawl; but for [`rates`], which counts by host.
//!
//! | function | writes | for |
//! |---|---|---|
//! | [`parquet`] | one row a page, columns compressed with zstd | pyarrow, duckdb, pandas, datasets |
//! | [`jsonl`] | the same rows as lines, plain or compressed | jq, pandas, datasets |
//! | [`warc`] | the archived records of the selected pages, and their index | warcio, fastwarc, pywb |
//! | [`cdxj`] | an index of the crawl's own archive | pywb |
//! | [`rates`] | how much of each host is repetition | spreadsheets |
//!
//! A file appears under its name when it is whole: until then it is called `NAME.open`.

mod cdxj;
mod cell;
mod content;
mod error;
mod index;
mod jsonl;
mod output;
mod pages;
mod parquet;
mod rates;
mod row;
mod selection;
mod sorting;
mod surt;
mod warc;

pub use cdxj::cdxj;
pub use cell::cell as csv_cell;
pub use error::{ExportError, Result};
pub use jsonl::{Compression, jsonl};
pub use output::{Output, Tally};
pub use pages::Source;
pub use parquet::parquet;
pub use rates::{By, rates};
pub use row::Row;
pub use selection::{Elected, Selection};
pub use surt::surt;
pub use warc::warc;
