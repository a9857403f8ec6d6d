//! Signal handling: the first signal stops the crawl, the second drops requests in flight, the third ends the
//! process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::cli::errors::exit;
use crate::cli::terminal::write_stderr;
use crate::pipeline::Stop;

/// The signals received.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedSignals(Arc<SignalState>);

#[derive(Debug, Default)]
struct SignalState {
    /// The exit code of the first signal, 0 if none came.
    code: AtomicU8,
    times: AtomicU32,
}

impl ReceivedSignals {
    pub fn exit_code(&self) -> Option<u8> {
        Some(self.0.code.load(Ordering::Relaxed)).filter(|code| *code != 0)
    }

    /// Returns whether a second signal came, so that optional work is skipped.
    pub fn is_urgent(&self) -> bool {
        self.0.times.load(Ordering::Relaxed) > 1
    }
}

/// The messages after the first and the second signal.
pub(super) type SignalMessages = [&'static str; 2];

/// For a crawl.
pub(super) const OF_CRAWLS: SignalMessages = [
    "stopping: fetches in flight may end (at most 10 s); once more drops them",
    "stopping now: fetches in flight are dropped, what has arrived is saved",
];

/// For `dedup`.
pub(super) const OF_PAGES: SignalMessages = [
    "stopping: the pages already read are decided and saved; the same command resumes",
    "stopping: saving the decided pages",
];

/// Starts to listen. Must be called within the runtime.
pub(super) fn listen(stop: watch::Sender<Stop>, told: SignalMessages) -> std::io::Result<ReceivedSignals> {
    let signalled = ReceivedSignals::default();
    let (mut interrupt, mut terminate, mut hangup) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    let first = signalled.clone();
    tokio::spawn(async move {
        for times in 1_u32.. {
            let code = next(&mut interrupt, &mut terminate, &mut hangup).await;
            let _ = first.0.code.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
            first.0.times.store(times, Ordering::Relaxed);
            match times {
                1 => {
                    write_stderr(told[0]);
                    stop.send_replace(Stop::Soon);
                }
                2 => {
                    write_stderr(told[1]);
                    stop.send_replace(Stop::Now);
                }
                _ => std::process::exit(i32::from(code)),
            }
        }
    });
    Ok(signalled)
}

async fn next(interrupt: &mut Signal, terminate: &mut Signal, hangup: &mut Signal) -> u8 {
    tokio::select! {
        _ = interrupt.recv() => exit::INTERRUPTED,
        _ = terminate.recv() => exit::TERMINATED,
        _ = hangup.recv() => exit::TERMINATED,
    }
}
