//! The terms of a deduplicator, which its counters look up.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::detect::Vocabulary;

/// A vocabulary that threads share. It only grows: a number that was read stays right.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedVocabulary(Arc<RwLock<Vocabulary>>);

impl SharedVocabulary {
    /// Returns whether both are the same one.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    // A panic while a term is added is a bug in between: terms and numbers are those of before or of after.
    pub fn read(&self) -> RwLockReadGuard<'_, Vocabulary> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, Vocabulary> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
