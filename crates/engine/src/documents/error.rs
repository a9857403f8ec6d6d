//! Why a document has no text.

use ndcrawl_model::TextError;

/// A document without text, and what happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", kind.name())]
pub struct DocumentError {
    /// The kind.
    pub kind: TextError,
    /// What happened, in words.
    pub detail: String,
}

impl DocumentError {
    pub(super) fn new(kind: TextError, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}
