//! Mutexes whose data stay sound when a thread panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even after a thread panicked with it.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
