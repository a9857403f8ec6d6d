//! Escaping of text from pages.

use serde_json::{Value, json};

use super::query::{Query, QueryError};
use crate::cli::terminal_safe::terminal_safe;
use crate::export::csv_cell;
use crate::html_writer::escaped;

/// Answers the text as `html`, for a `terminal` (and the log), and as a cell of `csv`.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    let text = query.required("text")?;
    Ok(json!({ "html": escaped(text), "terminal": terminal_safe(text), "csv": csv_cell(text) }))
}
