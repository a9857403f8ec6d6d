//! The time for which this thread ran: other work on the machine does not lengthen it.

use std::time::Duration;

/// A moment of this thread's life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment(Duration);

impl Moment {
    pub(super) fn now() -> Self {
        Self(thread_time())
    }

    pub(super) fn elapsed(self) -> Duration {
        thread_time().saturating_sub(self.0)
    }
}

#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Elsewhere, the time on the wall.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
