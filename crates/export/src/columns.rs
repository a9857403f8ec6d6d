//! Selects the columns of a row that take time or space.

use pagetext::WantedText;

/// The columns of text and source of [`ExportRow`](super::ExportRow). By default the main text alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextColumns {
    /// The main text of the page, as `text`.
    pub main: bool,
    /// All visible text: as `full_text` beside the main text, or else as `text`.
    pub full: bool,
    /// The main text as Markdown, as `markdown`.
    pub markdown: bool,
    /// The decoded source of the page, as `html`.
    pub html: bool,
    /// The `WARC-Record-ID` of the record that `dedup` read, as `record_id`.
    pub record_id: bool,
}

impl Default for TextColumns {
    fn default() -> Self {
        Self { main: true, full: false, markdown: false, html: false, record_id: false }
    }
}

impl TextColumns {
    /// Whether all visible text has a column of its own.
    pub(super) fn has_full_text(self) -> bool {
        self.full && self.main
    }

    pub(super) fn wanted(self) -> WantedText {
        WantedText { main: self.main, full: self.full, markdown: self.markdown }
    }
}
