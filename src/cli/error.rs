//! How a command fails: one line, a hint where there is one, and an exit code.

use std::fmt;

/// The exit codes of the program.
pub mod exit {
    /// Finished, or stopped by a limit that the user set.
    pub const FINISHED: u8 = 0;
    /// Ran, but nothing could be fetched from any seed; or a check found a fault.
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
    /// A fault of this program.
    pub const INTERNAL: u8 = 70;
    /// Stopped by SIGINT.
    pub const INTERRUPTED: u8 = 130;
    /// Stopped by SIGTERM or SIGHUP.
    pub const TERMINATED: u8 = 143;
}

/// Why a command failed, as a person reads it.
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
    /// An error with this exit code.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code }
    }

    /// A usage or configuration error.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, message)
    }

    /// The same error with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for CliError {
    /// `error: what: why` and perhaps `hint: ...`, each one line. Line ends and other control
    /// characters of foreign origin are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", super::terminal::terminal_safe(&self.message))?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {}", super::terminal::terminal_safe(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CliError {}

impl From<anyhow::Error> for CliError {
    /// An error that no room foresaw: its whole chain on one line.
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<CliError>() {
            Ok(known) => known,
            Err(other) => Self::new(exit::INTERNAL, format!("{other:#}")),
        }
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
