//! Sizes at which work is done in another way.

/// When a search takes another way. Verdicts do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Records from which on several cores search at once: below, a query takes less time than waking another core.
    pub parallel_from: usize,
    /// Records stored since the first part of a search, beyond which the whole index is searched again: that takes less
    /// time than so many sketches.
    pub most_since: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { parallel_from: 10_000, most_since: 2_000 }
    }
}
