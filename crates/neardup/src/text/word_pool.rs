//! What threads that render keep from page to page.

use std::sync::{Arc, Mutex, PoisonError};

use super::words::Words;

/// Word stores that no thread uses just now. A thread takes one for the time of a page, so that
/// there are as many as pages were ever rendered at once.
#[derive(Clone, Debug, Default)]
pub(super) struct WordPool(Arc<Mutex<Vec<Words>>>);

impl WordPool {
    /// Lends a store to `use_it`.
    pub fn with<T>(&self, use_it: impl FnOnce(&mut Words) -> T) -> T {
        let mut words = self.lock().pop().unwrap_or_default();
        let result = use_it(&mut words);
        self.lock().push(words);
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Words>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
