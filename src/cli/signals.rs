//! Signal handling: the first signal stops the crawl, the second drops requests in flight, the third ends the
//! process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

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
    let mut signals = SystemSignals::listen()?;
    let first = signalled.clone();
    tokio::spawn(async move {
        for times in 1_u32.. {
            let code = signals.next().await;
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

/// Stops a run when the program that embeds it says so, as signals do. Must be called within the runtime.
pub(super) fn follow(stop: watch::Sender<Stop>, mut asked: watch::Receiver<Stop>) -> ReceivedSignals {
    let signalled = ReceivedSignals::default();
    let first = signalled.clone();
    tokio::spawn(async move {
        loop {
            let now = *asked.borrow_and_update();
            if now != Stop::Go {
                first.0.code.store(exit::INTERRUPTED, Ordering::Relaxed);
                first.0.times.store(if now == Stop::Now { 2 } else { 1 }, Ordering::Relaxed);
                stop.send_replace(now);
            }
            if asked.changed().await.is_err() {
                return;
            }
        }
    });
    signalled
}

/// What the system sends to end a program.
#[cfg(unix)]
struct SystemSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl SystemSignals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal and returns its exit code.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => exit::INTERRUPTED,
            _ = self.terminate.recv() => exit::TERMINATED,
            _ = self.hangup.recv() => exit::TERMINATED,
        }
    }
}

/// What the console sends to end a program. After a closed window, Windows gives it five seconds.
#[cfg(windows)]
struct SystemSignals {
    interrupt: tokio::signal::windows::CtrlC,
    interrupt_group: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl SystemSignals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        Ok(Self {
            interrupt: ctrl_c()?,
            interrupt_group: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Waits for the next signal and returns its exit code.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => exit::INTERRUPTED,
            _ = self.interrupt_group.recv() => exit::INTERRUPTED,
            _ = self.close.recv() => exit::TERMINATED,
            _ = self.shutdown.recv() => exit::TERMINATED,
        }
    }
}
