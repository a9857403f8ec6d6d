//! Word caches that threads share.

use std::sync::{Arc, Mutex, PoisonError};

use super::words::Words;

/// Word caches that no thread uses at the moment.
///
/// A thread takes one for a page, so there are as many as pages were ever tokenized at the same time.
#[derive(Clone, Debug, Default)]
pub(super) struct WordPool(Arc<Mutex<Vec<Words>>>);

impl WordPool {
    /// Lends a word cache to `use_it`.
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
