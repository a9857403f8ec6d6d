//! Why the text of a document is missing or cut.

use serde::{Deserialize, Serialize};

use super::named::named;

/// Why the text of a document, such as a PDF, is missing or cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

named! { TextError {
    Encrypted => "encrypted": "without text: it is encrypted",
    NotPdf => "not-pdf": "without text: the server calls it PDF, and it is none",
    Damaged => "damaged": "without text: its structure cannot be read (a body that --max-body cut has none)",
    Empty => "empty": "without text: its pages are pictures, such as those of a scanner, or its fonts tell no characters",
    Cut => "cut": "the text is cut at --max-body",
    Memory => "memory": "without text: the reader wanted more memory than pdf.memory",
    Time => "time": "without text: the reader took longer than pdf.timeout",
    Crashed => "crashed": "without text: the reader ended before it answered (see the log)",
    NotStarted => "not-started": "without text: the reader could not be started (see the log)",
} }

impl TextError {
    /// Whether the limits or the reader are the reason, not the document alone.
    pub fn is_of_reader(self) -> bool {
        matches!(self, Self::Cut | Self::Memory | Self::Time | Self::Crashed | Self::NotStarted)
    }
}
