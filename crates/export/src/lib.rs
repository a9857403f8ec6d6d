//! *How do other tools read the results of a crawl?*
//!
//! The room writes stored pages in the formats of other tools. Each export reads `pages.jsonl` once, takes the lines
//! that match a [`Selection`], and reads their bodies from the archive. It uses neither network nor store. Memory is
//! bounded by one block of output, except for [`rates`], which holds one row of counters per host.
//!
//! | function | writes | for |
//! |---|---|---|
//! | [`parquet`] | one row per page, columns compressed with zstd | pyarrow, duckdb, pandas, datasets |
//! | [`jsonl`] | the same rows as JSON lines, plain or compressed | jq, pandas, datasets |
//! | [`shards`] | the same rows in a folder of files of a size | Spark, training programs |
//! | [`dataset`] | a folder of Parquet files with a card | `datasets.load_dataset`, the Hugging Face Hub |
//! | [`markdown`] | a folder with a file of Markdown per page | editors, search engines, models |
//! | [`warc`] | the archived records of the selected pages, with a CDXJ index | warcio, fastwarc, pywb |
//! | [`warc_shards`] | the same in a folder of files of a size, with one index | warcio, pywb |
//! | [`wacz`] | the same in one file with its index and the list of pages | replayweb.page, py-wacz |
//! | [`cdxj`] | a CDXJ index of the crawl's own archive | pywb |
//! | [`rates`] | duplicate rates by host as CSV | spreadsheets |
//!
//! An export is written to `NAME.open` and renamed to `NAME` when it is complete. An object of a bucket appears when it is
//! complete; a folder below `s3://` is uploaded by [`ObjectFolder`] from a folder on this machine.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cdxj;
mod cluster_facts;
mod cluster_name;
mod columns;
mod content;
mod csv;
mod dataset;
mod disallowing;
mod error;
mod folder_output;
mod host_blocks;
mod index;
mod jsonl;
mod markdown;
mod object_folder;
mod output;
mod pages;
mod parquet;
mod parquet_schema;
mod rates;
mod row;
mod row_file;
mod row_reader;
mod selection;
mod shards;
mod sorting;
mod surt;
mod wacz;
mod warc;
mod warc_file;
mod warc_shards;

pub use cdxj::cdxj;
pub use columns::TextColumns;
pub use csv::csv_cell;
pub use dataset::dataset;
pub use disallowing::DisallowingClusters;
pub use error::{ExportError, Result};
pub use jsonl::{Compression, jsonl};
pub use markdown::markdown;
pub use object_folder::{ObjectFolder, in_scratch_folder};
pub use output::{ExportCounts, Output};
pub use pages::ExportSource;
pub use parquet::parquet;
pub use rates::{RateKey, rates};
pub use row::{ExportRow, ProvenanceFields};
pub use row_file::{RowFile, ShardFormat};
pub use selection::{ElectedPages, Selection};
pub use shards::shards;
pub use surt::surt;
pub use wacz::wacz;
pub use warc::warc;
pub use warc_shards::warc_shards;
