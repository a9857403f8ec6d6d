//! Input formats: WARC, WET, ARC and WACZ files of any program, Parquet, JSON, CSV, pages, folders of these.
//!
//! The first bytes of a file tell its format ([`format`]), and its compression ([`members`]); its name only tells
//! whether words are a page. So `-`, standard input, may have any format but Parquet and WACZ. Files of a folder come in the
//! order of their names. Nothing of a file stays in memory after it is read.
//!
//! A new format is a line in the table of [`format`], an arm in [`read`] and a file with its reader. Readers of text
//! get UTF-8 without a byte order mark ([`text`]). They get damage of the compression as an error, once, and may read on
//! behind it.

mod arc;
mod arrow;
mod arrow_cells;
mod by_name;
mod csv;
mod date;
mod digest;
mod field_path;
mod file_name;
mod files;
mod format;
mod http;
mod json;
mod json_fields;
mod json_objects;
mod jsonl;
mod layers;
mod members;
mod objects;
mod parquet;
mod parquet_columns;
mod pipe;
mod records;
mod row;
mod seen_fields;
mod stream;
mod text;
mod wacz;
mod warc;
mod zip_scan;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use format::Format;
use records::Records;
use stream::Stream;
use text::TextEncoding;

use ndcrawl_model::{CanonicalUrl, Fetched, Normalizer};

pub use files::{Inputs, NoInput};
pub use row::RawRow;
pub use seen_fields::SeenFields;

/// How pages are found in the input.
#[derive(Clone, Debug)]
pub struct Options {
    /// The base URL of a folder: the URL of a page is its path below this one. Without it, a page is known by its file.
    pub base: Option<CanonicalUrl>,
    /// Tables: the field with the URL.
    pub url_field: String,
    /// The field with the document's own id, which names a document without URL.
    pub id_field: String,
    /// The field with the HTML source.
    pub html_field: String,
    /// The fields with the text, for a page without a source. The texts of several stand on lines of their own.
    pub text_fields: Vec<String>,
    /// The field with the time at which the page was fetched.
    pub time_field: String,
    /// Other fields that are carried through.
    pub keep_columns: Vec<String>,
    /// Longest decoded body of an archive's page in bytes. Longer bodies are truncated.
    pub max_body: usize,
    /// The same of rows and files.
    pub max_text: usize,
    /// Whether files that hold PDF are pages.
    pub reads_pdf: bool,
    /// Whether pages come with their WARC records as they are.
    pub keeps_records: bool,
    /// Whether documents come with the rows that they were.
    pub keeps_rows: bool,
    /// Whether rows without URL are compared with those of their own file only.
    pub within_files: bool,
    /// Brings URLs into canonical form.
    pub normalizer: Normalizer,
    /// Which of these fields the rows have.
    pub seen: Arc<SeenFields>,
}

/// Says whether the reading is to end.
pub(super) type Stop<'a> = &'a (dyn Fn() -> bool + Send + Sync);

/// A piece of the input.
#[derive(Debug)]
pub enum InputItem {
    /// The beginning of an input: all that follows, up to the next beginning, comes from it.
    Opened(InputFile),
    /// An answer, with any status and type, or a document.
    Answer(Box<InputDocument>),
    /// A record without an answer: a request, metadata, a revisit.
    Passed,
    /// A file of a folder that holds nothing that is read.
    Ignored(IgnoredFile),
    /// A piece that cannot be read.
    Damaged(InputDamage),
}

/// A file or stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Its name, as the user gave it or as it was found below a folder.
    pub name: String,
    /// Its format, for people.
    pub format: &'static str,
}

/// A document of the input.
#[derive(Clone, Debug)]
pub struct InputDocument {
    /// The document as an answer to a request.
    pub fetched: Fetched,
    /// The row that it was, if it was one.
    pub row: Option<RowSource>,
    /// The `WARC-Record-ID` of its record.
    pub record_id: Option<String>,
    /// Whether its record states another digest of its block, although a checksum says that the block is sound.
    pub is_digest_other: bool,
    /// Header and block of its record as they are, if that is WARC, not too long and wanted.
    pub record: Option<Vec<u8>>,
    /// Its row as it is, if that is wanted.
    pub raw: Option<RawRow>,
    /// Whether it is the user's own text: a row, or a file of plain text.
    pub is_own: bool,
}

/// The row, line or element that a document was.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSource {
    /// Its file, as the user gave it.
    pub file: Arc<str>,
    /// Its number in the file, from 1.
    pub number: u64,
    /// Its own id, as given.
    pub id: Option<String>,
    /// Other columns that are carried through.
    pub columns: Option<serde_json::Map<String, serde_json::Value>>,
}

