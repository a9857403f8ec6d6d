//! Pages whose terms the caller has numbered.

use crate::model::{Difference, Digest, PageId, PageTerms, RunningText, Score};

/// A page for [`Decider::decide_numbered`](super::Decider::decide_numbered).
#[derive(Clone, Debug)]
pub struct NumberedPage {
    /// Names the page.
    pub page: PageId,
    /// Equal digests count as equal content.
    pub body_digest: Digest,
    /// Its terms, by the numbers of a vocabulary that the caller has. They should be small: memory grows with the
    /// largest.
    pub terms: PageTerms,
    /// Its words in order, where own words are compared; otherwise empty.
    pub text: RunningText,
}

/// How a page compares with another one that need not be stored: see
/// [`Decider::compare_numbered`](super::Decider::compare_numbered).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairComparison {
    /// Whether the page is a near-duplicate of the other one.
    pub is_match: bool,
    /// The similarity, whatever the threshold.
    pub score: Score,
    /// What each says for itself; `None` if only weights are compared.
    pub difference: Option<Difference>,
}
