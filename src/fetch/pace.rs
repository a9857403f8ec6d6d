//! When the next request to one origin, or to one IP address, may start.

use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

/// The clock of this room is tokio's, which tests can stop and turn.
#[derive(Clone, Copy, Debug)]
struct TokioClock;

impl Clock for TokioClock {
    type Instant = std::time::Instant;

    fn now(&self) -> Self::Instant {
        Instant::now().into_std()
    }
}

/// A request that is not answered by then has reached the server, which takes its time: gaps are counted from
/// start to start, but for as much as a request may be late on its way.
const LATE: Duration = Duration::from_millis(200);

type Limiter = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<std::time::Instant>>;

/// The rhythm of requests to one origin or address.
///
/// The quota is one request an interval. It is not the whole rule: an interval is also at least as
/// long as the last response took, starts anew when a host asks for rest, and must be seen by the
/// *server*, see [`Pace::heard`] and [`Pace::answered`]. So the earliest start is kept beside the limiter, which cannot
/// be looked at without taking from it; a request takes from it when all else allows it to start.
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
    /// One request an interval; zero is no limit.
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

    /// Makes the interval longer; it never gets shorter.
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

    /// When the next request may start; `None`: at any time.
    pub(super) fn due(&self) -> Option<Instant> {
        let start = self.last_start.filter(|_| !self.interval.is_zero());
        start.map(|start| self.due_after(start)).max(self.rest_until)
    }

    /// Takes a request from the quota, or says when to ask again.
    pub(super) fn start(&mut self, now: Instant) -> Result<(), Instant> {
        if let Some(quota) = &self.quota {
            quota.check().map_err(|not_yet| now + not_yet.wait_time_from(now.into_std()))?;
        }
        self.last_start = Some(now);
        self.last_heard = None;
        Ok(())
    }

    /// Notes that the request that started then is answered, over whatever connection.
    ///
    /// Whatever has delayed it on its way, the server has seen it by now. An interval from here is one
    /// for the server too, which an interval from our start is not.
    pub(super) fn heard(&mut self, started: Instant, now: Instant) {
        if self.last_start == Some(started) {
            self.last_heard = Some(now);
        }
    }

    /// Notes that the answer to a request came over a connection that was made for it.
    ///
    /// The server sees a request when its connection stands, which may be a long handshake after
    /// our start; the next one, over the same connection, is there at once. Two starts an interval
    /// apart would look closer than that to the server. It has surely seen the first when it
    /// answers, so that the interval is counted from there.
    pub(super) fn answered(&mut self, now: Instant) {
        if !self.interval.is_zero() {
            self.rest(now + self.interval);
        }
    }

    /// Notes how long a response took.
    pub(super) fn finished(&mut self, response: Duration) {
        self.last_response = response;
    }

    /// Lets no request start before `until`.
    pub(super) fn rest(&mut self, until: Instant) {
        self.rest_until = self.rest_until.max(Some(until));
    }

    /// An interval after the request that started then was seen by the server: as far as is known when
    /// it was answered, else after a margin for the jitter of timers and network. At least the last
    /// response time after its start.
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
