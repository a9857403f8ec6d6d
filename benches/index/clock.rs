//! CPU time of the current thread. Other work on the machine affects it only through the caches.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::statistics::quantile;

/// A point in the CPU time of the thread.
#[derive(Clone, Copy, Debug)]
pub struct Moment(Duration);

impl Moment {
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Self(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }

    /// Returns the microseconds since this point.
    pub fn micros(self) -> f64 {
        (Self::now().0 - self.0).as_secs_f64() * 1e6
    }
}

/// Times of a task.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    pub mean: f64,
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl Spread {
    pub fn of(mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        Self {
            mean: times.iter().sum::<f64>() / times.len().max(1) as f64,
            p50: quantile(&times, 0.5),
            p99: quantile(&times, 0.99),
            max: quantile(&times, 1.0),
        }
    }
}
