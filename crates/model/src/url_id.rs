//! The number of a URL.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A URL of this crawl, numbered from 0 in the order in which URLs were first seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UrlId(pub u32);

impl UrlId {
    /// Returns the number as an index into a table that is ordered by it.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for UrlId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
