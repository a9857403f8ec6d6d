//! CSV and TSV: one row for each document, below a row of names.
//!
//! Nothing but its first row says that a file is CSV. So that row must name the field with the source or the text; the
//! separator is the one that makes it do so. Most programs double a quote inside of quotes (RFC 4180), some put a
//! backslash before it; the first one that makes sense only with a backslash tells ([`has_backslashes`]).
//!
//! Behind a fault of the stream reading goes on at the next line. The text of a cell may have lines, too, so the first
//! row that counts has as many cells as there are names, and no quotes within them.

use std::borrow::Cow;
use std::io::{self, BufRead};
use std::sync::Arc;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::date;
use super::field_path::FieldPath;
use super::row::{CellStyle, InputRow, RawRow, RowFields, RowPlace, joined};
use super::stream::MOST_FAULTS;
use super::{InputDamage, InputDocument, InputItem, Options};

const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// Bytes of a file in which a quote behind a backslash is looked for.
pub(super) const SAMPLE: usize = 1024 * 1024;
/// Most names that an error tells.
const MOST_NAMES: usize = 20;

/// Returns the separator of a text that begins like CSV. What may be a document needs two names at least.
pub(super) fn separator(text: &[u8], options: &Options, may_be_document: bool) -> Option<u8> {
    let is_named = |name: &String| *name == options.html_field || options.text_fields.contains(name);
    SEPARATORS.into_iter().find(|separator| {
        let heading = heading(text, *separator);
        heading.iter().any(is_named) && (heading.len() > 1 || !may_be_document)
    })
}

/// How a file writes its cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    pub style: CellStyle,
    /// Whether a quote within a cell has a backslash before it.
    has_backslashes: bool,
}

impl Dialect {
    /// Tells the dialect of a file that begins like this.
    pub fn of(sample: &[u8], separator: u8) -> Self {
        let is_quoted = separator != b'\t' || closes_quotes(sample, separator);
        let has_backslashes = is_quoted && has_backslashes(sample, separator);
        let has_crlf = memchr::memchr(b'\n', sample).is_some_and(|end| sample[..end].ends_with(b"\r"));
        Self { style: CellStyle { separator, is_quoted, has_crlf, has_mark: false }, has_backslashes }
    }

    fn reader<R: io::Read>(self, input: R) -> Reader<Quotes<R>> {
        let input = Quotes::new(input, self.has_backslashes);
        reader_builder(self.style.separator).quoting(self.style.is_quoted).from_reader(input)
    }
}

/// Returns whether each quote that opens a cell is closed before a separator, a line end, or the end of what is seen.
fn closes_quotes(text: &[u8], separator: u8) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == separator || matches!(byte, b'\r' | b'\n'));
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'"' {
            // The next cell.
            let Some(end) = text[at..].iter().position(|byte| *byte == separator || *byte == b'\n') else {
                return true;
            };
            at += end + 1;
            continue;
        }
        at += 1;
        loop {
            let Some(next) = memchr::memchr(b'"', &text[at..]) else { return text.len() >= SAMPLE };
            at += next + 1;
            match text.get(at) {
                Some(b'"') => at += 1,
                after if is_end(after) => break,
                _ if text[..at - 1].last() == Some(&b'\\') => {}
                _ => return false,
            }
        }
        at += 1;
    }
    true
}

/// Returns whether a text has a quote behind a backslash that does not end its cell: nothing that may stand behind a
/// cell follows. Where quotes are doubled, that is no CSV.
pub(super) fn has_backslashes(text: &[u8], separator: u8) -> bool {
    let is_end = |byte: u8| byte == separator || matches!(byte, b'\r' | b'\n' | b'"');
    let (mut is_quoted, mut at) = (false, 0);
    while let Some(next) = memchr::memchr(b'"', &text[at..]) {
        let quote = at + next;
        at = quote + 1;
        let before = text[..quote].last();
        if !is_quoted {
            is_quoted = before.is_none_or(|byte| *byte == separator || *byte == b'\n');
            continue;
        }
        match text.get(at) {
            Some(b'"') => at += 1,
            Some(&after) if before == Some(&b'\\') && !is_end(after) => return true,
            _ => is_quoted = false,
        }
    }
    false
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
                options.text_fields.join(","),
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
    let is_read = reader_builder(separator).from_reader(text).read_byte_record(&mut row);
    if !is_read.unwrap_or(false) {
        return Vec::new();
    }
    row.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect()
}

