//! The class `NativeRun`: a run of the program in a thread of its own, which never touches Python.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ndcrawl::cli::RunHandle;
use ndcrawl::cli::errors::CliError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::program::tell_own_program;

/// A run of `crawl` or `dedup`.
#[pyclass(frozen, module = "ndcrawl._native")]
pub(crate) struct NativeRun {
    handle: RunHandle,
    thread: Mutex<Option<JoinHandle<Ended>>>,
}

type Ended = Result<(u8, String), CliError>;

/// Exit code, summary, error and hint.
type Joined = (u8, Option<String>, Option<String>, Option<String>);

#[pymethods]
impl NativeRun {
    #[new]
    fn new(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Self> {
        tell_own_program(py);
        let handle = RunHandle::default();
        let run = handle.clone();
        let thread = std::thread::Builder::new().name("ndcrawl".to_owned());
        let thread = thread.spawn(move || ndcrawl::cli::run_embedded(arguments, &run));
        let thread = thread.map_err(|error| PyRuntimeError::new_err(format!("no thread for the run: {error}")))?;
        Ok(Self { handle, thread: Mutex::new(Some(thread)) })
    }

    /// Stops the run as Ctrl-C does: once lets fetches in flight end, twice drops them.
    fn stop(&self) {
        self.handle.stop();
    }

    /// Waits for new counters, as JSON; None if none come within these seconds, or the run is over.
    fn next_counters(&self, py: Python<'_>, seconds: f64) -> Option<String> {
        let timeout = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        py.detach(|| self.handle.next_counters(timeout))
    }

    /// Returns whether nothing runs any more.
    fn is_over(&self) -> bool {
        self.lock().as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end. Returns exit code, summary, error and hint; None if another call has returned it.
    fn join(&self, py: Python<'_>) -> Option<Joined> {
        let thread = self.lock().take()?;
        let internal = || CliError::new(ndcrawl::cli::errors::exit::INTERNAL, "internal error: the run's thread ended");
        Some(match py.detach(|| thread.join()).unwrap_or_else(|_| Err(internal())) {
            Ok((code, summary)) => (code, Some(summary), None, None),
            Err(error) => (error.code, None, Some(error.message), error.hint),
        })
    }
}

impl NativeRun {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<JoinHandle<Ended>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
