//! *How does a command fail?* With one line, a hint where there is one, and an exit code.
//!
//! [`CliError`] is what the user sees. The functions map the errors of the other modules to it.

use std::fmt;
use std::io::ErrorKind;

use crate::cli::terminal_safe::terminal_safe;
#[cfg(feature = "cluster")]
use crate::cluster::{ClusterError, ErrorClass};
use crate::crawl::CrawlError;
use crate::detect::DetectError;
use crate::export::ExportError;
use crate::frontier::FrontierError;
use crate::objects::ObjectUrl;
use crate::pipeline::{PipelineError, ReferenceCrawlsError};
use crate::report::ReportError;
use crate::store;

/// The exit codes of the program.
pub mod exit {
    /// Finished, or stopped by a limit that the user set.
    pub const FINISHED: u8 = 0;
    /// No seed could be fetched, no input gave a page, or `verify` found a problem.
    pub const NOTHING_FETCHED: u8 = 1;
    /// Usage or configuration error.
    pub const USAGE: u8 = 2;
    /// Finished with more failures than `--fail-over` allows.
    pub const TOO_MANY_FAILURES: u8 = 3;
    /// The store or an export is corrupt.
    pub const CORRUPT: u8 = 4;
    /// Nothing to resume, or the folder is not empty.
    pub const NOT_RESUMABLE: u8 = 5;
    /// The folder is in use by another run.
    pub const IN_USE: u8 = 6;
    /// The disk is full or below `--min-free`.
    pub const DISK_FULL: u8 = 7;
    /// Some input of `dedup` or `decontaminate` gave no page or was not read to its end, while others were.
    pub const SOME_INPUT_UNREAD: u8 = 8;
    /// Finished with more duplicates than `--max-duplicate-rate` allows.
    pub const TOO_MANY_DUPLICATES: u8 = 9;
    /// `redirects`: pages of the earlier site have no match.
    pub const UNMATCHED: u8 = 10;
    /// A worker of a cluster: the database did not answer in time.
    pub const NO_DATABASE: u8 = 11;
    /// A worker of a cluster: its part is another one's by now, or the log is another one than it knew.
    pub const BEGIN_AGAIN: u8 = 12;
    /// A bug in this program.
    pub const INTERNAL: u8 = 70;
    /// Stopped by SIGINT.
    pub const INTERRUPTED: u8 = 130;
    /// Stopped by SIGTERM or SIGHUP, or by `cluster stop`.
    pub const TERMINATED: u8 = 143;
}

/// An error as the user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    /// `what: why`, one line.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The exit code, one of [`exit`].
    pub code: u8,
}

impl CliError {
    /// Creates an error with this exit code.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code }
    }

    /// Creates a usage or configuration error.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, message)
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for CliError {
    /// Writes `error: what: why` and perhaps `hint: ...`, each on one line. Control characters of foreign text are
    /// escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", terminal_safe(&self.message))?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {}", terminal_safe(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CliError {}

impl From<anyhow::Error> for CliError {
    /// Keeps the whole chain of an unforeseen error on one line.
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<CliError>() {
            Ok(known) => known,
            Err(other) => Self::new(exit::INTERNAL, format!("{other:#}")),
        }
    }
}

/// When an error of the store occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Opening,
    Running,
}

/// Maps an error of the store that occurred while a folder was opened.
pub(super) fn opening_error(error: store::Error) -> CliError {
    store_error(error, Phase::Opening)
}

/// Maps an error of the store.
pub(super) fn store_error(error: store::Error, phase: Phase) -> CliError {
    let code = match &error {
        store::Error::InUse { .. } => exit::IN_USE,
        store::Error::NotEmpty { .. }
        | store::Error::Format { .. }
        | store::Error::Rendering { .. }
        | store::Error::Moved { .. } => exit::NOT_RESUMABLE,
        store::Error::Corrupt { .. } | store::Error::Rebuilding { .. } => exit::CORRUPT,
        store::Error::DiskFull { .. } => exit::DISK_FULL,
        store::Error::NotACrawl { .. } => exit::USAGE,
        store::Error::Io { .. } if phase == Phase::Opening => exit::USAGE,
        store::Error::Io { .. } => exit::DISK_FULL,
        _ => exit::INTERNAL,
    };
    let can_be_rebuilt = matches!(error, store::Error::Corrupt { .. } | store::Error::NotEmpty { .. });
    let error = CliError::new(code, error.to_string());
    if !can_be_rebuilt {
        return error;
    }
    error.with_hint("if the store is damaged, ndcrawl reindex DIR rebuilds it from pages.jsonl and the WARC files")
}

/// Maps the error that has ended a worker, by what helps against it.
#[cfg(feature = "cluster")]
pub(super) fn worker_error(error: &ClusterError) -> CliError {
    let (code, hint) = match error.class() {
        ErrorClass::Passing => {
            (exit::NO_DATABASE, "start it again when the database answers: it goes on with what was committed")
        }
        ErrorClass::BeginAgain => (exit::BEGIN_AGAIN, "start it again: it begins with what the log has"),
        ErrorClass::Broken => return told_by_cluster(error),
    };
    CliError { code, ..told_by_cluster(error) }.with_hint(hint)
}

/// Maps an error of the cluster.
#[cfg(feature = "cluster")]
pub(super) fn cluster_error(error: impl Into<ClusterError>) -> CliError {
    told_by_cluster(&error.into())
}

