//! Requests that are being made, for whoever watches the crawl.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ndcrawl_model::CanonicalUrl;

/// The requests in flight, the first to begin first.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<Requests>);

#[derive(Debug, Default)]
struct Requests {
    next: u64,
    urls: BTreeMap<u64, (CanonicalUrl, Instant)>,
}

impl InFlight {
    /// Notes a request until the guard is dropped.
    pub fn begin(&self, url: &CanonicalUrl) -> InFlightGuard<'_> {
        let mut requests = self.lock();
        let number = requests.next;
        requests.next += 1;
        requests.urls.insert(number, (url.clone(), Instant::now()));
        InFlightGuard { of: self, number }
    }

    /// Returns the request that takes longest, and for how long.
    pub fn longest(&self) -> Option<(CanonicalUrl, Duration)> {
        let requests = self.lock();
        let (url, began) = requests.urls.values().next()?;
        Some((url.clone(), began.elapsed()))
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        // A panic while the lock was held leaves a valid value.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight.
#[derive(Debug)]
pub(super) struct InFlightGuard<'a> {
    of: &'a InFlight,
    number: u64,
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.of.lock().urls.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::url;

    #[test]
    fn the_request_that_began_first_is_the_longest() {
        let in_flight = InFlight::default();
        let name = || in_flight.longest().map(|(url, _)| url.to_string());
        assert_eq!(name(), None);
        let first = in_flight.begin(&url("http://a.test/1"));
        let second = in_flight.begin(&url("http://a.test/2"));
        assert_eq!(name().as_deref(), Some("http://a.test/1"));
        drop(first);
        assert_eq!(name().as_deref(), Some("http://a.test/2"));
        drop(second);
        assert_eq!(name(), None);
    }
}
