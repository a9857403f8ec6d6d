//! What was found for a page ahead of its decision, while other threads searched too.

use std::sync::Arc;

use super::page_match::Page;
use super::search::SearchResult;
use crate::model::{PageTerms, TermId};

/// The result of [`Decider::search_early`](super::Decider::search_early). It stays true: pages come, none leaves.
#[derive(Clone, Debug)]
pub struct EarlySearch {
    pub(super) terms: EarlyTerms,
    pub(super) result: SearchResult,
}

/// The terms of a page, as far as they had numbers.
#[derive(Clone, Debug)]
pub(super) enum EarlyTerms {
    /// All had.
    Known(PageTerms, Arc<Page>),
    /// Those that have are named.
    Some(Vec<Option<TermId>>),
}
