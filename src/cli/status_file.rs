//! *How far is a crawl?* The file `status.json`, and its text for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cli::counts::OutcomeCounts;
use crate::cli::errors::CliError;
use crate::cli::format::{byte_size, counted, span, thousands};
use crate::cli::terminal_safe::terminal_safe;
use crate::detect::DeciderStats;
use crate::model::{FrontierCounts, OutcomeKind, Totals};
use crate::pipeline::RecentUrl;
use crate::store::{self, FolderUse};

/// Its name in the output folder.
pub const STATUS_FILE: &str = "status.json";

/// The cause of a crawl whose process ended without saying so: a kill, a lack of memory, a power failure.
const KILLED: &str = "killed";

/// A running crawl that has not written for this long may be dead.
const SILENCE: Duration = Duration::from_secs(10);

/// The status of a crawl. The crawl rewrites the file every second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusFile {
    /// When this was written, RFC 3339 UTC.
    pub at: String,
    /// The state of the crawl.
    pub state: RunState,
    /// Why it stopped or ended early: `killed`, or what `crawl.json` says. Not in the file itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The process ID.
    pub pid: u32,
    /// Time spent in all runs.
    pub elapsed_seconds: f64,
    /// Pages fetched per second, recently.
    pub pages_per_second: f64,
    /// URLs in the queue.
    pub queued: u64,
    /// URLs being fetched or decided.
    pub leased: u64,
    /// URLs seen and not scheduled for fetching.
    pub deferred: u64,
    /// URLs ever seen.
    pub seen: u64,
    /// Origins with URLs to fetch.
    pub origins: u64,
    /// URLs by name of outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// The share of duplicates among compared pages; `None` without pages.
    pub duplicate_rate: Option<f64>,
    /// Requests sent, robots.txt and probes included.
    pub requests: u64,
    /// Requests sent to probe for soft 404s.
    pub probes: u64,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Memory in use.
    pub memory_bytes: u64,
    /// Of that, the memory of the frontier: URLs, queues and learned rules.
    pub frontier_bytes: u64,
    /// The index of stored pages.
    pub index: IndexStatus,
    /// The origins with the longest queues.
    pub waiting: Vec<WaitingOrigin>,
    /// The URLs that got their outcomes last, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<RecentUrl>,
    /// The URLs that failed last, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<RecentUrl>,
    /// How much of its input `dedup` has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadStatus>,
}

/// How much of an input was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadStatus {
    /// Bytes of the files, compressed or not.
    pub bytes: u64,
    /// The total; `None` for a stream.
    pub of: Option<u64>,
}

/// The state of a crawl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Running.
    #[default]
    Running,
    /// Running, but told to fetch nothing for now.
    Paused,
    /// Finished.
    Finished,
    /// Stopped; can be resumed.
    Stopped,
}

impl RunState {
    /// Returns whether the process is said to be at work.
    pub fn is_alive(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
}

/// The size of the index of stored pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct IndexStatus {
    pub records: u64,
    /// Memory of all that recognizes pages: index, common text, vocabulary, digests.
    pub bytes: u64,
    /// Of that, the index and what is known of common text.
    pub list_bytes: u64,
}

impl IndexStatus {
    /// Returns the memory of index and common text per record.
    pub fn bytes_per_record(&self) -> u64 {
        self.list_bytes.checked_div(self.records).unwrap_or_default()
    }
}

/// An origin with queued URLs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitingOrigin {
    /// `scheme://host:port`
    pub origin: String,
    /// URLs in the queue.
    pub queued: u64,
    /// When the next one may be fetched.
    pub due_in_seconds: f64,
    /// What it waits for, a name of [`WaitReason`](crate::crawl::WaitReason).
    pub why: String,
}

impl StatusFile {
    /// Returns the status of this process now, with these counters.
    pub fn now(state: RunState, totals: &Totals, counts: &FrontierCounts, index: &DeciderStats) -> Self {
        Self {
            at: Timestamp::now().to_string(),
            state,
            pid: std::process::id(),
            elapsed_seconds: totals.millis as f64 / 1000.0,
            queued: counts.queued,
            leased: counts.leased,
            deferred: counts.deferred,
            seen: counts.seen,
            origins: counts.origins,
            outcomes: by_name(totals, counts),
            duplicate_rate: OutcomeCounts::from(&totals.outcomes).duplicate_rate(),
            requests: totals.requests,
            probes: totals.probes,
            bytes: totals.bytes,
            memory_bytes: resident_bytes(),
            index: IndexStatus {
                records: index.indexed,
                bytes: index.index_bytes + index.vocabulary_bytes + index.log_bytes,
                list_bytes: index.index_bytes,
            },
            ..Self::default()
        }
    }

