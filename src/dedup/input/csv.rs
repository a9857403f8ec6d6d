//! CSV and TSV: one row for each document, below a row of names.
//!
//! Nothing but its first row says that a file is CSV. So that row must name the field with the source or the text; the
//! separator is the one that makes it do so.

use std::borrow::Cow;
use std::io::{self, BufRead};
use std::sync::Arc;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::date;
use super::field_path::FieldPath;
use super::row::{InputRow, RowFields, RowPlace};
use super::{InputDamage, InputDocument, InputItem, Options};

const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Most names that an error tells.
const MOST_NAMES: usize = 20;

/// Returns the separator of a text that begins like CSV.
pub(super) fn separator(text: &[u8], options: &Options) -> Option<u8> {
    let is_named = |name: &String| *name == options.html_field || *name == options.text_field;
    SEPARATORS.into_iter().find(|separator| heading(text, *separator).iter().any(is_named))
}

/// Says why a text has no known format; names its columns if it may be CSV.
pub(super) fn refusal(text: &[u8], options: &Options) -> String {
    let names = SEPARATORS.into_iter().map(|separator| heading(text, separator)).max_by_key(Vec::len);
    match names.filter(|names| names.len() > 1 && names.iter().all(|name| is_plain(name))) {
        Some(mut names) => {
            let more = if names.len() > MOST_NAMES { ", ..." } else { "" };
            names.truncate(MOST_NAMES);
            format!(
                "no column '{}' (--html-field) or '{}' (--text-field) in CSV with the columns {}{more}",
                options.html_field,
                options.text_field,
                names.join(", ")
            )
        }
        None => "neither WARC, Parquet, JSON nor CSV".to_owned(),
    }
}

/// Whether a text may be the name of a column.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.len() < 64 && !name.contains(|c: char| c.is_control() || "<>{}".contains(c))
}

/// Returns the cells of the first row.
fn heading(text: &[u8], separator: u8) -> Vec<String> {
    let mut row = ByteRecord::new();
    let is_read = reader(text, separator).read_byte_record(&mut row);
    if !is_read.unwrap_or(false) {
        return Vec::new();
    }
    row.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect()
}

/// Counts the quotes that a reader reads.
struct Quotes<R> {
    input: R,
    count: u64,
}

impl<R: io::Read> io::Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count += memchr::memchr_iter(b'"', &buffer[..read]).count() as u64;
        Ok(read)
    }
}

fn reader<R: io::Read>(input: R, separator: u8) -> Reader<R> {
    ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(input)
}

/// The documents of a file, in order.
pub(super) struct Rows<'a, R> {
    file: Arc<str>,
    options: &'a Options,
    fields: RowFields,
    reader: Reader<Quotes<R>>,
    /// The places of the fields in a row, and the number of cells in the heading.
    columns: Option<(Vec<Option<usize>>, usize)>,
    row: ByteRecord,
    /// The number of the row, as a spreadsheet counts: that of the names is the first.
    number: u64,
    /// The last row and its place, until it is known that the file does not end in a text of it.
    held: Option<(InputItem, String)>,
    is_over: bool,
}

impl<'a, R: BufRead> Rows<'a, R> {
    pub fn new(place: &str, input: R, separator: u8, options: &'a Options) -> Self {
        Self {
            file: Arc::from(place),
            options,
            fields: RowFields::new(options),
            reader: reader(Quotes { input, count: 0 }, separator),
            columns: None,
            row: ByteRecord::new(),
            number: 0,
            held: None,
            is_over: false,
        }
    }

    /// Finds the columns by the names in the first row.
    fn heading(&self) -> Vec<Option<usize>> {
        let names: Vec<String> = self.row.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
        let place = |field: &FieldPath| names.iter().position(|name| *name == field.plain);
        self.fields.all().map(place).collect()
    }

    fn document(&self, columns: &[Option<usize>], number: u64) -> Result<InputDocument, String> {
        let cell = |column: Option<usize>| self.row.get(column?).filter(|cell| !cell.is_empty());
        let text = |column: Option<usize>| cell(column).map(String::from_utf8_lossy);
        let [url, id, html, body, fetched_at, kept @ ..] = columns else { return Err("no columns".to_owned()) };
        let row = InputRow {
            url: text(*url),
            id: text(*id),
            html: cell(*html).map(Cow::Borrowed),
            text: text(*body),
            fetched_at: text(*fetched_at).and_then(|time| date::millis(&time)),
            columns: self.fields.kept(kept.iter().map(|column| text(*column).map(|cell| cell.into()))),
        };
        row.document(RowPlace { file: &self.file, number }, self.options)
    }
}

