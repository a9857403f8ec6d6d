//! Word caches that threads share.

use std::sync::{Arc, Mutex, PoisonError};

use super::words::{GENERATION, Words};

/// Word caches that no thread uses at the moment.
///
/// A thread takes one for a page, so there are as many as pages were ever tokenized at the same time.
#[derive(Clone, Debug)]
pub(super) struct WordPool {
    spare: Arc<Mutex<Vec<Words>>>,
    /// Words of a generation of each.
    most: usize,
}

impl Default for WordPool {
    fn default() -> Self {
        Self::new(GENERATION)
    }
}

impl WordPool {
    /// Creates a pool of caches whose generations take this many words, short and long ones each.
    pub fn new(most: usize) -> Self {
        Self { spare: Arc::default(), most }
    }

    /// Lends a word cache to `use_it`.
    pub fn with<T>(&self, use_it: impl FnOnce(&mut Words) -> T) -> T {
        let mut words = self.lock().pop().unwrap_or_else(|| Words::new(self.most));
        let result = use_it(&mut words);
        self.lock().push(words);
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Words>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