/// The text of a table, in which a quote is doubled and never behind a backslash.
struct Quotes<R> {
    input: R,
    /// How many quotes there were.
    count: u64,
    /// Whether the file has quotes behind backslashes.
    has_backslashes: bool,
    /// Whether a backslash came last, and is kept until the next byte is known.
    keeps_one: bool,
}

impl<R> Quotes<R> {
    fn new(input: R, has_backslashes: bool) -> Self {
        Self { input, count: 0, has_backslashes, keeps_one: false }
    }
}

impl<R: io::Read> Quotes<R> {
    /// Doubles quotes that stand behind a backslash. Returns how many bytes are ready.
    fn double(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut there = usize::from(self.keeps_one);
        if self.keeps_one {
            buffer[0] = b'\\';
        }
        let read = self.input.read(&mut buffer[there..])?;
        self.keeps_one = false;
        there += read;
        let mut at = 0;
        while let Some(next) = memchr::memchr(b'\\', &buffer[at..there]) {
            at += next;
            match buffer[..there].get(at + 1) {
                None if read > 0 => {
                    self.keeps_one = true;
                    return Ok(at);
                }
                Some(b'"') => buffer[at] = b'"',
                _ => {}
            }
            // A backslash behind a backslash escapes nothing.
            at = (at + 2).min(there);
        }
        Ok(there)
    }
}

impl<R: io::Read> io::Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte would not do: a kept backslash needs another one behind it.
        let read = match self.has_backslashes && buffer.len() > 1 {
            true => loop {
                let read = self.double(buffer)?;
                if read > 0 || !self.keeps_one {
                    break read;
                }
            },
            false => self.input.read(buffer)?,
        };
        self.count += memchr::memchr_iter(b'"', &buffer[..read]).count() as u64;
        Ok(read)
    }
}

fn reader_builder(separator: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(separator);
    builder
}

/// The documents of a file, in order.
pub(super) struct Rows<'a, R> {
    file: Arc<str>,
    options: &'a Options,
    dialect: Dialect,
    fields: RowFields,
    /// `None` while a fault is dealt with.
    reader: Option<Reader<Quotes<R>>>,
    faults: u32,
    /// Whether a fault came since the last row that was read whole.
    is_behind_fault: bool,
    /// The places of the fields in a row, and the number of cells in the heading.
    columns: Option<(Vec<Option<usize>>, usize)>,
    row: ByteRecord,
    /// The cells of the heading.
    names: Arc<[Vec<u8>]>,
    /// The number of the row, as a spreadsheet counts: that of the names is the first.
    number: u64,
    /// The last row and its place, until it is known that the file does not end in a text of it.
    held: Option<(InputItem, String)>,
    is_over: bool,
}

impl<'a, R: BufRead> Rows<'a, R> {
    pub fn new(place: &str, input: R, dialect: Dialect, options: &'a Options) -> Self {
        Self {
            file: Arc::from(place),
            options,
            dialect,
            fields: RowFields::new(options),
            reader: Some(dialect.reader(input)),
            faults: 0,
            is_behind_fault: false,
            columns: None,
            row: ByteRecord::new(),
            names: Arc::from([]),
            number: 0,
            held: None,
            is_over: false,
        }
    }

    /// Finds the columns by the names in the first row.
    fn heading(&self) -> Vec<Option<usize>> {
        let names: Vec<String> = self.row.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
        self.options.seen.tell(names.iter().map(String::as_str));
        let place = |field: &FieldPath| {
            let place = names.iter().position(|name| *name == field.plain);
            place.inspect(|_| self.options.seen.see(&field.plain))
        };
        self.fields.all().map(place).collect()
    }

