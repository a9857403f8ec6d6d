//! The arguments with which the program starts itself to read documents.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use crate::documents::Limits;

/// The arguments of `read-document`.
#[derive(Clone, Copy, Debug, Args)]
pub struct ReadDocumentArguments {
    /// Bytes of memory
    memory: u64,
    /// Milliseconds of processor time
    time: u64,
    /// Bytes of text
    text: usize,
}

impl ReadDocumentArguments {
    /// Returns the limits that were given.
    pub fn limits(self) -> Limits {
        Limits { memory: self.memory, time: Duration::from_millis(self.time), text: self.text }
    }

    /// Returns the words of the command line that give these limits.
    pub fn for_limits(limits: &Limits) -> impl Iterator<Item = OsString> {
        let time = u64::try_from(limits.time.as_millis()).unwrap_or(u64::MAX);
        let words = ["read-document".to_owned(), limits.memory.to_string(), time.to_string(), limits.text.to_string()];
        words.into_iter().map(OsString::from)
    }
}
