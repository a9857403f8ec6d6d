//! Whether a URL looks like a crawler trap.

use serde_json::{Value, json};

use super::canonical;
use super::question::{Question, Refusal};
use crate::frontier::Trap;

/// Answers `reject` and `why`.
pub(super) fn answer(question: &Question) -> Result<Value, Refusal> {
    let trap = Trap::of(&canonical(question.required("url")?)?);
    Ok(json!({ "reject": trap.is_some(), "why": trap.map_or("", Trap::name) }))
}