#[cfg(feature = "cluster")]
fn told_by_cluster(error: &ClusterError) -> CliError {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    match error {
        ClusterError::Address(_)
        | ClusterError::Refused(_)
        | ClusterError::Connect { .. }
        | ClusterError::Silent { .. } => CliError::usage(message),
        ClusterError::Damaged(_) | ClusterError::Query { .. } => CliError::new(exit::CORRUPT, message),
        ClusterError::Folder(_) => CliError::new(exit::DISK_FULL, message),
        _ => CliError::new(exit::INTERNAL, message),
    }
}

pub(super) fn crawl_error(error: impl Into<CrawlError>) -> CliError {
    let error = match error.into() {
        CrawlError::Pipeline(PipelineError::Store(error)) => return store_error(error, Phase::Running),
        CrawlError::Fetch(error) => return CliError::usage(error.to_string()),
        CrawlError::Focus(error) => return CliError::usage(format!("--focus: {error}")),
        CrawlError::Pipeline(PipelineError::Against(error @ ReferenceCrawlsError::Spool(_))) => {
            return CliError::new(exit::DISK_FULL, error.to_string());
        }
        other => anyhow::Error::from(other),
    };
    let code = match error.downcast_ref() {
        Some(
            CrawlError::Frontier(FrontierError::Log { .. } | FrontierError::Missing(_) | FrontierError::Damaged { .. })
            | CrawlError::Pipeline(
                PipelineError::Lost { .. }
                | PipelineError::Against(ReferenceCrawlsError::Changed)
                | PipelineError::Detect(
                    DetectError::Source { .. }
                    | DetectError::RepeatedTerm { .. }
                    | DetectError::OutOfOrder { .. }
                    | DetectError::UnknownTerm { .. }
                    | DetectError::UnknownOriginal { .. },
                ),
            ),
        ) => exit::CORRUPT,
        _ => exit::INTERNAL,
    };
    CliError::new(code, format!("{error:#}"))
}

/// Maps an error of the report.
pub(super) fn report_error(error: ReportError) -> CliError {
    match error {
        ReportError::Store(error) => store_error(error, Phase::Opening),
        other => CliError::new(exit::CORRUPT, other.to_string()),
    }
}

/// Maps an error of earlier crawls to compare with.
pub(super) fn reference_error(error: PipelineError) -> CliError {
    let text = error.to_string();
    match error {
        PipelineError::Against(ReferenceCrawlsError::Store { source, .. }) => {
            CliError { message: text, ..store_error(source, Phase::Opening) }
                .with_hint("--against takes the output folder of a crawl that is not running")
        }
        PipelineError::Against(ReferenceCrawlsError::Rendering { .. } | ReferenceCrawlsError::Setting { .. }) => {
            CliError::new(exit::USAGE, text).with_hint("crawl those sites again with the settings of this crawl")
        }
        other => crawl_error(other),
    }
}

pub(super) fn rules_in_use_error(error: store::Error) -> CliError {
    let is_in_use = matches!(error, store::Error::InUse { .. });
    let error = store_error(error, Phase::Opening);
    let hint = "a running crawl writes its rules when it ends: stop it with Ctrl-C, change the rules, then resume it";
    if is_in_use { error.with_hint(hint) } else { error }
}

pub(super) fn export_in_use_error(error: store::Error) -> CliError {
    match &error {
        store::Error::InUse { folder, pid } => CliError::new(
            exit::IN_USE,
            format!("{}: a crawl is running in this folder (process {pid})", folder.display()),
        )
        .with_hint("wait until it ends, or stop it with Ctrl-C and resume it after the export"),
        _ => store_error(error, Phase::Opening),
    }
}

pub(super) fn export_error(error: ExportError) -> CliError {
    match error {
        ExportError::Crawl(error) => store_error(error, Phase::Opening),
        ExportError::Write { .. } => {
            let full = matches!(error.write_kind(), Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
            let code = if full { exit::DISK_FULL } else { exit::USAGE };
            CliError::new(code, error.to_string()).with_hint(write_hint(&error))
        }
    }
}

/// Returns what to do about an export that cannot be written.
fn write_hint(error: &ExportError) -> &'static str {
    match (error, error.write_kind()) {
        (ExportError::Write { path, .. }, kind) if ObjectUrl::of(path).is_some() => match kind {
            Some(ErrorKind::NotFound) => "create the bucket first: export does not",
            Some(ErrorKind::DirectoryNotEmpty) => {
                "something is there already: give -o an address below which nothing is"
            }
            _ => "nothing that is not whole can be seen; run the command again to begin anew",
        },
        _ => "choose another file with -o FILE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_and_its_hint_another() {
        let error = CliError::usage("seeds.txt: no\nsuch file").with_hint("give a file");
        assert_eq!(error.to_string(), "error: seeds.txt: no\\nsuch file\nhint: give a file");
    }

    #[test]
    fn an_unforeseen_error_keeps_its_chain() {
        let error = anyhow::anyhow!("disk").context("commit 7");
        let error = CliError::from(error);
        assert_eq!((error.message.as_str(), error.code), ("commit 7: disk", exit::INTERNAL));
    }

    #[test]
    fn a_known_error_survives_a_passage_through_anyhow() {
        let known = CliError::new(exit::IN_USE, "out: in use");
        assert_eq!(CliError::from(anyhow::Error::new(known.clone())), known);
    }
}
