//! Why the text of a document is missing or cut.

use serde::{Deserialize, Serialize};

use crate::named;

named! {
    /// Why the text of a document, such as a PDF, is missing or cut.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TextError {
        /// A password is needed.
        Encrypted = "encrypted": "without text: it is encrypted",
        /// The bytes are no PDF.
        NotPdf = "not-pdf": "without text: the server calls it PDF, and it is none",
        /// The structure cannot be read. A body that was cut often has none.
        Damaged = "damaged": "without text: its structure cannot be read (a body that --max-body cut has none)",
        /// The pages hold no text, such as those of a scanner, or fonts that do not tell their characters.
        Empty = "empty": "without text: its pages are pictures, such as those of a scanner, or its fonts tell no characters",
        /// The text is longer than a body may be, and was cut.
        Cut = "cut": "the text is cut at --max-body",
        /// The reader wanted more memory than it may have.
        Memory = "memory": "without text: the reader wanted more memory than pdf.memory",
        /// The reader took longer than it may.
        Time = "time": "without text: the reader took longer than pdf.timeout",
        /// The reader ended before it answered.
        Crashed = "crashed": "without text: the reader ended before it answered (see the log)",
        /// The reader could not be started.
        NotStarted = "not-started": "without text: the reader could not be started (see the log)",
    }
}

impl TextError {
    /// Whether the limits or the reader are the reason, not the document alone.
    pub fn is_of_reader(self) -> bool {
        matches!(self, Self::Cut | Self::Memory | Self::Time | Self::Crashed | Self::NotStarted)
    }
}
