//! Signal handling: the first signal stops the crawl, the second drops requests in flight, the third ends the
//! process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio::sync::watch;

use crate::cli::errors::exit;
use crate::cli::terminal::write_stderr;
use crate::pipeline::Stop;

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

/// The signals received, and what they stop.
#[derive(Clone, Debug)]
pub(super) struct ReceivedSignals(Arc<SignalState>);

#[derive(Debug)]
struct SignalState {
    stop: watch::Sender<Stop>,
    /// What is printed, if anything.
    messages: Option<SignalMessages>,
    /// The exit code of the first signal, 0 if none came.
    code: AtomicU8,
    /// How many came.
    times: watch::Sender<u32>,
    /// Whether the run is over: signals end what comes after it, and stop nothing.
    is_over: AtomicBool,
}

impl ReceivedSignals {
    fn new(stop: watch::Sender<Stop>, messages: Option<SignalMessages>) -> Self {
        let (code, is_over) = (AtomicU8::new(0), AtomicBool::new(false));
        Self(Arc::new(SignalState { stop, messages, code, times: watch::channel(0).0, is_over }))
    }

    pub fn exit_code(&self) -> Option<u8> {
        Some(self.0.code.load(Ordering::Relaxed)).filter(|code| *code != 0)
    }

    /// Returns whether a second signal came, so that optional work is skipped.
    pub fn is_urgent(&self) -> bool {
        *self.0.times.borrow() > 1
    }

    /// Stops the run as a signal with this exit code does.
    pub fn raise(&self, code: u8) {
        let state = &self.0;
        state.times.send_modify(|times| *times += 1);
        if state.is_over.load(Ordering::Relaxed) {
            return;
        }
        let _ = state.code.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
        let is_urgent = self.is_urgent();
        if let Some(messages) = state.messages {
            write_stderr(messages[usize::from(is_urgent)]);
        }
        state.stop.send_replace(if is_urgent { Stop::Now } else { Stop::Soon });
    }

    /// Says that the run is over. Waits for the next signal.
    pub async fn next_after_end(&self) {
        let mut times = self.0.times.subscribe();
        self.0.is_over.store(true, Ordering::Relaxed);
        // The sender lives in this struct.
        let _ = times.changed().await;
    }
}

/// Starts to listen. Must be called within the runtime. The third signal ends the process.
pub(super) fn listen(stop: watch::Sender<Stop>, messages: SignalMessages) -> std::io::Result<ReceivedSignals> {
    let received = ReceivedSignals::new(stop, Some(messages));
    let mut signals = SystemSignals::listen()?;
    let raised = received.clone();
    tokio::spawn(async move {
        loop {
            let code = signals.next().await;
            if raised.is_urgent() && !raised.0.is_over.load(Ordering::Relaxed) {
                std::process::exit(i32::from(code));
            }
            raised.raise(code);
        }
    });
    Ok(received)
}

/// Stops a run when the program that embeds it says so, as signals do. Must be called within the runtime.
pub(super) fn follow(stop: watch::Sender<Stop>, mut asked: watch::Receiver<Stop>) -> ReceivedSignals {
    let received = ReceivedSignals::new(stop, None);
    let state = received.0.clone();
    tokio::spawn(async move {
        loop {
            let now = *asked.borrow_and_update();
            if now != Stop::Go {
                state.code.store(exit::INTERRUPTED, Ordering::Relaxed);
                state.times.send_replace(if now == Stop::Now { 2 } else { 1 });
                state.stop.send_replace(now);
            }
            if asked.changed().await.is_err() {
                return;
            }
        }
    });
    received
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
