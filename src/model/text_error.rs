//! Why the text of a document is missing or cut.

use serde::{Deserialize, Serialize};

/// Why the text of a document, such as a PDF, is missing or cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TextError {
    /// A password is needed.
    Encrypted,
    /// The bytes are no PDF.
    NotPdf,
    /// The structure cannot be read. A body that was cut often has none.
    Damaged,
    /// The pages hold no text, such as those of a scanner, or fonts that do not tell their characters.
    Empty,
    /// The text is longer than a body may be, and was cut.
    Cut,
    /// The reader wanted more memory than it may have.
    Memory,
    /// The reader took longer than it may.
    Time,
    /// The reader ended before it answered.
    Crashed,
    /// The reader could not be started.
    NotStarted,
}

impl TextError {
    /// The name used in `pages.jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::NotPdf => "not-pdf",
            Self::Damaged => "damaged",
            Self::Empty => "empty",
            Self::Cut => "cut",
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Crashed => "crashed",
            Self::NotStarted => "not-started",
        }
    }

    /// Whether the limits or the reader are the reason, not the document alone.
    pub fn is_of_reader(self) -> bool {
        matches!(self, Self::Cut | Self::Memory | Self::Time | Self::Crashed | Self::NotStarted)
    }
}
