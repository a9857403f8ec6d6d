//! Rests of hosts that other processes must keep, too, should they take the hosts over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ndcrawl_model::{RestOf, RestRow};

/// The last rest of each origin that is in no commit yet. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct SharedRests(Arc<Mutex<BTreeMap<String, RestRow>>>);

impl SharedRests {
    /// Notes a rest. Those of addresses are shared otherwise.
    pub fn note(&self, row: &RestRow) {
        if let RestOf::Origin(origin) = &row.of {
            self.rests().insert(origin.clone(), row.clone());
        }
    }

    /// Returns the rests that were noted.
    pub fn noted(&self) -> Vec<RestRow> {
        self.rests().values().cloned().collect()
    }

    /// Returns the rests that were noted, and forgets them.
    pub fn take(&self) -> Vec<RestRow> {
        std::mem::take(&mut *self.rests()).into_values().collect()
    }

    fn rests(&self) -> MutexGuard<'_, BTreeMap<String, RestRow>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
