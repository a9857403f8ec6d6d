//! *How does the program write HTML for people?*
//!
//! The room builds the frame, the tables and the SVG plots of reports and of the dashboard. Each page is one file that
//! loads nothing from outside. It has no script, except for pages that the program serves. Colors follow the reader's
//! light or dark scheme. Each plot has a table of its data beside it.
//!
//! Invariants: text from outside is always escaped ([`escaped`]). Nothing here knows what the figures mean, reads a
//! file, or can fail.

mod page;
pub mod plot;

pub use page::{
    TableCell, TableRow, card, counted, escaped, escaped_lines, figure, folded, live_page, page, shortened, table,
    thousands, words,
};
