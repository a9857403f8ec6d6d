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

    /// Returns the place in the piece of a page of the common log, if it is one of the piece's.
    pub(super) fn find(&self, number: Sequence) -> Option<Sequence> {
        let numbers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        numbers.binary_search(&number).ok().and_then(|place| u32::try_from(place).ok()).map(Sequence)
    }

    /// Returns how many pages the piece has.
    pub(super) fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
