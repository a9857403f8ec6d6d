//! The terms of a document and their order.

use serde::{Deserialize, Serialize};

use super::{FieldCounts, RunningText};

/// The text of a term: up to 24 bytes are stored in the value itself.
pub type Term = compact_str::CompactString;

/// One distinct term of a page and its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermCounts {
    /// The stemmed term, or a pair of characters of a script without spaces.
    pub term: Term,
    /// Occurrences in each field.
    pub counts: FieldCounts,
}

/// The order of a page's terms, which a bag of terms lacks. Parts that no detector needs are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermOrder {
    /// The words of the visible text, in order.
    pub text: RunningText,
    /// Number of sentences of the visible text.
    pub sentence_count: u32,
    /// The terms of each sentence, in order. A tokenized page names a term by its position among the page's terms, a
    /// decided one by its [`TermId`](super::TermId).
    pub sentences: Vec<Vec<u32>>,
}

/// The parts of the term order that are wanted. None by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantedOrder {
    /// [`TermOrder::sentence_count`].
    pub sentence_count: bool,
    /// [`TermOrder::sentences`].
    pub sentences: bool,
    /// [`TermOrder::text`].
    pub text: bool,
}