impl<R: BufRead> Rows<'_, R> {
    /// Reads the next row; `None` at the end.
    fn read(&mut self) -> Option<(InputItem, String)> {
        loop {
            let read = self.reader.read_byte_record(&mut self.row);
            self.number += 1;
            let place = format!("{}, row {}", self.file, self.number);
            match read {
                Ok(false) => return None,
                Err(error) => {
                    self.is_over = true;
                    return Some((InputItem::Damaged(InputDamage::end(place.as_str(), error)), place));
                }
                Ok(true) => {}
            }
            let Some((columns, cells)) = &self.columns else {
                self.columns = Some((self.heading(), self.row.len()));
                continue;
            };
            // A line break between the cells would shift them.
            let document = match self.row.len() > *cells {
                true => Err(format!("{} cells below {cells} names: is a quote missing?", self.row.len())),
                false => self.document(columns, self.number),
            };
            let damaged = |why| InputItem::Damaged(InputDamage::new(place.as_str(), why));
            return Some((document.map_or_else(damaged, |document| InputItem::Answer(Box::new(document))), place));
        }
    }

    /// Whether the row that was read last may be the rest of the file behind a quote that nothing closes.
    fn is_unclosed(&self) -> bool {
        let has_lines = self.row.iter().any(|cell| memchr::memchr(b'\n', cell).is_some());
        has_lines && !self.reader.get_ref().count.is_multiple_of(2)
    }
}

impl<R: BufRead> Iterator for Rows<'_, R> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        while !self.is_over {
            // The end of the file leaves the last row as it was.
            let is_unclosed = self.is_unclosed();
            let next = self.read();
            let last = std::mem::replace(&mut self.held, next);
            if self.held.is_none() {
                self.is_over = true;
                return last.map(|(item, place)| match is_unclosed {
                    true => InputItem::Damaged(InputDamage::end(place, "a text in quotes does not end")),
                    false => item,
                });
            }
            if let Some((item, _)) = last {
                return Some(item);
            }
        }
        self.held.take().map(|(item, _)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::options;
    use super::*;

    fn read(file: &[u8], options: &Options) -> Vec<String> {
        let told = |item: InputItem| match item {
            InputItem::Answer(document) => {
                let body = String::from_utf8_lossy(&document.fetched.body).into_owned();
                format!("{} {body}", document.fetched.url.shown())
            }
            InputItem::Damaged(damage) => format!("{}: {}", damage.place, damage.why),
            other => panic!("{other:?}"),
        };
        let separator = separator(file, options).unwrap();
        Rows::new("f", file, separator, options).map(told).collect()
    }

    #[test]
    fn rows_are_read_with_quotes_and_any_separator() {
        let options = options();
        let file = b"url,text\r\nhttp://a.test/,\"one, \"\"two\"\"\nthree\"\r\n,four\r\nhttp://a.test/2,\r\nx\r\n";
        assert_eq!(
            read(file, &options),
            [
                "http://a.test/ one, \"two\"\nthree",
                "f#3 four",
                "f, row 4: no text in 'html' (--html-field) or 'text' (--text-field)",
                "f, row 5: no text in 'html' (--html-field) or 'text' (--text-field)",
            ]
        );
        assert_eq!(read(b"\xef\xbb\xbftext\tid\nx, y\t1\n", &options), ["1 x, y"]);
        assert_eq!(read(b"id;text\n1;caf\xe9\n", &options), ["1 caf\u{fffd}"]);
        assert_eq!(read(b"\"id\"|\"text\"\n\"1\"|\"x\"", &options), ["1 x"]);
        assert_eq!(read(b"text\nonly\n", &options), ["f#2 only"]);
        assert!(read(b"text,id\na,b,1\n", &options)[0].contains("3 cells below 2 names"));
        assert_eq!(read(b"id,text\n1,5\" disk\n2,\"b\nc\"\n3,d\n", &options), ["1 5\" disk", "2 b\nc", "3 d"]);
    }

    #[test]
    fn a_quote_that_nothing_closes_is_told() {
        let rows = read(b"id,text\n1,a\n2,\"b\n3,c\n4,d\n", &options());
        assert_eq!(rows, ["1 a", "f, row 3: a text in quotes does not end; the rest of the file is not read"]);
    }

    #[test]
    fn what_does_not_name_its_text_is_refused_with_its_columns() {
        let options = options();
        assert_eq!(separator(b"a,b\n1,2\n", &options), None);
        assert!(refusal(b"a,b\n1,2\n", &options).contains("'text' (--text-field) in CSV with the columns a, b"));
        for text in [&b"<html>, <p>"[..], b"", b"prose without a table", b"\x00\x01,\x02"] {
            assert_eq!(refusal(text, &options), "neither WARC, Parquet, JSON nor CSV", "{text:?}");
        }
    }

    #[test]
    fn the_columns_that_are_kept_come_through() {
        let options = Options { keep_columns: vec!["lang".into(), "none".into()], ..options() };
        let items: Vec<InputItem> = Rows::new("f", &b"text,lang\nx,de\n"[..], b',', &options).collect();
        let [InputItem::Answer(document)] = &items[..] else { panic!("{items:?}") };
        let columns = document.row.as_ref().unwrap().columns.clone().unwrap();
        assert_eq!(serde_json::Value::Object(columns), serde_json::json!({"lang": "de", "none": null}));
    }
}
