//! Runs the built program, each time in a folder of its own.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Flags for a web on loopback, where no politeness is needed.
pub const UNSPARING: [&str; 10] =
    ["--delay", "0", "--ip-delay", "0", "--host-concurrency", "8", "--allow-private", "--scope", "host", "--depth=50"];

/// Synthetic webs plant distances by weights, from the first pages of a host on. The second check has its own
/// oracle beside its code, and real sites.
pub const BY_WEIGHTS: [&str; 2] = ["--detector-option", "second_check=none"];

/// Fetches planted duplicates even if a rule predicts them.
pub const ALL_FETCHED: [&str; 2] = ["--predicted", "fetch"];

const PATIENCE: Duration = Duration::from_secs(120);

/// An empty folder in which the program runs.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The names of all files in the folder, except the programs' streams.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.starts_with(".stream")).collect()
    }

    /// The program with these arguments.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        Run::new(Path::new(env!("CARGO_BIN_EXE_ndcrawl")), self.folder.path()).args(arguments)
    }

    /// A crawl of these seeds into the folder `out`, with [`UNSPARING`] manners, that decides
    /// [`BY_WEIGHTS`], [`ALL_FETCHED`].
    pub fn crawl<S: AsRef<OsStr>>(&self, seeds: &[S]) -> Run {
        self.run(seeds).args(["-o", "out"]).args(UNSPARING).args(BY_WEIGHTS).args(ALL_FETCHED)
    }

    pub fn pages(&self) -> Vec<Value> {
        pages(&self.path("out"))
    }
}

/// The lines of `pages.jsonl`.
pub fn pages(out: &Path) -> Vec<Value> {
    let path = out.join("pages.jsonl");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

/// A run that has not started.
pub struct Run {
    command: Command,
    folder: PathBuf,
    patience: Duration,
}

impl Run {
    /// Settings of the person who runs the tests must not reach the program.
    pub fn new(program: &Path, folder: &Path) -> Self {
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let upper = name.to_string_lossy().to_uppercase();
            if upper.starts_with("NDCRAWL_") || upper.ends_with("_PROXY") || upper.starts_with("RUST_") {
                command.env_remove(&name);
            }
        }
        command.env("XDG_CONFIG_HOME", folder.join(".no-config")).env_remove("CLICOLOR_FORCE");
        Self { command, folder: folder.to_owned(), patience: PATIENCE }
    }

    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets standard input.
    pub fn reading(mut self, file: &Path) -> Self {
        self.command.stdin(File::open(file).unwrap());
        self
    }

    /// A run that takes longer is killed and fails the test.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub fn start(mut self) -> Running {
        // Files, not pipes: nobody has to drain them while the program runs.
        let [out, err] = [tempfile::Builder::new(), tempfile::Builder::new()]
            .map(|mut builder| builder.prefix(".stream").tempfile_in(&self.folder).unwrap());
        let [out_file, err_file] = [&out, &err].map(|stream| stream.reopen().unwrap());
        let child = self.command.stdout::<File>(out_file).stderr::<File>(err_file).spawn().unwrap();
        let line = format!("{:?}", self.command);
        Running { child, line, streams: [out, err], started: Instant::now(), patience: self.patience }
    }

    pub fn finish(self) -> Finished {
        self.start().finish()
    }
}

/// Runs a program again and again, and kills it after each of these milliseconds, until it ends before; then to its end.
pub fn finish_under_kills(run: impl Fn() -> Run, moments: &[u64]) {
    for moment in moments {
        let mut running = run().start();
        std::thread::sleep(Duration::from_millis(*moment));
        if running.has_ended() {
            running.finish().expect_code(0);
            break;
        }
        running.kill();
    }
    run().finish().expect_code(0);
}

/// A running program; dropping it kills it.
pub struct Running {
    child: Child,
    line: String,
    streams: [tempfile::NamedTempFile; 2],
    started: Instant,
    patience: Duration,
}

impl Running {
    /// Sends a signal by its name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(sent.success(), "kill -{name}");
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its stderr so far.
    pub fn stderr(&self) -> String {
        let [_, stderr] = self.texts();
        stderr
    }

    /// Kills the program, if it still runs.
    pub fn kill(mut self) -> Finished {
        self.child.kill().unwrap();
        self.finish()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits until `condition` holds; false if the program ended before.
    pub fn wait_until(&mut self, condition: impl Fn() -> bool) -> bool {
        while !condition() {
            if self.has_ended() {
                return false;
            }
            self.assert_patience();
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    pub fn finish(mut self) -> Finished {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return self.finished(status);
            }
            self.assert_patience();
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn assert_patience(&self) {
        if self.started.elapsed() > self.patience {
            let [out, err] = self.texts();
            panic!("no end of {}\nstdout: {out}\nstderr: {err}", self.line);
        }
    }

    fn finished(&self, status: ExitStatus) -> Finished {
        let [stdout, stderr] = self.texts();
        let elapsed = self.started.elapsed();
        Finished { line: self.line.clone(), code: status.code(), signal: status.signal(), stdout, stderr, elapsed }
    }

    fn texts(&self) -> [String; 2] {
        [0, 1].map(|stream| String::from_utf8_lossy(&fs::read(self.streams[stream].path()).unwrap()).into_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A finished run.
#[derive(Debug)]
pub struct Finished {
    pub line: String,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub elapsed: Duration,
}

impl Finished {
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "{} (signal {:?})\nstdout: {}\nstderr: {}",
            self.line,
            self.signal,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Stdout as one JSON object.
    #[track_caller]
    pub fn json(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in stdout: {}", self.stdout));
        assert!(value.is_object(), "{value}");
        value
    }

    /// The error lines of stderr.
    pub fn errors(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with("error:")).collect()
    }
}
