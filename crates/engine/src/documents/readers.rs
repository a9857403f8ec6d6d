//! A pool of reader processes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::exchange::DocumentText;
use super::process::ReaderProcess;
use super::{DocumentError, Options};

/// Reads documents in processes of their own. Threads share it: there are as many processes as threads read at once.
///
/// Cost: a process is started only if none is idle.
#[derive(Debug)]
pub struct Readers {
    options: Options,
    idle: Mutex<Vec<ReaderProcess>>,
}

impl Readers {
    /// Creates a pool. Starts nothing.
    pub fn new(options: Options) -> Self {
        Self { options, idle: Mutex::default() }
    }

    /// Reads a document. Waits for the reader, so call it on a thread that may wait.
    ///
    /// # Errors
    /// If the document has no text, or if reading takes more than the limits allow.
    pub fn read(&self, body: &[u8]) -> Result<DocumentText, DocumentError> {
        let mut process = match self.take_idle() {
            Some(process) => process,
            None => ReaderProcess::start(&self.options)?,
        };
        let answer = process.ask(body, &self.options.limits)?;
        if !process.is_worn() {
            self.idle().push(process);
        }
        answer
    }

    /// Takes a process that waits for work. One that has ended meanwhile is dropped.
    fn take_idle(&self) -> Option<ReaderProcess> {
        loop {
            let mut process = self.idle().pop()?;
            if process.is_alive() {
                return Some(process);
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<ReaderProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
