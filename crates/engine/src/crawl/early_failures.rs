//! Failures before any server had answered.
//!
//! Such a failure says little about its URL: the network itself may be down. If a server answers later, it was not,
//! and the URL is tried again like any other. If none does, the failure stands.

use std::sync::{Mutex, PoisonError};

use ndcrawl_model::{FailureClass, Lease};

/// A lease whose failure waits for the first answer of any server.
#[derive(Debug)]
pub(super) struct EarlyFailure {
    pub lease: Lease,
    pub class: FailureClass,
    pub detail: String,
}

/// The leases whose failure is not final yet.
#[derive(Debug, Default)]
pub(super) struct EarlyFailures(Mutex<Vec<EarlyFailure>>);

impl EarlyFailures {
    /// Keeps a lease alive.
    pub fn add(&self, failure: EarlyFailure) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
    }

    /// Returns their number.
    pub fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    /// Takes all of them.
    pub fn take(&self) -> Vec<EarlyFailure> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
