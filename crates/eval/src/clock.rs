//! CPU time of the current thread, which other work on the machine does not lengthen.

use std::time::Duration;

/// A point in the CPU time of the thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadClock(Duration);

impl ThreadClock {
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

/// Elsewhere, the wall-clock time.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