    /// Writes the file into the output folder; logs a warning on failure.
    pub fn write(&self, folder: &Path) {
        let written = serde_json::to_value(self)
            .map_err(|error| error.to_string())
            .and_then(|value| store::write_status_file(folder, &value).map_err(|error| error.to_string()));
        if let Err(error) = written {
            tracing::warn!("{STATUS_FILE}: {error}");
        }
    }

    /// Reads the status of the crawl in an output folder.
    ///
    /// The file of a killed crawl says that it runs. The lock, which ends with its process, corrects that.
    pub fn read(folder: &Path) -> Result<Self, CliError> {
        let status = Self::read_file(folder)?;
        if status.state.is_alive() && !status.is_held(folder) {
            // It may have ended between the two looks.
            let again = Self::read_file(folder)?;
            return Ok(if again.state.is_alive() { again.killed() } else { again.with_cause(folder) });
        }
        Ok(status.with_cause(folder))
    }

    /// Whether the process that wrote this still has the folder. Believes the file if the lock cannot be read.
    fn is_held(&self, folder: &Path) -> bool {
        match store::folder_use(folder) {
            Ok(FolderUse::Free) => false,
            Ok(FolderUse::By(owner)) => owner.is_none_or(|owner| owner == self.pid),
            Err(_) => true,
        }
    }

    /// What was in flight is queued again, and nothing waits.
    fn killed(self) -> Self {
        Self {
            state: RunState::Stopped,
            cause: Some(KILLED.to_owned()),
            queued: self.queued + self.leased,
            leased: 0,
            pages_per_second: 0.0,
            waiting: Vec::new(),
            ..self
        }
    }

    /// Adds why the crawl ended early, if it has ended and `crawl.json` says so.
    fn with_cause(mut self, folder: &Path) -> Self {
        if !self.state.is_alive() {
            let crawl = store::read_json_file(&folder.join("crawl.json")).ok().flatten();
            self.cause = crawl.and_then(|crawl| crawl["stopped"].as_str().map(str::to_owned));
        }
        self
    }

    fn read_file(folder: &Path) -> Result<Self, CliError> {
        let path = folder.join(STATUS_FILE);
        let name = path.display();
        let text = std::fs::read_to_string(&path).map_err(|error| {
            CliError::usage(format!("{name}: {error}"))
                .with_hint("give the output folder of a crawl: ndcrawl status DIR")
        })?;
        serde_json::from_str(&text).map_err(|error| {
            CliError::new(crate::cli::errors::exit::CORRUPT, format!("{name}: not a status file: {error}"))
        })
    }

    /// Renders the status as of `now`.
    pub fn text(&self, now: Timestamp) -> String {
        let mut text = self.head(now) + "\n";
        // Writing to a String cannot fail, here and below.
        let _ = match self.read {
            Some(read) => writeln!(
                text,
                "{} read{}: {}",
                byte_size(read.bytes),
                read.of.map_or(String::new(), |of| format!(" of {}", byte_size(of))),
                counted(self.seen, "page", "pages")
            ),
            None => writeln!(
                text,
                "{} seen: {} queued on {}, {} in flight, {} deferred",
                counted(self.seen, "URL", "URLs"),
                thousands(self.queued),
                counted(self.origins, "site", "sites"),
                thousands(self.leased),
                thousands(self.deferred)
            ),
        };
        let _ = writeln!(
            text,
            "{}{:.1} pages/s, memory {}\nindex of {} in {}, {} of index and common text per page",
            if self.read.is_some() { String::new() } else { self.traffic() },
            self.pages_per_second,
            byte_size(self.memory_bytes),
            counted(self.index.records, "page", "pages"),
            byte_size(self.index.bytes),
            byte_size(self.index.bytes_per_record())
        );
        if let Some(bytes) = self.frontier_bytes_per_url() {
            let what = counted(self.seen, "URL", "URLs");
            let _ = writeln!(
                text,
                "frontier of {what} in {}, {} per URL",
                byte_size(self.frontier_bytes),
                byte_size(bytes)
            );
        }
        text.push('\n');
        text + &self.outcome_lines() + &self.waiting_lines()
    }

    /// Returns the memory of the frontier per URL; `None` without URLs.
    pub fn frontier_bytes_per_url(&self) -> Option<u64> {
        self.frontier_bytes.checked_div(self.seen).filter(|_| self.frontier_bytes > 0)
    }

