//! *How does the program write HTML for people?*
//!
//! The room builds the frame, the tables and the SVG plots of reports and of the dashboard. Each page is one file that
//! loads nothing from outside. Pages that the program serves, and reports, have one script; all others have none. Colors
//! follow the reader's light or dark scheme. Each plot has a table of its data beside it.
//!
//! Invariants: text from outside is always escaped ([`escaped`]). Nothing here knows what the figures mean, reads a
//! file, or can fail.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod data_table;
mod figures;
mod page;
pub mod plot;
mod treemap;

pub use data_table::DataTable;
pub use figures::{byte_size, span};
pub use page::{
    TableCell, TableRow, card, counted, escaped, escaped_lines, figure, folded, link, live_page, page, report_page,
    shortened, table, thousands, words,
};
pub use treemap::{MapBox, treemap};

/// The script of reports: it sorts and filters tables.
pub const TABLES_SCRIPT: &str = include_str!("tables.js");
