//! From an object of JSON to a document.

use std::borrow::Cow;
use std::sync::Arc;

use super::date;
use super::json::{JsonCell, JsonError, WantedFields};
use super::row::{InputRow, RowFields, RowPlace};
use super::{InputDocument, Options};

/// Reads documents out of the objects of one file.
pub(super) struct ObjectReader<'a> {
    pub file: Arc<str>,
    options: &'a Options,
    fields: RowFields,
    wanted: WantedFields,
}

impl<'a> ObjectReader<'a> {
    pub fn new(file: &str, options: &'a Options) -> Self {
        let fields = RowFields::new(options);
        let wanted = WantedFields::new(fields.all());
        Self { file: Arc::from(file), options, fields, wanted }
    }

    /// Reads the object at the start of a text. Returns the document, or why it is none, and the length of the object.
    pub fn read(&self, text: &[u8], number: u64) -> Result<(Result<InputDocument, String>, usize), JsonError> {
        let (cells, length) = self.wanted.read(text)?;
        Ok((self.document(&cells, number), length))
    }

    fn document(&self, cells: &[Option<JsonCell<'_>>], number: u64) -> Result<InputDocument, String> {
        let [url, id, html, text, fetched_at, columns @ ..] = cells else { return Err("no fields".to_owned()) };
        let name = |cell: &'_ Option<JsonCell<'_>>| cell.as_ref().and_then(|cell| cell.name().map(Cow::into_owned));
        let row = InputRow {
            url: name(url).map(Cow::Owned),
            id: name(id).map(Cow::Owned),
            html: html.as_ref().and_then(JsonCell::text).map(bytes),
            text: text.as_ref().and_then(JsonCell::text),
            fetched_at: fetched_at.as_ref().and_then(millis),
            columns: self.fields.kept(columns.iter().map(|cell| cell.as_ref().map(JsonCell::value))),
        };
        row.document(RowPlace { file: &self.file, number }, self.options)
    }
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn millis(cell: &JsonCell<'_>) -> Option<i64> {
    match cell {
        JsonCell::Text(text) => date::millis(text),
        JsonCell::Word(word) => word.parse().ok().and_then(date::from_number),
        JsonCell::Nested(_) => None,
    }
}
