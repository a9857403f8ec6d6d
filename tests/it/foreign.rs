//! Runs programs of others: none of them keeps a test waiting for ever.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than any of them needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs a program and returns its stdout; shows its stderr if it fails.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = output(command);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}{stderr}", output.status);
    stdout.into_owned()
}

/// Runs a program to its end, or kills it and fails the test when it takes too long.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    let mut foreign = Foreign::start(command);
    let status = foreign.wait();
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| fs::read(foreign.path(name)).unwrap());
    Output { status, stdout, stderr }
}

/// A running program of others; dropping it kills it and those that it has started.
pub struct Foreign {
    child: Child,
    line: String,
    started: Instant,
    /// Holds its streams. They are files: a process that it leaves behind would keep a pipe open.
    folder: TempDir,
}

impl Foreign {
    pub fn start(command: &mut Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stream = |name: &str| Stdio::from(File::create(folder.path().join(name)).unwrap());
        command.stdout(stream("stdout")).stderr(stream("stderr")).process_group(0);
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child, line: format!("{command:?}"), started: Instant::now(), folder }
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        self.read("stdout")
    }

    /// Waits until it ends.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            self.pause();
        }
    }

    /// Waits until it has printed this line or has ended; returns the lines before.
    #[track_caller]
    pub fn lines_before(&mut self, last: &str) -> Vec<String> {
        loop {
            let has_ended = self.child.try_wait().unwrap().is_some();
            let printed = self.stdout();
            let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
            match lines.iter().position(|line| line == last) {
                Some(place) => return lines[..place].to_vec(),
                None if has_ended => return lines,
                None => self.pause(),
            }
        }
    }

    #[track_caller]
    fn pause(&self) {
        if self.started.elapsed() > PATIENCE {
            panic!("no end of {}\n{}{}", self.line, self.read("stdout"), self.read("stderr"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }

    fn path(&self, stream: &str) -> PathBuf {
        Path::join(self.folder.path(), stream)
    }

    fn read(&self, stream: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(stream)).unwrap()).into_owned()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let group = format!("-{}", self.child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = self.child.wait();
        }
    }
}
