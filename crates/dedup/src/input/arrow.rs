//! Arrow's tables: files (Feather), and streams as `datasets` saves them.
//!
//! A file is a stream between a magic number and a directory, so both are read from their beginning to their end.

use std::collections::VecDeque;
use std::io::{BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use serde_json::{Map, Value};

use super::arrow_cells::value;
use super::date;
use super::field_path::{FieldPath, text_of};
use super::row::{InputRow, RawRow, RowFields, RowPlace, joined};
use super::stream::Stream;
use super::{InputDamage, InputDocument, InputItem, Items, Options, damaged};

/// The first bytes of a file, padded.
const MAGIC: &[u8] = b"ARROW1\0\0";
/// Longest header of a message, in bytes: what is longer is something else.
const MOST_HEADER: u32 = 256 * 1024 * 1024;

/// Returns whether bytes begin like a file, or like the first message of a stream.
pub(super) fn is_arrow(first: &[u8]) -> bool {
    let is_stream = || match first {
        [0xff, 0xff, 0xff, 0xff, a, b, c, d, ..] => (1..MOST_HEADER).contains(&u32::from_le_bytes([*a, *b, *c, *d])),
        _ => false,
    };
    first.starts_with(b"ARROW1") || is_stream()
}

/// Reads the rows of a table in order.
pub(super) fn rows<'a>(place: &str, mut stream: Stream<'a>, options: &'a Options) -> Items<'a> {
    if stream.peek(MAGIC.len()).starts_with(b"ARROW1") {
        stream.consume(MAGIC.len());
    }
    match unharmed(|| StreamReader::try_new(Box::new(stream) as Box<dyn Read + Send + 'a>, None)) {
        Ok(reader) => Box::new(Table::new(place, reader, options)),
        Err(why) => damaged(place, &why),
    }
}

/// A table that is being read.
struct Table<'a> {
    file: Arc<str>,
    options: &'a Options,
    fields: RowFields,
    reader: StreamReader<Box<dyn Read + Send + 'a>>,
    row: u64,
    ready: VecDeque<InputItem>,
    is_over: bool,
}

impl<'a> Table<'a> {
    fn new(place: &str, reader: StreamReader<Box<dyn Read + Send + 'a>>, options: &'a Options) -> Self {
        let fields = RowFields::new(options);
        let schema = reader.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        options.seen.tell(names.iter().copied());
        for field in fields.all() {
            if [&field.plain, &field.steps[0]].iter().any(|name| names.contains(&name.as_str())) {
                options.seen.see(&field.plain);
            }
        }
        Self { file: place.into(), options, fields, reader, row: 0, ready: VecDeque::new(), is_over: false }
    }

    fn batch(&mut self, batch: &RecordBatch) {
        for at in 0..batch.num_rows() {
            self.row += 1;
            let item = match self.document(batch, at) {
                Ok(document) => InputItem::Answer(Box::new(document)),
                Err(why) => InputItem::Damaged(InputDamage::new(format!("{}, row {}", self.file, self.row), why)),
            };
            self.ready.push_back(item);
        }
    }

    fn document(&self, batch: &RecordBatch, at: usize) -> Result<InputDocument, String> {
        let row = self.wanted(batch, at);
        let found = |field: &FieldPath| field.find(&row).filter(|value| !value.is_null());
        let name = |field| match found(field)? {
            Value::String(text) => Some(text.into()),
            Value::Number(number) => Some(number.to_string().into()),
            _ => None,
        };
        let text = |field: &FieldPath| found(field).as_ref().and_then(text_of).map(Into::into);
        let row = InputRow {
            url: name(&self.fields.url),
            id: name(&self.fields.id),
            html: found(&self.fields.html).as_ref().and_then(text_of).map(|html| html.into_bytes().into()),
            text: joined(self.fields.texts.iter().map(text)),
            fetched_at: found(&self.fields.fetched_at).and_then(|time| match time {
                Value::String(time) => date::millis(&time),
                Value::Number(number) => number.as_f64().and_then(date::from_number),
                _ => None,
            }),
            columns: self.fields.kept(self.fields.columns.iter().map(found)),
            raw: self.options.keeps_rows.then(|| RawRow::Arrow(batch.slice(at, 1))),
        };
        row.document(RowPlace { file: &self.file, number: self.row }, self.options)
    }

    /// Returns the row with the columns that are wanted.
    fn wanted(&self, batch: &RecordBatch, at: usize) -> Value {
        let mut row = Map::new();
        for field in self.fields.all() {
            for name in [&field.plain, &field.steps[0]] {
                if let Some(column) = batch.column_by_name(name) {
                    row.entry(name.as_str()).or_insert_with(|| value(column, at));
                }
            }
        }
        Value::Object(row)
    }
}

impl Iterator for Table<'_> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        while self.ready.is_empty() && !self.is_over {
            let reader = &mut self.reader;
            match unharmed(|| reader.next().transpose()) {
                Ok(Some(batch)) => self.batch(&batch),
                Ok(None) => self.is_over = true,
                Err(why) => {
                    self.is_over = true;
                    let place = format!("{}, behind row {}", self.file, self.row);
                    self.ready.push_back(InputItem::Damaged(InputDamage::end(place, why)));
                }
            }
        }
        self.ready.pop_front()
    }
}

/// Runs the decoder. Turns a panic into an error: damaged files may cause one.
fn unharmed<T>(decode: impl FnOnce() -> Result<T, arrow_schema::ArrowError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(decoded) => decoded.map_err(|error| error.to_string()),
        Err(_) => Err("the file is damaged".to_owned()),
    }
}
