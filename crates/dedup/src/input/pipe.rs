//! What can be read once: standard input, a named pipe, a process substitution.
//!
//! It is opened once, and what comes is copied to a temporary file, so that it can be read again: for a second look at its
//! rows, for what needs the end of a file first (Parquet, zip), or to write the rows that are kept. A thread of its own
//! waits for it, since nothing else ends a wait for a writer that never comes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::objects::items_of_reader;
use super::{InputItem, Items, Options, SourceFile, Stop};

/// Bytes that are read at a time.
const CHUNK: usize = 128 * 1024;
/// Pieces that may wait.
const WAITING: usize = 4;
/// How often a wait looks whether it should end.
const TICK: Duration = Duration::from_millis(100);

/// An input that can be read once, and its copy.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    path: PathBuf,
    copy: Arc<Mutex<PipeCopy>>,
}

#[derive(Debug)]
enum PipeCopy {
    /// Nobody has read it.
    Unread,
    /// A copy of all that came.
    Whole(NamedTempFile),
    /// There is none: it was not read to its end, or there is no room for it.
    Lost,
}

impl Pipe {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), copy: Arc::new(Mutex::new(PipeCopy::Unread)) }
    }

    pub(super) fn can_be_read_again(&self) -> bool {
        !matches!(*self.copy.lock().unwrap_or_else(PoisonError::into_inner), PipeCopy::Lost)
    }

    /// Reads what comes, or its copy. An error is the only item of what cannot be read.
    pub(super) fn items<'a>(
        &self,
        file: SourceFile,
        options: &'a Options,
        bytes: &'a AtomicU64,
        stop: Stop<'a>,
    ) -> Result<Items<'a>, InputItem> {
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        let input: io::Result<Box<dyn Read + Send + 'a>> = match &*copy {
            PipeCopy::Whole(whole) => whole.reopen().map(|file| Box::new(file) as Box<dyn Read + Send>),
            PipeCopy::Lost => Err(io::Error::other("it can be read once, and there is no copy of it")),
            PipeCopy::Unread => Ok(Box::new(self.begin(stop)) as Box<dyn Read + Send>),
        };
        if matches!(*copy, PipeCopy::Unread) {
            *copy = PipeCopy::Lost;
        }
        drop(copy);
        match input {
            Ok(input) => items_of_reader(file, input, options, bytes),
            Err(error) => Err(file.damaged(error.to_string())),
        }
    }

    fn begin<'a>(&self, stop: Stop<'a>) -> PipeReader<'a> {
        let (sender, pieces) = sync_channel(WAITING);
        let path = self.path.clone();
        // Nobody waits for it: where no writer comes, it ends with the process.
        std::thread::spawn(move || {
            let mut input: Box<dyn Read> = match path.as_os_str() == "-" {
                true => Box::new(io::stdin()),
                false => match File::open(&path) {
                    Ok(file) => Box::new(file),
                    Err(error) => return drop(sender.send(Err(error))),
                },
            };
            loop {
                let mut piece = vec![0; CHUNK];
                let sent = match input.read(&mut piece) {
                    Ok(0) => return,
                    Ok(length) => {
                        piece.truncate(length);
                        sender.send(Ok(piece))
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return drop(sender.send(Err(error))),
                };
                if sent.is_err() {
                    return;
                }
            }
        });
        let writing = NamedTempFile::new().ok();
        PipeReader { pieces, piece: Vec::new(), at: 0, writing, copy: self.copy.clone(), stop }
    }
}

/// Reads what comes, and copies it.
struct PipeReader<'a> {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    at: usize,
    /// The copy; `None` if there is no room for one.
    writing: Option<NamedTempFile>,
    copy: Arc<Mutex<PipeCopy>>,
    stop: Stop<'a>,
}

impl PipeReader<'_> {
    /// Waits for the next piece. Returns false at the end.
    fn wait(&mut self) -> io::Result<bool> {
        loop {
            match self.pieces.recv_timeout(TICK) {
                Ok(piece) => {
                    (self.piece, self.at) = (piece?, 0);
                    let write = |copy: &mut NamedTempFile| copy.write_all(&self.piece);
                    if self.writing.as_mut().is_some_and(|copy| write(copy).is_err()) {
                        self.writing = None;
                    }
                    return Ok(true);
                }
                Err(RecvTimeoutError::Timeout) if (self.stop)() => return Ok(false),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if let Some(whole) = self.writing.take() {
                        *self.copy.lock().unwrap_or_else(PoisonError::into_inner) = PipeCopy::Whole(whole);
                    }
                    return Ok(false);
                }
            }
        }
    }
}

impl Drop for PipeReader<'_> {
    /// Copies what nobody has read: a table may say where it ends.
    fn drop(&mut self) {
        while self.writing.is_some() && self.wait().unwrap_or(false) {}
    }
}

impl Read for PipeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() && (buffer.is_empty() || !self.wait()?) {
            return Ok(0);
        }
        let count = buffer.len().min(self.piece.len() - self.at);
        buffer[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
