//! Pages whose terms the caller has numbered.

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
}