impl From<Fetched> for InputDocument {
    fn from(fetched: Fetched) -> Self {
        Self { fetched, row: None, record_id: None, is_digest_other: false, record: None, raw: None, is_own: false }
    }
}

impl From<Fetched> for InputItem {
    fn from(fetched: Fetched) -> Self {
        Self::Answer(Box::new(fetched.into()))
    }
}

/// A piece of the input that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputDamage {
    /// The file, and the record or line in it.
    pub place: String,
    /// Why it cannot be read.
    pub why: String,
    /// Whether pieces behind it are lost with it.
    pub breaks_off: bool,
}

impl InputDamage {
    /// Creates the damage of one record, line or row. What follows it is read.
    pub fn new(place: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self { place: place.into(), why: why.to_string(), breaks_off: false }
    }

    /// Creates damage behind which nothing of the file can be read.
    pub fn end(place: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self { place: place.into(), why: format!("{why}; the rest of the file is not read"), breaks_off: true }
    }
}

/// A file of a folder that holds nothing that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredFile {
    /// The file.
    pub place: String,
    /// What it seems to hold.
    pub what: &'static str,
    /// Whether it may hold documents.
    pub is_lost: bool,
}

/// The pieces of one file or stream, in order.
type Items<'a> = Box<dyn Iterator<Item = InputItem> + Send + 'a>;

/// A file, or a file inside an archive.
#[derive(Clone, Debug)]
struct SourceFile {
    /// Its name in messages. Its ending counts where the content does not tell a format.
    place: String,
    /// Its path below the base URL; `None` if it cannot be a page by itself.
    below: Option<String>,
    /// Milliseconds since 1970.
    modified: Option<i64>,
    /// Whether the user named this file, and not its folder.
    is_named: bool,
    /// What it is a part of by its name, if it is text.
    part: Option<&'static str>,
}

impl SourceFile {
    /// A file that holds nothing that is read.
    fn unread(self, what: &'static str, why: String, is_lost: bool) -> InputItem {
        match self.is_named {
            true => self.damaged(why),
            false => InputItem::Ignored(IgnoredFile { place: self.place, what, is_lost }),
        }
    }

    fn damaged(self, why: String) -> InputItem {
        InputItem::Damaged(InputDamage { breaks_off: true, ..InputDamage::new(self.place, why) })
    }
}

/// Detects the format of a file and returns its reader. An error is the only item of a file that has none.
fn read<'a>(file: SourceFile, input: impl io::Read + Send + 'a, options: &'a Options) -> Result<Items<'a>, InputItem> {
    let mut stream = Stream::new(input);
    let first = stream.peek(format::MOST_LOOKED_AT).to_vec();
    if first.is_empty()
        && let Err(error) = io::BufRead::fill_buf(&mut stream)
    {
        return Err(file.damaged(error.to_string()));
    }
    let encoding = TextEncoding::of(&first);
    let text = encoding.decoded(&first);
    let format = format::format(&text, Path::new(&file.place));
    if let (Format::Unknown("text") | Format::Page("text/plain"), Some(what)) = (format, file.part) {
        return Err(file.unread(what, what.to_owned(), false));
    }
    let format = match format {
        Format::Unknown("application/pdf") if options.reads_pdf => Format::Page("application/pdf"),
        Format::Unknown("text") => {
            let is_document = by_name::is_document(Path::new(&file.place), file.is_named);
            let otherwise = if is_document { Format::Page("text/plain") } else { Format::Unknown("text") };
            csv::separator(&text, options, is_document).map_or(otherwise, Format::Csv)
        }
        format => format,
    };
    let place = file.place.clone();
    let (name, items): (_, Items<'a>) = match format {
        Format::Warc => {
            let stream = encoding.unmarked(stream);
            ("WARC", Box::new(Records::new(place.clone(), stream, &warc::LAYOUT, options)))
        }
        Format::Arc => {
            let stream = encoding.unmarked(stream);
            ("ARC", Box::new(Records::new(place.clone(), stream, &arc::LAYOUT, options)))
        }
        Format::JsonLines => ("JSON", jsonl::objects(place.clone(), encoding.reader(stream), options)),
        Format::JsonArray => ("JSON", Box::new(json_objects::Objects::new(&place, encoding.reader(stream), options))),
        Format::Csv(separator) => {
            let sample = encoding.decoded(stream.peek(csv::SAMPLE));
            let mut dialect = csv::Dialect::of(&sample, separator);
            dialect.style.has_mark = encoding.has_mark();
            ("CSV", Box::new(csv::Rows::new(&place, encoding.reader(stream), dialect, options)))
        }
        Format::Page(media_type) => ("page", Box::new(std::iter::once(files::page(file, media_type, stream, options)))),
        Format::Parquet => {
            return Err(file.damaged("Parquet cannot be read from a stream; give the file, uncompressed".to_owned()));
        }
        Format::Zip => {
            return Err(file.damaged("a zip file cannot be read from a stream; give the file, uncompressed".to_owned()));
        }
        Format::Arrow => ("Arrow", arrow::rows(&place, stream, options)),
        Format::Empty => return Err(file.unread("empty", "the file is empty".to_owned(), false)),
        Format::Unread(what, remedy) => return Err(file.unread(what, format!("{what}; {remedy}"), true)),
        Format::Unknown("text") => {
            let why = csv::refusal(&text, options);
            return Err(file.unread("a table without the fields", why, true));
        }
        Format::Unknown(what) => {
            let why = format!("neither WARC, ARC, WACZ, Parquet, Arrow, JSON, CSV nor a page, but {what}");
            return Err(file.unread(what, why, !format::is_no_text(what)));
        }
    };
    Ok(opened(&place, name, items))
}