    fn traffic(&self) -> String {
        format!("{}, {}, ", counted(self.requests, "request", "requests"), byte_size(self.bytes))
    }

    /// Returns the state and the elapsed time in one line.
    pub fn head(&self, now: Timestamp) -> String {
        let age = self.age(now);
        let ago = age.map_or("at an unknown time".to_owned(), |age| format!("{} ago", span(age)));
        let spent = span(Duration::try_from_secs_f64(self.elapsed_seconds).unwrap_or_default());
        match self.state {
            RunState::Running | RunState::Paused if age.is_none_or(|age| age > SILENCE) => {
                format!("Process {} is silent: last update {ago}, after {spent}; it may have been killed", self.pid)
            }
            RunState::Running => format!("Running for {spent} (process {})", self.pid),
            RunState::Paused => format!("Paused after {spent} (process {}); the dashboard resumes it", self.pid),
            RunState::Finished => format!("Finished {ago}, after {spent}{}", self.cause_text()),
            RunState::Stopped => format!("Stopped {ago}, after {spent}{}; run it again to resume", self.cause_text()),
        }
    }

    /// Says why it ended early: `: process 4711 was killed`.
    fn cause_text(&self) -> String {
        match self.cause.as_deref() {
            None => String::new(),
            Some(KILLED) => format!(": process {} was killed", self.pid),
            Some("signal") => ": interrupted".to_owned(),
            Some("time") => ": --max-time reached".to_owned(),
            Some("disk") => ": the disk is full".to_owned(),
            Some(limit @ ("max-pages" | "max-pages-per-host")) => {
                format!(": --{limit} reached; it goes on with a higher limit")
            }
            Some(other) => format!(": {}", terminal_safe(other)),
        }
    }

    fn age(&self, now: Timestamp) -> Option<Duration> {
        let at: Timestamp = self.at.parse().ok()?;
        // After a clock was set back, the age is negative.
        Some(Duration::try_from(now.duration_since(at)).unwrap_or_default())
    }

    fn outcome_lines(&self) -> String {
        let line = |(name, count): (&String, &u64)| format!("{:>12}  {}\n", thousands(*count), terminal_safe(name));
        self.outcomes.iter().map(line).collect()
    }

    fn waiting_lines(&self) -> String {
        if self.waiting.is_empty() {
            return String::new();
        }
        let line = |waiting: &WaitingOrigin| {
            let due = Duration::try_from_secs_f64(waiting.due_in_seconds).unwrap_or_default();
            let due = if due.is_zero() { "now".to_owned() } else { format!("in {}", span(due)) };
            let (queued, origin) = (thousands(waiting.queued), terminal_safe(&waiting.origin));
            format!("{queued:>12}  {origin}, next {due} ({})\n", terminal_safe(&waiting.why))
        };
        format!("\nWaiting:\n{}", self.waiting.iter().map(line).collect::<String>())
    }
}

/// Counts URLs by outcome, including those excluded or predicted without a lease.
fn by_name(totals: &Totals, counts: &FrontierCounts) -> BTreeMap<String, u64> {
    let mut outcomes = totals.outcomes.clone();
    let without_lease = [(OutcomeKind::Excluded, counts.excluded), (OutcomeKind::PredictedDuplicate, counts.predicted)];
    for (kind, count) in without_lease.into_iter().filter(|(_, count)| *count > 0) {
        *outcomes.entry(kind).or_default() += count;
    }
    outcomes.iter().map(|(kind, count)| (kind.name().to_owned(), *count)).collect()
}

/// Returns the resident memory of this process; 0 where the system does not tell.
#[cfg(target_os = "linux")]
pub fn resident_bytes() -> u64 {
    let pages =
        || -> Option<u64> { std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok() };
    pages().map_or(0, |pages| pages * rustix::param::page_size() as u64)
}