    fn document(&self, columns: &[Option<usize>], number: u64) -> Result<InputDocument, String> {
        let cell = |column: Option<usize>| self.row.get(column?).filter(|cell| !cell.is_empty());
        let text = |column: Option<usize>| cell(column).map(String::from_utf8_lossy);
        let [url, id, html, fetched_at, others @ ..] = columns else { return Err("no columns".to_owned()) };
        let (texts, kept) = others.split_at(self.fields.texts.len());
        let row = InputRow {
            url: text(*url),
            id: text(*id),
            html: cell(*html).map(Cow::Borrowed),
            text: joined(texts.iter().map(|column| text(*column))),
            fetched_at: text(*fetched_at).and_then(|time| date::millis(&time)),
            columns: self.fields.kept(kept.iter().map(|column| text(*column).map(|cell| cell.into()))),
            raw: self.options.keeps_rows.then(|| self.raw()),
        };
        row.document(RowPlace { file: &self.file, number }, self.options)
    }
}

impl<R> Rows<'_, R> {
    fn raw(&self) -> RawRow {
        let cells = self.row.iter().map(<[u8]>::to_vec).collect();
        RawRow::Cells { names: self.names.clone(), cells, style: self.dialect.style }
    }
}

impl<R: BufRead> Rows<'_, R> {
    /// Reads the next row; `None` at the end.
    fn read(&mut self) -> Option<(InputItem, String)> {
        loop {
            let read = self.reader.as_mut()?.read_byte_record(&mut self.row);
            self.number += 1;
            let place = format!("{}, row {}", self.file, self.number);
            match read {
                Ok(false) => return None,
                Err(error) => {
                    let damage = match self.go_on() {
                        true => InputDamage::new(place.as_str(), format!("{error}; going on at the next whole row")),
                        false => InputDamage::end(place.as_str(), error),
                    };
                    return Some((InputItem::Damaged(damage), place));
                }
                Ok(true) => {}
            }
            let Some((columns, cells)) = &self.columns else {
                self.columns = Some((self.heading(), self.row.len()));
                self.names = self.row.iter().map(<[u8]>::to_vec).collect();
                continue;
            };
            // The rest of a text may have commas. A quote that stands alone tells that it is one.
            let is_whole = |row: &ByteRecord| row.len() == *cells && memchr::memchr(b'"', row.as_slice()).is_none();
            if self.is_behind_fault && !is_whole(&self.row) {
                continue;
            }
            self.is_behind_fault = false;
            // A line break between the cells would shift them.
            let document = match self.row.len() > *cells {
                true => Err(format!("{} cells below {cells} names: is a quote missing?", self.row.len())),
                false => self.document(columns, self.number),
            };
            let damaged = |why| InputItem::Damaged(InputDamage::new(place.as_str(), why));
            return Some((document.map_or_else(damaged, |document| InputItem::Answer(Box::new(document))), place));
        }
    }

    /// Moves to the next line behind a fault of the stream. Returns whether there is one.
    fn go_on(&mut self) -> bool {
        self.faults += 1;
        self.is_behind_fault = true;
        // The reader has nothing in store: it asks for more only when it has none.
        let Some(Quotes { mut input, .. }) = self.reader.take().map(Reader::into_inner) else {
            return false;
        };
        let mut line = Vec::new();
        while self.faults < MOST_FAULTS && self.columns.is_some() {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) if line.last() != Some(&b'\n') => break,
                Ok(_) => {
                    self.reader = Some(self.dialect.reader(input));
                    return true;
                }
                Err(_) => self.faults += 1,
            }
        }
        false
    }

    /// Whether the row that was read last may be the rest of the file behind a quote that nothing closes.
    fn is_unclosed(&self) -> bool {
        let has_lines = self.row.iter().any(|cell| memchr::memchr(b'\n', cell).is_some());
        // Behind a fault, one of a pair may be lost.
        has_lines
            && self.dialect.style.is_quoted
            && self.faults == 0
            && self.reader.as_ref().is_some_and(|reader| !reader.get_ref().count.is_multiple_of(2))
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
    use super::super::stream::Stream;
    use super::super::stream::tests::{assert_read_on, gzip};
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
        let dialect = Dialect::of(file, separator(file, options, false).unwrap());
        Rows::new("f", file, dialect, options).map(told).collect()
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
    fn quotes_stand_around_the_cells_between_tabs_only_if_each_is_closed() {
        let options = options();
        let lone = b"id\ttext\n1\t\"Never, she began\n2\t5\" wide\n3\t\"\"Twice\n";
        assert_eq!(read(lone, &options), ["1 \"Never, she began", "2 5\" wide", "3 \"\"Twice"]);
        let quoted = b"id\ttext\n1\t\"one\ntwo\tthree \"\"x\"\"\"\n2\ty\n";
        assert_eq!(read(quoted, &options), ["1 one\ntwo\tthree \"x\"", "2 y"]);
    }

    #[test]
    fn quotes_behind_backslashes_are_those_of_the_text() {
        let options = options();
        // As Spark writes by default.
        let file = br#"id,text
1,"says \"hi\", then
\"\" goes, C:\new"
2,"","c"
3,"ends in a backslash \\"
4,"plain; \"x\""
"#;
        let rows = read(file, &options);
        assert_eq!(rows[0], "1 says \"hi\", then\n\"\" goes, C:\\new");
        assert!(rows[1].contains("3 cells below 2 names"), "{rows:?}");
        assert_eq!(rows[2..], ["3 ends in a backslash \\\\", "4 plain; \"x\""]);
        // Where quotes are doubled, a backslash is a character like others.
        assert_eq!(read(b"id,text\n1,\"C:\\\"\n2,\"a \"\"b\\\"\"\"\n", &options), ["1 C:\\", "2 a \"b\\\""]);
        for end in 0..file.len() {
            has_backslashes(&file[..end], b',');
        }
        let mut text = Vec::new();
        let mut quotes = Quotes::new(io::BufReader::with_capacity(1, &file[..]), true);
        io::Read::read_to_end(&mut quotes, &mut text).unwrap();
        let doubled = String::from_utf8(file.to_vec()).unwrap().replace("\\\"\n", "\0").replace("\\\"", "\"\"");
        assert_eq!(String::from_utf8(text).unwrap(), doubled.replace('\0', "\\\"\n"));
    }

    #[test]
    fn behind_a_fault_the_next_whole_row_is_read() {
        let rows = |numbers: std::ops::Range<u32>| -> String {
            numbers.map(|number| format!("{number},\"text {number}\nof, two lines\"\n")).collect()
        };
        let [one, two, three] = [
            gzip(format!("id,text\n{}", rows(0..40)).as_bytes()),
            gzip(rows(40..80).as_bytes()),
            gzip(rows(80..120).as_bytes()),
        ];
        let options = options();
        let file = [&one[..], &two[..two.len() / 2], &three].concat();
        let input = io::BufReader::with_capacity(64, Stream::new(&file[..]));
        let text = |number| format!("text {number}\nof, two lines");
        assert_read_on(Rows::new("f", input, Dialect::of(b"", b','), &options), text, 82);
        let cut = [&one[..], &two[..two.len() / 2]].concat();
        let items: Vec<InputItem> = Rows::new("f", Stream::new(&cut[..]), Dialect::of(b"", b','), &options).collect();
        assert!(matches!(items.last(), Some(InputItem::Damaged(damage)) if damage.breaks_off), "{items:?}");
    }

    #[test]
    fn a_quote_that_nothing_closes_is_told() {
        let rows = read(b"id,text\n1,a\n2,\"b\n3,c\n4,d\n", &options());
        assert_eq!(rows, ["1 a", "f, row 3: a text in quotes does not end; the rest of the file is not read"]);
    }

    #[test]
    fn what_does_not_name_its_text_is_refused_with_its_columns() {
        let options = options();
        assert_eq!(separator(b"a,b\n1,2\n", &options, false), None);
        assert!(refusal(b"a,b\n1,2\n", &options).contains("'text' (--text-field) in CSV with the columns a, b"));
        for text in [&b"<html>, <p>"[..], b"", b"prose without a table", b"\x00\x01,\x02"] {
            assert_eq!(refusal(text, &options), "neither WARC, Parquet, JSON nor CSV", "{text:?}");
        }
    }

    #[test]
    fn the_columns_that_are_kept_come_through() {
        let options = Options { keep_columns: vec!["lang".into(), "none".into()], ..options() };
        let items: Vec<InputItem> =
            Rows::new("f", &b"text,lang\nx,de\n"[..], Dialect::of(b"", b','), &options).collect();
        let [InputItem::Answer(document)] = &items[..] else { panic!("{items:?}") };
        let columns = document.row.as_ref().unwrap().columns.clone().unwrap();
        assert_eq!(serde_json::Value::Object(columns), serde_json::json!({"lang": "de", "none": null}));
    }
}
