//! What this process has read of inputs: kept until the second look, which then needs not read them again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ndcrawl_dedup::SharedInputReport;

use super::input_files::InputFiles;

/// What was read of an input. Its files are removed when it is dropped.
pub(super) struct Spool {
    pub files: Arc<InputFiles>,
    /// What the input gave, without what was decided.
    pub report: SharedInputReport,
    /// How many pages were sent.
    pub sent: i64,
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.files.remove_read();
    }
}

/// What was read of the inputs of this process, by the numbers of the inputs.
#[derive(Default)]
pub(super) struct Spools(Mutex<HashMap<i32, Spool>>);

impl Spools {
    pub fn keep(&self, input: i32, spool: Spool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(input, spool);
    }

    /// Gives all up: the disk is needed for what is written.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub fn take(&self, input: i32) -> Option<Spool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&input)
    }
}
