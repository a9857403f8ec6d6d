//! Pages whose terms the caller has numbered, and what was found for them ahead of their decision.

use super::search::SearchResult;
use crate::model::{Digest, PageId, PageTerms, RunningText};

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
    /// What was found ahead, if anything.
    pub early: Option<EarlySearch>,
}

/// The result of [`Decider::search_early`](super::Decider::search_early). It stays true: pages come, none leaves.
#[derive(Clone, Debug)]
pub struct EarlySearch(pub(super) SearchResult);
