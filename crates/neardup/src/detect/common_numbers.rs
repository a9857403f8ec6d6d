//! The numbers that the pages of a piece have in the common log.

use std::sync::{Arc, PoisonError, RwLock};

use crate::model::Sequence;

/// The number in the common log of each page of a piece, ascending. Shared by all that the piece consists of.
#[derive(Clone, Debug, Default)]
pub(super) struct CommonNumbers(Arc<RwLock<Vec<Sequence>>>);

impl CommonNumbers {
    /// Adds the next page of the piece.
    pub(super) fn push(&self, number: Sequence) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(number);
    }

    /// Returns the number of a page of the piece. A number beyond the piece stays as it is.
    pub(super) fn of(&self, page: Sequence) -> Sequence {
        let numbers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        numbers.get(page.index()).copied().unwrap_or(page)
    }

    /// Returns how many pages the piece has.
    pub(super) fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