/// Puts the beginning of an input before its pieces.
fn opened<'a>(name: &str, format: &'static str, items: Items<'a>) -> Items<'a> {
    Box::new(std::iter::once(InputItem::Opened(InputFile { name: name.to_owned(), format })).chain(items))
}

/// Returns the pieces of a file that is not read: what it is, behind its beginning if somebody named it.
fn unopened<'a>(place: &str, item: InputItem) -> Items<'a> {
    let items: Items<'a> = Box::new(std::iter::once(item));
    opened(place, "unknown format", items)
}

/// Returns the one piece of an input that cannot be read at all.
fn damaged<'a>(place: &str, why: &dyn std::fmt::Display) -> Items<'a> {
    let damage = InputDamage { breaks_off: true, ..InputDamage::new(place, why) };
    Box::new(std::iter::once(InputItem::Damaged(damage)))
}

/// Reads a Parquet file.
#[cfg(feature = "fuzzing")]
pub(super) fn parquet_rows<'a>(path: &'a Path, options: &'a Options, bytes: &'a AtomicU64) -> Items<'a> {
    parquet::rows(path, &path.display().to_string(), options, bytes)
}

/// Reads rows in the format of this number.
#[cfg(feature = "fuzzing")]
pub(super) fn fuzzed_rows<'a>(format: u8, input: &'a [u8], options: &'a Options) -> Items<'a> {
    let place = "input".to_owned();
    match format {
        b',' | b'\t' => {
            let dialect = csv::Dialect::of(input, format);
            Box::new(csv::Rows::new(&place, input, dialect, options))
        }
        b'[' => Box::new(json_objects::Objects::new(&place, input, options)),
        _ => jsonl::objects(place, input, options),
    }
}

/// Returns the items of bytes that have no name.
#[cfg(feature = "fuzzing")]
pub(super) fn items_of<'a>(bytes: &'a [u8], options: &'a Options) -> Items<'a> {
    let file = SourceFile {
        place: "input".to_owned(),
        below: Some(String::new()),
        modified: None,
        is_named: true,
        part: None,
    };
    read(file, bytes, options).unwrap_or_else(|item| Box::new(std::iter::once(item)))
}

/// Counts the bytes that a reader reads.
struct Counted<'a, R> {
    input: R,
    bytes: &'a AtomicU64,
}

impl<R: io::Read> io::Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bytes.fetch_add(read as u64, std::sync::atomic::Ordering::Relaxed);
        Ok(read)
    }
}

/// Opens a file.
fn open<'a>(path: &Path, bytes: &'a AtomicU64) -> io::Result<impl io::Read + Send + 'a> {
    Ok(Counted { input: std::fs::File::open(path)?, bytes })
}

#[cfg(test)]
pub(super) mod tests_of_names {
    use super::*;
    use row::{InputRow, RowPlace};

    /// A row with a text.
    pub fn document(file: &str, number: u64, id: Option<&str>) -> InputDocument {
        let row = InputRow { id: id.map(Into::into), text: Some("text".into()), ..InputRow::default() };
        row.document(RowPlace { file: &Arc::from(file), number }, &files::tests::options()).unwrap()
    }
}
