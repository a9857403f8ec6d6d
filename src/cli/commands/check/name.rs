//! The file name derived from a URL.

use serde_json::{Value, json};

use super::canonical;
use super::question::{Question, Refusal};

/// Answers `file`.
pub(super) fn answer(question: &Question) -> Result<Value, Refusal> {
    Ok(json!({ "file": canonical(question.required("url")?)?.file_name() }))
}
