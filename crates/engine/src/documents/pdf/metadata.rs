//! Title, author, dates and language of a document.

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{DateTime, Dict, String as PdfString};

use super::text_string;

/// What a document says of itself: its information dictionary, and the language of its catalog.
#[derive(Clone, Debug, Default)]
pub(super) struct Metadata {
    pub title: Option<String>,
    pub language: Option<String>,
    author: Option<String>,
    subject: Option<String>,
    keywords: Option<String>,
    created: Option<String>,
    modified: Option<String>,
}

impl Metadata {
    pub fn of(pdf: &Pdf) -> Self {
        let known = pdf.metadata();
        let text = |bytes: &Option<Box<[u8]>>| bytes.as_deref().and_then(text_string::decoded);
        let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
        let language = catalog.and_then(|catalog| catalog.get::<PdfString<'_>>("Lang"));
        Self {
            title: text(&known.title).filter(|title| is_title(title)),
            language: language.and_then(|language| text_string::decoded(language.as_bytes())),
            author: text(&known.author),
            subject: text(&known.subject),
            keywords: text(&known.keywords),
            created: known.creation_date.as_ref().map(rfc3339),
            modified: known.modification_date.as_ref().map(rfc3339),
        }
    }

    /// Returns what stands in `meta` elements of a page, by their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("author", &self.author),
            ("description", &self.subject),
            ("keywords", &self.keywords),
            ("date", &self.created),
            ("last-modified", &self.modified),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

/// Returns whether a title is one, and not what programs write in its place.
fn is_title(title: &str) -> bool {
    let title = title.to_lowercase();
    !["untitled", "untitled document", "(anonymous)", "unnamed"].contains(&title.as_str())
}

fn rfc3339(date: &DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, utc_offset_hour, utc_offset_minute } = date;
    let sign = if *utc_offset_hour < 0 { '-' } else { '+' };
    let hours = utc_offset_hour.unsigned_abs();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{sign}{hours:02}:{utc_offset_minute:02}")
}
