//! One reader process: started, asked, and ended when it answers no more.

use std::io::{self, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use ndcrawl_model::TextError;

use super::exchange::{Answer, DocumentText, receive, send};
use super::{DocumentError, Limits, Options};

/// Documents after which a process ends, so that what it may have lost of its memory does no harm.
const MOST_DOCUMENTS: u32 = 500;
/// Variables that a program may need to be found and started.
const ENVIRONMENT: [&str; 4] = ["LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "SystemRoot"];
/// Bytes of its last words that are read.
const LAST_WORDS: u64 = 4096;

/// A reader process. Dropping it ends it.
#[derive(Debug)]
pub(super) struct ReaderProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
    documents: u32,
}

impl ReaderProcess {
    pub fn start(options: &Options) -> Result<Self, DocumentError> {
        let not_started = |why: String| {
            let program = options.program.display();
            DocumentError::new(TextError::NotStarted, format!("{program}: {why}; without --pdf it is not needed"))
        };
        let mut command = Command::new(&options.program);
        // Secrets may be among the others.
        let wanted = ENVIRONMENT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        command.args(&options.arguments).env_clear().envs(wanted);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| not_started(error.to_string()))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(not_started("it has no pipes".to_owned()));
        };
        Ok(Self { child, stdin, stdout, stderr, documents: 0 })
    }

    /// Returns whether it still runs.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns whether it has read as many documents as it may.
    pub fn is_worn(&self) -> bool {
        self.documents >= MOST_DOCUMENTS
    }

    /// Reads a document. The inner error is that of a document, and the process can go on; after the outer one it is of
    /// no more use.
    pub fn ask(&mut self, body: &[u8], limits: &Limits) -> Result<Result<DocumentText, DocumentError>, DocumentError> {
        self.documents += 1;
        let (stdin, stdout, child) = (&mut self.stdin, &mut self.stdout, &mut self.child);
        let (done, answer) = channel();
        // Reading and writing cannot be given up by the clock, so a thread does it until the process answers or ends.
        let answer = thread::scope(|scope| {
            scope.spawn(move || {
                let _ = done.send(exchange(stdin, stdout, body, limits));
            });
            answer.recv_timeout(limits.wall()).inspect_err(|_| {
                let _ = child.kill();
            })
        });
        match answer {
            Ok(Ok(answer)) => Ok(answer.map_err(|(kind, detail)| DocumentError::new(kind, detail))),
            Err(RecvTimeoutError::Timeout) => {
                Err(DocumentError::new(TextError::Time, format!("no answer within {:?}", limits.wall())))
            }
            Ok(Err(error)) => Err(self.post_mortem(&error)),
            Err(RecvTimeoutError::Disconnected) => Err(DocumentError::new(TextError::Crashed, "the reading ended")),
        }
    }

    /// Says why the process does not answer. Ends it, if it still runs.
    fn post_mortem(&mut self, error: &io::Error) -> DocumentError {
        if error.kind() == io::ErrorKind::InvalidData {
            return DocumentError::new(TextError::Crashed, format!("the reader's answer makes no sense: {error}"));
        }
        let mut words = Vec::new();
        // The pipe ends with the process, which has closed the other one.
        let _ = (&mut self.stderr).take(LAST_WORDS).read_to_end(&mut words);
        let words = String::from_utf8_lossy(&words);
        match self.child.wait() {
            Ok(status) => cause(status, &words),
            Err(error) => DocumentError::new(TextError::Crashed, error.to_string()),
        }
    }
}

impl Drop for ReaderProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn exchange(stdin: &mut ChildStdin, stdout: &mut ChildStdout, body: &[u8], limits: &Limits) -> io::Result<Answer> {
    send(stdin, body)?;
    let bytes = receive(stdout, limits.answer())?.ok_or(io::ErrorKind::UnexpectedEof)?;
    postcard::from_bytes(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Says why a process has ended, by its status and its last words.
fn cause(status: ExitStatus, words: &str) -> DocumentError {
    let words = words.trim();
    if words.contains("memory allocation of") {
        return DocumentError::new(TextError::Memory, words.lines().next().unwrap_or_default());
    }
    #[cfg(unix)]
    if std::os::unix::process::ExitStatusExt::signal(&status) == Some(rustix::process::Signal::XCPU.as_raw()) {
        return DocumentError::new(TextError::Time, "the reader has used up its processor time");
    }
    let last = words.lines().find(|line| !line.is_empty()).unwrap_or("it said nothing");
    DocumentError::new(TextError::Crashed, format!("the reader ended ({status}): {last}"))
}
