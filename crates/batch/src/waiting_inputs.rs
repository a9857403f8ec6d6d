//! The inputs of this process that are sent and wait for their verdicts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// How much waits, by the numbers of the inputs. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitingInputs(Arc<Mutex<HashMap<i32, Sent>>>);

/// So many inputs, with so many pages that are not decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    pub inputs: usize,
    pub pages: i64,
}

/// The pages of an input, and how many of them are decided.
#[derive(Debug)]
struct Sent {
    pages: i64,
    decided: watch::Receiver<i64>,
}

/// An input that waits, until it is dropped.
pub(super) struct WaitingInput {
    all: WaitingInputs,
    input: i32,
}

impl WaitingInputs {
    /// Enters an input of so many pages.
    pub fn enter(&self, input: i32, pages: i64, decided: watch::Receiver<i64>) -> WaitingInput {
        self.inputs().insert(input, Sent { pages, decided });
        WaitingInput { all: self.clone(), input }
    }

    pub fn now(&self) -> Waiting {
        let inputs = self.inputs();
        let pages = inputs.values().map(|sent| (sent.pages - *sent.decided.borrow()).max(0)).sum();
        Waiting { inputs: inputs.len(), pages }
    }

    fn inputs(&self) -> MutexGuard<'_, HashMap<i32, Sent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WaitingInput {
    fn drop(&mut self) {
        self.all.inputs().remove(&self.input);
    }
}
