//! *Do the rows have the fields that the user named?* A name that no row has is a mistake, and never a column of nulls.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most names that are told.
const MOST_NAMES: usize = 40;

/// Which fields rows have.
#[derive(Debug, Default)]
pub struct SeenFields {
    /// Fields that must be there, by the flags that name them, and whether a row has them.
    wanted: Vec<(&'static str, String, AtomicBool)>,
    /// Fields that rows have.
    there: Mutex<BTreeSet<String>>,
}

impl SeenFields {
    /// Looks for fields, each with the flag that names it.
    pub fn new(wanted: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let wanted = wanted.into_iter().map(|(flag, field)| (flag, field, AtomicBool::new(false))).collect();
        Self { wanted, there: Mutex::default() }
    }

    /// Enters that rows have this field.
    pub(super) fn see(&self, field: &str) {
        for (_, wanted, is_seen) in &self.wanted {
            if wanted == field {
                is_seen.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Enters the names of all fields of a row.
    pub(super) fn tell<'n>(&self, names: impl IntoIterator<Item = &'n str>) {
        let mut there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            if there.len() < MOST_NAMES && !there.contains(name) {
                there.insert(name.to_owned());
            }
        }
    }

    /// Returns the names that rows have, for people.
    pub fn there(&self) -> String {
        let there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        there.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Returns the flags and fields that no row has. Without rows, nothing is missing.
    pub fn missing(&self) -> Vec<(&'static str, &str)> {
        if self.there.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return Vec::new();
        }
        let missing = self.wanted.iter().filter(|(.., is_seen)| !is_seen.load(Ordering::Relaxed));
        missing.map(|(flag, field, _)| (*flag, field.as_str())).collect()
    }
}
