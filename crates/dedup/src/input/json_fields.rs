//! From an object of JSON to a document.

use std::borrow::Cow;
use std::sync::Arc;

use super::date;
use super::json::{JsonCell, JsonError, WantedFields, array_of_objects, names};
use super::row::{InputRow, RawRow, RowFields, RowPlace, joined};
use super::{InputDocument, Options};

/// Reads documents out of the objects of one file.
pub(super) struct ObjectReader<'a> {
    pub file: Arc<str>,
    options: &'a Options,
    fields: RowFields,
    wanted: WantedFields,
    /// Whether the names of its fields were told.
    is_told: std::cell::Cell<bool>,
}

impl<'a> ObjectReader<'a> {
    pub fn new(file: &str, options: &'a Options) -> Self {
        let fields = RowFields::new(options);
        let wanted = WantedFields::new(fields.all());
        Self { file: Arc::from(file), options, fields, wanted, is_told: false.into() }
    }

    /// Reads the object at the start of a text. Returns the document, or why it is none, and the length of the object.
    pub fn read(&self, text: &[u8], number: u64) -> Result<(Result<InputDocument, String>, usize), JsonError> {
        let (cells, length) = self.wanted.read(text)?;
        if !self.is_told.replace(true) {
            self.options.seen.tell(names(text).iter().map(String::as_str));
        }
        let own = || RawRow::Object { text: text[..length].trim_ascii().to_vec(), is_element: false };
        let raw = self.options.keeps_rows.then(own);
        Ok((self.document(&cells, number, raw), length))
    }

    /// Returns where an array of documents begins in an object that is none itself: `{"data": [{...}, ...]}`. The text may
    /// break off in it.
    pub fn wrapped(&self, text: &[u8]) -> Option<usize> {
        let array = array_of_objects(text)?;
        let has_text = |document: InputDocument| !document.fetched.body.is_empty();
        let is_document = |text: &[u8]| {
            let read = self.wanted.read(text);
            read.is_ok_and(|(cells, _)| self.document(&cells, 1, None).is_ok_and(has_text))
        };
        let element = text[array..].iter().position(|byte| *byte == b'{')? + array;
        // What stands before the array, as an object of its own.
        let before = [&text[..array], b"null}"].concat();
        (!is_document(&before) && !is_document(text) && is_document(&text[element..])).then_some(array)
    }

    fn document(
        &self,
        cells: &[Option<JsonCell<'_>>],
        number: u64,
        raw: Option<RawRow>,
    ) -> Result<InputDocument, String> {
        let [url, id, html, fetched_at, others @ ..] = cells else { return Err("no fields".to_owned()) };
        let (texts, columns) = others.split_at(self.fields.texts.len());
        let name = |cell: &'_ Option<JsonCell<'_>>| cell.as_ref().and_then(|cell| cell.name().map(Cow::into_owned));
        let row = InputRow {
            url: name(url).map(Cow::Owned),
            id: name(id).map(Cow::Owned),
            html: html.as_ref().and_then(JsonCell::text).map(bytes),
            text: joined(texts.iter().map(|cell| cell.as_ref().and_then(JsonCell::text))),
            fetched_at: fetched_at.as_ref().and_then(millis),
            columns: self.fields.kept(columns.iter().map(|cell| cell.as_ref().map(JsonCell::value))),
            raw,
        };
        row.document(RowPlace { file: &self.file, number }, self.options)
    }
}

impl Drop for ObjectReader<'_> {
    fn drop(&mut self) {
        for (field, is_seen) in self.fields.all().zip(self.wanted.seen.borrow().iter()) {
            if *is_seen {
                self.options.seen.see(&field.plain);
            }
        }
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
        JsonCell::Nested(_) | JsonCell::Each(..) => None,
    }
}
