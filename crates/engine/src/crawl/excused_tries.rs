//! Requests that failed for the sake of the host. They use up no try of their URL.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ndcrawl_model::UrlId;

/// How often a URL is excused at most, as a multiple of the patience with its host: a host may be well in between, and the
/// URL still be in trouble whenever it is asked for.
const LONGEST: u32 = 2;

/// The excused requests of URLs without outcome: when the first was made, and how many there are.
#[derive(Debug, Default)]
pub(super) struct ExcusedTries(Mutex<HashMap<UrlId, (Instant, u32)>>);

impl ExcusedTries {
    /// Counts a request if it is excused. Returns the number of excused requests; none if that has gone on for too long.
    pub fn count(&self, url: UrlId, is_excused: bool, patience: Duration) -> u32 {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_excused {
            tries.entry(url).or_insert_with(|| (Instant::now(), 0)).1 += 1;
        }
        let excused = tries.get(&url).filter(|(since, _)| since.elapsed() <= patience.saturating_mul(LONGEST));
        excused.map_or(0, |(_, count)| *count)
    }

    /// Forgets a URL that has an outcome.
    pub fn forget(&self, url: UrlId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&url);
    }
}
