//! The terms of a document and their order.

use serde::{Deserialize, Serialize};

use super::FieldCounts;

/// The text of a term: up to 24 bytes stand in the value itself.
pub type Term = compact_str::CompactString;

/// One distinct term of a page and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermCounts {
    /// The stemmed term, or a bigram of a script without word spaces.
    pub term: Term,
    /// How often it stands in each field.
    pub counts: FieldCounts,
}

/// What a bag of terms does not tell: the order in which they stand. What no detector asks for is
/// left empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermOrder {
    /// Hashes of runs of words of the visible text, ascending, each once; of a long page those that
    /// begin with [`shingle_level`](Self::shingle_level) zero bits.
    pub shingles: Vec<u32>,
    /// How much of a long page was left out: one in 2^level shingles is kept, whichever page it
    /// stands on.
    pub shingle_level: u8,
    /// How many sentences the visible text has.
    pub sentence_count: u32,
    /// The terms of each sentence, in order. A rendered page names a term by its position among the
    /// page's terms, a judged one by its [`TermId`](super::TermId).
    pub sentences: Vec<Vec<u32>>,
}

/// What of the order of terms is asked for. Nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantedOrder {
    /// [`TermOrder::sentence_count`].
    pub sentence_count: bool,
    /// [`TermOrder::sentences`].
    pub sentences: bool,
    /// [`TermOrder::shingles`].
    pub shingles: bool,
}