/// Returns 0: only Linux tells it by a file.
#[cfg(not(target_os = "linux"))]
pub fn resident_bytes() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> StatusFile {
        StatusFile {
            at: "2026-01-02T03:04:05Z".to_owned(),
            pid: 4711,
            elapsed_seconds: 83.5,
            pages_per_second: 14.78,
            queued: 56_789,
            leased: 32,
            deferred: 7,
            seen: 60_000,
            origins: 12,
            outcomes: [("stored", 1000), ("near-duplicate", 150)].map(|(k, v)| (k.to_owned(), v)).into(),
            requests: 1300,
            bytes: 24_536_000,
            memory_bytes: 120 << 20,
            frontier_bytes: 2_280_000,
            index: IndexStatus { records: 1000, bytes: 3 << 20, list_bytes: 900_000 },
            waiting: vec![WaitingOrigin {
                origin: "https://a.example:443".to_owned(),
                queued: 5000,
                due_in_seconds: 0.7,
                why: "gap".to_owned(),
            }],
            ..StatusFile::default()
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_status_of_a_running_crawl_is_read_by_people() {
        insta::assert_snapshot!(status().text(at("2026-01-02T03:04:06Z")), @r"
        Running for 1 min 23 s (process 4711)
        60,000 URLs seen: 56,789 queued on 12 sites, 32 in flight, 7 deferred
        1,300 requests, 23.4 MiB, 14.8 pages/s, memory 120.0 MiB
        index of 1,000 pages in 3.0 MiB, 900 B of index and common text per page
        frontier of 60,000 URLs in 2.2 MiB, 38 B per URL

                 150  near-duplicate
               1,000  stored

        Waiting:
               5,000  https://a.example:443, next in 700 ms (gap)
        ");
    }

    #[test]
    fn a_silent_crawl_is_not_said_to_run() {
        let text = status().text(at("2026-01-02T03:06:05Z"));
        assert!(text.starts_with("Process 4711 is silent: last update 2 min 0 s ago"), "{text}");
        let finished = StatusFile { state: RunState::Finished, ..status() };
        assert!(finished.text(at("2026-01-02T03:06:05Z")).starts_with("Finished 2 min 0 s ago, after 1 min 23 s\n"));
        let broken = StatusFile { at: "?".to_owned(), elapsed_seconds: f64::NAN, ..status() };
        assert!(broken.text(at("2026-01-02T03:06:05Z")).contains("at an unknown time"));
    }

    #[test]
    fn the_file_reads_back_and_later_fields_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(STATUS_FILE);
        std::fs::write(&path, serde_json::to_string(&status()).unwrap()).unwrap();
        assert_eq!(StatusFile::read_file(folder.path()).unwrap(), status());
        std::fs::write(&path, r#"{"state":"stopped","new":1}"#).unwrap();
        assert_eq!(StatusFile::read(folder.path()).unwrap().state, RunState::Stopped);
    }

    #[test]
    fn a_killed_crawl_is_stopped_and_what_was_in_flight_is_queued() {
        let folder = tempfile::tempdir().unwrap();
        status().write(folder.path());
        let read = StatusFile::read(folder.path()).unwrap();
        assert_eq!((read.state, read.queued, read.leased), (RunState::Stopped, 56_789 + 32, 0));
        let text = read.text(at("2026-01-02T03:06:05Z"));
        let expected = "Stopped 2 min 0 s ago, after 1 min 23 s: process 4711 was killed; run it again to resume\n";
        assert!(text.starts_with(expected) && !text.contains("Waiting"), "{text}");
        // Another command of this program holds the folder of the dead crawl.
        let lock = store::hold(folder.path()).unwrap();
        assert_eq!(StatusFile::read(folder.path()).unwrap().cause.as_deref(), Some(KILLED));
        StatusFile { pid: std::process::id(), ..status() }.write(folder.path());
        assert_eq!(StatusFile::read(folder.path()).unwrap().state, RunState::Running);
        drop(lock);
    }

    #[test]
    fn an_early_end_has_its_cause() {
        let folder = tempfile::tempdir().unwrap();
        StatusFile { state: RunState::Finished, ..status() }.write(folder.path());
        for (cause, expected) in [
            (serde_json::Value::Null, "after 1 min 23 s\n"),
            ("max-pages".into(), ": --max-pages reached; it goes on with a higher limit\n"),
            ("x\u{1b}".into(), ": x\\u{1b}\n"),
        ] {
            store::write_crawl_file(folder.path(), &serde_json::json!({ "stopped": cause })).unwrap();
            let text = StatusFile::read(folder.path()).unwrap().text(at("2026-01-02T03:06:05Z"));
            assert!(text.lines().next().is_some_and(|line| format!("{line}\n").ends_with(expected)), "{text}");
        }
    }

    #[test]
    fn a_folder_without_status_is_a_clear_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = StatusFile::read(folder.path()).unwrap_err();
        assert!(error.message.contains("status.json: ") && error.hint.is_some(), "{error}");
        std::fs::write(folder.path().join(STATUS_FILE), "{").unwrap();
        assert_eq!(StatusFile::read(folder.path()).unwrap_err().code, 4);
    }
}
