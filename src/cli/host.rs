//! Who runs a command: this process, or another program that embeds it.
//!
//! A process is stopped by signals, and writes to the terminal. An embedded run is stopped and watched by a
//! [`RunHandle`], and leaves signals, allocator and panic hook of the process alone.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch;

use crate::cli::errors::CliError;
use crate::cli::signals::{self, ReceivedSignals, SignalMessages};
use crate::cli::terminal::write_stdout;
use crate::pipeline::Stop;

/// Stops and watches an embedded run. Clones belong to the same run.
#[derive(Clone, Debug)]
pub struct RunHandle(Arc<RunState>);

#[derive(Debug)]
struct RunState {
    stop: watch::Sender<Stop>,
    shown: Mutex<Shown>,
    changed: Condvar,
}

/// What the run has shown.
#[derive(Debug, Default)]
struct Shown {
    /// The latest counters as a JSON object, if nobody has read them yet.
    counters: Option<String>,
    summary: Option<String>,
    is_over: bool,
}

impl Default for RunHandle {
    fn default() -> Self {
        let (stop, _) = watch::channel(Stop::Go);
        Self(Arc::new(RunState { stop, shown: Mutex::default(), changed: Condvar::new() }))
    }
}

impl RunHandle {
    /// Stops the run as a signal does: the second call drops what is in flight.
    pub fn stop(&self) {
        self.0.stop.send_modify(|stop| *stop = if *stop == Stop::Go { Stop::Soon } else { Stop::Now });
    }

    /// Waits for counters that nobody has read, a JSON object; `None` if none come in time or the run is over.
    pub fn next_counters(&self, timeout: Duration) -> Option<String> {
        let waits = |shown: &mut Shown| shown.counters.is_none() && !shown.is_over;
        let waited = self.0.changed.wait_timeout_while(self.shown(), timeout, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.counters.take()
    }

    /// Takes what a process would have printed.
    pub(super) fn take_summary(&self) -> String {
        self.shown().summary.take().unwrap_or_default()
    }

    /// Wakes those who wait for counters: there are no more.
    pub(super) fn end(&self) {
        self.show(|shown| shown.is_over = true);
    }

    fn show(&self, change: impl FnOnce(&mut Shown)) {
        change(&mut self.shown());
        self.0.changed.notify_all();
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.0.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who runs a command.
#[derive(Clone, Debug)]
pub(super) enum Host {
    /// This process.
    Process,
    /// Another program.
    Embedded(RunHandle),
}

impl Host {
    /// Listens for what stops the run: signals, or the handle. Must be called within the runtime.
    pub fn listen(&self, stop: watch::Sender<Stop>, told: SignalMessages) -> io::Result<ReceivedSignals> {
        match self {
            Host::Process => signals::listen(stop, told),
            Host::Embedded(run) => Ok(signals::follow(stop, run.0.stop.subscribe())),
        }
    }

    /// Shows the counters of a run to a program that embeds it.
    pub fn show(&self, counters: &impl Serialize) {
        if let Host::Embedded(run) = self {
            // A struct of numbers cannot fail to serialize.
            run.show(|shown| shown.counters = serde_json::to_string(counters).ok());
        }
    }

    /// Prints the summary of a run, or keeps it for the program that embeds it.
    pub fn print_summary(&self, text: &str) -> Result<(), CliError> {
        match self {
            Host::Process => write_stdout(text),
            Host::Embedded(run) => {
                run.show(|shown| shown.summary = Some(text.to_owned()));
                Ok(())
            }
        }
    }

    /// Returns whether another program runs the command: then nothing is drawn on the terminal.
    pub fn is_embedded(&self) -> bool {
        matches!(self, Host::Embedded(_))
    }
}
