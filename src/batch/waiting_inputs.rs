//! The inputs of this process that are sent and wait for their verdicts.

use std::sync::{Arc, Mutex, PoisonError};

/// How much waits. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitingInputs(Arc<Mutex<Waiting>>);

/// So many inputs, with so many pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    pub inputs: usize,
    pub pages: i64,
}

/// An input that waits, until it is dropped.
pub(super) struct WaitingInput {
    all: WaitingInputs,
    pages: i64,
}

impl WaitingInputs {
    /// Enters an input of so many pages.
    pub fn enter(&self, pages: i64) -> WaitingInput {
        self.change(|waiting| (waiting.inputs, waiting.pages) = (waiting.inputs + 1, waiting.pages + pages));
        WaitingInput { all: self.clone(), pages }
    }

    pub fn now(&self) -> Waiting {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for WaitingInput {
    fn drop(&mut self) {
        let pages = self.pages;
        self.all.change(|waiting| (waiting.inputs, waiting.pages) = (waiting.inputs - 1, waiting.pages - pages));
    }
}
