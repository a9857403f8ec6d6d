//! When the next request to one origin, or to one IP address, may start.

use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

/// Tokio's clock, which tests can pause and advance.
#[derive(Clone, Copy, Debug)]
struct TokioClock;

impl Clock for TokioClock {
    type Instant = std::time::Instant;

    fn now(&self) -> Self::Instant {
        Instant::now().into_std()
    }
}

/// Longest time that a request is assumed to travel. After it, the delay counts from the start even without an
/// answer.
const LATE: Duration = Duration::from_millis(200);

type Limiter = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<std::time::Instant>>;

/// Politeness delay of one origin or address.
///
/// The quota is one request per interval, but the interval is also at least the last response time, restarts when a
/// host asks for it, and must hold as seen by the *server* ([`Pace::heard`], [`Pace::answered`]). The limiter cannot
/// be read without taking from it, so the earliest start is kept beside it.
pub(super) struct Pace {
    interval: Duration,
    quota: Option<Limiter>,
    last_start: Option<Instant>,
    /// When the last request was answered.
    last_heard: Option<Instant>,
    last_response: Duration,
    rest_until: Option<Instant>,
}

impl Pace {
    /// One request per interval. Zero is no limit.
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            quota: quota(interval),
            last_start: None,
            last_heard: None,
            last_response: Duration::ZERO,
            rest_until: None,
        }
    }

    /// Makes the interval longer, never shorter.
    pub(super) fn raise(&mut self, interval: Duration) {
        if interval <= self.interval {
            return;
        }
        self.interval = interval;
        self.quota = quota(interval);
    }

    /// The least time between two starts.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns when the next request may start. `None` is at any time.
    pub(super) fn due(&self) -> Option<Instant> {
        let start = self.last_start.filter(|_| !self.interval.is_zero());
        start.map(|start| self.due_after(start)).max(self.rest_until)
    }

    /// Takes a request from the quota, or returns when to try again.
    pub(super) fn start(&mut self, now: Instant) -> Result<(), Instant> {
        if let Some(quota) = &self.quota {
            quota.check().map_err(|not_yet| now + not_yet.wait_time_from(now.into_std()))?;
        }
        self.last_start = Some(now);
        self.last_heard = None;
        Ok(())
    }

    /// Counts the interval from now: the request that has started has not reached a server before.
    pub(super) fn restart(&mut self, now: Instant) {
        self.last_start = Some(now);
    }

    /// Records the answer to the request that started at `started`.
    ///
    /// By now the server has seen it, whatever delayed it. An interval from here also holds for the server; an
    /// interval from our start may not.
    pub(super) fn heard(&mut self, started: Instant, now: Instant) {
        if self.last_start == Some(started) {
            self.last_heard = Some(now);
        }
    }

    /// Records an answer over a new connection.
    ///
    /// The server sees the first request only after the handshake, the next one at once. Two starts one interval
    /// apart would look closer to the server. So the interval counts from the answer.
    pub(super) fn answered(&mut self, now: Instant) {
        if !self.interval.is_zero() {
            self.rest(now + self.interval);
        }
    }

    /// Records the response time.
    pub(super) fn finished(&mut self, response: Duration) {
        self.last_response = response;
    }

    /// Delays the next request until `until`.
    pub(super) fn rest(&mut self, until: Instant) {
        self.rest_until = self.rest_until.max(Some(until));
    }

    /// Returns one interval after the server saw the request of `start`: at its answer, or after a margin for timer and
    /// network jitter. At least the last response time after the start.
    fn due_after(&self, start: Instant) -> Instant {
        let seen = match self.last_heard {
            Some(heard) => heard.min(start + LATE),
            None => start + self.interval / 50 + Duration::from_millis(20),
        };
        (seen + self.interval).max(start + self.last_response)
    }
}

fn quota(interval: Duration) -> Option<Limiter> {
    Some(RateLimiter::direct_with_clock(Quota::with_period(interval)?, TokioClock))
}
