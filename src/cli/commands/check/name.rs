//! The file name derived from a URL.

use serde_json::{Value, json};

use super::canonical;
use super::query::{Query, QueryError};

/// Answers `file`.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    Ok(json!({ "file": canonical(query.required("url")?)?.file_name() }))
}
