//! Whether a URL looks like a crawler trap.

use serde_json::{Value, json};

use super::canonical;
use super::query::{Query, QueryError};
use crate::frontier::Trap;

/// Answers `reject` and `why`.
pub(super) fn answer(query: &Query) -> Result<Value, QueryError> {
    let trap = Trap::of(&canonical(query.required("url")?)?);
    Ok(json!({ "reject": trap.is_some(), "why": trap.map_or("", Trap::name) }))
}
