//! *What does a person see in a browser?*
//!
//! The frame, the tables and the plots of the pages that this program writes for people: one file each, nothing loaded
//! from outside, no script unless the program serves it, light or dark as the reader has it, and beside each plot its
//! table.
//!
//! Invariants: what comes from outside is text, never markup ([`escaped`]); nothing here knows what the figures
//! mean, reads a file, or can fail.

mod page;
pub mod plot;

pub use page::{
    TableCell, TableRow, card, counted, escaped, escaped_lines, figure, folded, live_page, page, shortened, table,
    thousands, words,
};
