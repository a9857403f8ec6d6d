//! The reader process itself: reads documents from stdin until it is closed.

use std::any::Any;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ndcrawl_model::TextError;

use super::exchange::{Answer, receive, send};
use super::{Limits, pdf};

/// Reads documents within the limits, one after the other, until the input ends.
///
/// # Errors
/// If the limits cannot be set, or the pipes fail.
pub fn serve(mut from: impl Read, mut to: impl Write, limits: &Limits) -> io::Result<()> {
    process_limits::begin(limits)?;
    while let Some(body) = receive(&mut from, usize::MAX)? {
        process_limits::grant_time(limits)?;
        let answer: Answer = catch_unwind(AssertUnwindSafe(|| pdf::read(body, limits.text)))
            .unwrap_or_else(|panic| Err((TextError::Crashed, message(&*panic))));
        send(&mut to, &postcard::to_stdvec(&answer).map_err(io::Error::other)?)?;
    }
    Ok(())
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("no message"))
}

#[cfg(unix)]
mod process_limits {
    use std::io;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use rustix::time::{ClockId, clock_gettime};

    use super::Limits;

    /// What is counted on for the program itself where the system does not say what it takes.
    const PROGRAM: u64 = 256 << 20;

    /// Limits memory, and forbids to open or write a file: a document is read from stdin.
    pub fn begin(limits: &Limits) -> io::Result<()> {
        let most = taken().saturating_add(limits.memory);
        set(Resource::As, most)?;
        set(Resource::Nofile, 3)?;
        set(Resource::Fsize, 0)?;
        set(Resource::Core, 0)
    }

    /// Lets the process run for so many seconds more. The soft limit ends it, and can be raised for the next document.
    pub fn grant_time(limits: &Limits) -> io::Result<()> {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u64::try_from(used.tv_sec).unwrap_or_default() + limits.time.as_secs().max(1) + 1;
        let maximum = getrlimit(Resource::Cpu).maximum;
        Ok(setrlimit(Resource::Cpu, Rlimit { current: Some(least(maximum, seconds)), maximum })?)
    }

    /// Sets a limit for good, unless a lower one is set already.
    fn set(resource: Resource, most: u64) -> io::Result<()> {
        let most = Some(least(getrlimit(resource).maximum, most));
        Ok(setrlimit(resource, Rlimit { current: most, maximum: most })?)
    }

    fn least(hard: Option<u64>, wanted: u64) -> u64 {
        hard.map_or(wanted, |hard| hard.min(wanted))
    }

    /// Returns the bytes of addresses that the program takes by itself.
    fn taken() -> u64 {
        let pages = || std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse::<u64>().ok();
        pages().map_or(PROGRAM, |pages| pages * rustix::param::page_size() as u64)
    }
}

#[cfg(not(unix))]
mod process_limits {
    use std::io;

    use super::Limits;

    /// Elsewhere the clock alone limits a reader.
    pub fn begin(_: &Limits) -> io::Result<()> {
        Ok(())
    }

    pub fn grant_time(_: &Limits) -> io::Result<()> {
        Ok(())
    }
}
