//! How readers are started, and what they may take.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What one document may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, beside those of the program itself.
    pub memory: u64,
    /// Processor time. A reader that does not get the processor may take [`Limits::WALL`] times as long.
    pub time: Duration,
    /// Bytes of text. More is cut.
    pub text: usize,
}

impl Limits {
    /// How much longer than its processor time a document may take by the clock.
    pub const WALL: u32 = 4;

    /// Returns the longest time that a document may take by the clock.
    pub(super) fn wall(&self) -> Duration {
        self.time.saturating_mul(Self::WALL)
    }

    /// Returns the most bytes of an answer: HTML escapes characters, and has metadata.
    pub(super) fn answer(&self) -> usize {
        self.text.saturating_mul(6).saturating_add(64 * 1024)
    }
}

/// How readers are started, and what they may take.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that reads: this one, as a rule.
    pub program: PathBuf,
    /// The arguments by which it serves documents with these limits.
    pub arguments: Vec<OsString>,
    /// What one document may take.
    pub limits: Limits,
}
