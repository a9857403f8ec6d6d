//! A crawl at one moment, as progress output shows it.

use std::time::Duration;

use serde::Serialize;

use crate::cli::counts::OutcomeCounts;
use crate::cli::format::span;

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Since the start of this run.
    #[serde(rename = "elapsed_seconds", serialize_with = "crate::cli::summary::seconds")]
    pub elapsed: Duration,
    /// Pages fetched.
    pub fetched: u64,
    /// Pages fetched per second, recently.
    pub pages_per_second: f64,
    /// URLs in the queue.
    pub queued: u64,
    /// URLs being fetched or decided.
    pub leased: u64,
    /// Origins with URLs to fetch.
    pub origins: u64,
    /// URLs by outcome.
    #[serde(flatten)]
    pub outcomes: OutcomeCounts,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Memory in use.
    pub memory_bytes: u64,
    /// The time that is left, if it can be told.
    #[serde(skip)]
    pub left: Option<TimeLeft>,
    /// Whether the crawl is paused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
}

/// An estimate of the time until a crawl ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLeft {
    /// Until a limit is reached, for which the queue is long enough.
    About(Duration),
    /// Until the queue of now is done; it may grow.
    AtLeast(Duration),
    /// Until the queue of now is done, if it does not grow, and until a limit is reached.
    Between(Duration, Duration),
}

impl TimeLeft {
    /// Estimates the time left after `elapsed`, in which `done` pages were fetched.
    ///
    /// `pages_left` and `time_left` are those of the limits, `queued` is the length of the queue.
    pub fn estimate(
        elapsed: Duration,
        done: u64,
        pages_left: Option<u64>,
        time_left: Option<Duration>,
        queued: u64,
    ) -> Option<Self> {
        const EARLIEST: Duration = Duration::from_secs(5);
        let each = (done > 0 && elapsed >= EARLIEST).then(|| elapsed.as_secs_f64() / done as f64);
        let time_of = |pages: u64| Duration::try_from_secs_f64(each? * pages as f64).ok();
        let limit = [pages_left.and_then(time_of), time_left].into_iter().flatten().min();
        let queue = time_of(queued).unwrap_or_default();
        match limit {
            Some(limit) if queue >= limit => Some(TimeLeft::About(limit)),
            Some(limit) => Some(TimeLeft::Between(queue, limit)),
            None => (!queue.is_zero()).then_some(TimeLeft::AtLeast(queue)),
        }
    }

    /// Returns the estimate as people read it.
    pub fn text(self) -> String {
        match self {
            TimeLeft::About(Duration::ZERO) => "at its limit".to_owned(),
            TimeLeft::About(left) => format!("{} left", span(left)),
            TimeLeft::AtLeast(left) => format!("at least {} left", span(left)),
            TimeLeft::Between(Duration::ZERO, most) => format!("at most {} left", span(most)),
            TimeLeft::Between(least, most) => format!("{} to {} left", span(least), span(most)),
        }
    }
}

/// What a crawl is busy with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchedNow {
    /// The URL of the request that takes longest; without one, the URL that was handled last.
    pub url: Option<String>,
    /// How long the request takes by now.
    pub for_time: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_estimated_by_limits_and_else_by_the_queue() {
        let seconds = Duration::from_secs;
        let estimate = |pages, time, queued| TimeLeft::estimate(seconds(10), 100, pages, time, queued);
        assert_eq!(estimate(Some(50), None, 60), Some(TimeLeft::About(seconds(5))));
        assert_eq!(estimate(Some(50), Some(seconds(3)), 60), Some(TimeLeft::About(seconds(3))));
        assert_eq!(estimate(Some(50), None, 10), Some(TimeLeft::Between(seconds(1), seconds(5))));
        assert_eq!(estimate(None, Some(seconds(3)), 0), Some(TimeLeft::Between(seconds(0), seconds(3))));
        assert_eq!(estimate(Some(0), None, 60).map(TimeLeft::text).as_deref(), Some("at its limit"));
        assert_eq!(estimate(None, None, 200), Some(TimeLeft::AtLeast(seconds(20))));
        assert_eq!(estimate(None, None, 0), None);
        assert_eq!(TimeLeft::estimate(seconds(2), 100, Some(50), None, 9), None);
        assert_eq!(TimeLeft::estimate(seconds(9), 0, Some(50), None, 9), None);
    }
}
