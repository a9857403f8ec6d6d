//! Input formats: WARC and WET files of any program, Parquet, JSON, CSV, folders of HTML and text.
//!
//! The first bytes of a file tell its format, not its name. So `-`, standard input, may have any format but Parquet.
//! Files of a folder come in the order of their names. Nothing of a file stays in memory after it is read.

mod csv;
mod date;
mod field_path;
mod files;
mod http;
mod json;
mod json_fields;
mod json_objects;
mod jsonl;
mod parquet;
mod parquet_columns;
mod row;
mod stream;
mod warc;

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::model::{CanonicalUrl, Fetched, Normalizer};

pub use files::{Inputs, NoInput};

/// How pages are found in the input.
#[derive(Clone, Debug)]
pub struct Options {
    /// The base URL of a folder: the URL of a page is its path below this one.
    pub base: CanonicalUrl,
    /// Tables: the field with the URL.
    pub url_field: String,
    /// The field with the document's own id, which names a document without URL.
    pub id_field: String,
    /// The field with the HTML source.
    pub html_field: String,
    /// The field with the text, for a page without a source.
    pub text_field: String,
    /// Other fields that are carried through.
    pub keep_columns: Vec<String>,
    /// Longest decoded body in bytes. Longer bodies are truncated.
    pub max_body: usize,
    /// Brings URLs into canonical form.
    pub normalizer: Normalizer,
}

/// A piece of the input.
#[derive(Debug)]
pub enum InputItem {
    /// The beginning of an input: all that follows, up to the next beginning, comes from it.
    Opened(InputFile),
    /// An answer, with any status and type, or a document.
    Answer(Box<InputDocument>),
    /// A record without an answer: a request, metadata, a revisit.
    Passed,
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

impl From<Fetched> for InputItem {
    fn from(fetched: Fetched) -> Self {
        Self::Answer(Box::new(InputDocument { fetched, row: None }))
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

/// The pieces of one file or stream, in order.
type Items<'a> = Box<dyn Iterator<Item = InputItem> + Send + 'a>;

/// Detects the format of a stream, and reads it.
pub(super) fn items<'a>(place: String, input: impl BufRead + Send + 'a, options: &'a Options) -> Items<'a> {
    let unknown = |why: &dyn std::fmt::Display| opened(&place, UNKNOWN, damaged(&place, why));
    let mut input = match stream::decoded(input) {
        Ok(input) => input,
        Err(error) => return unknown(&error),
    };
    match stream::beginning(&mut input) {
        Err(error) => unknown(&error),
        Ok([]) => opened(&place, "empty", Box::new(std::iter::empty())),
        Ok([b'W', b'A', b'R', b'C', b'/', ..]) => {
            opened(&place.clone(), "WARC", Box::new(warc::Records::new(place, input, options)))
        }
        Ok([b'{' | 0x1e, ..]) => opened(&place.clone(), "JSON", jsonl::objects(place, input, options)),
        Ok([b'[', ..]) => opened(&place, "JSON", Box::new(json_objects::Objects::new(&place, input, options))),
        Ok(text) if text.starts_with(parquet::MAGIC) => {
            opened(&place, PARQUET, damaged(&place, &"Parquet cannot be read from a stream; give the file"))
        }
        Ok(text) => match csv::separator(text, options) {
            Some(separator) => opened(&place, "CSV", Box::new(csv::Rows::new(&place, input, separator, options))),
            None => unknown(&csv::refusal(text, options)),
        },
    }
}

const PARQUET: &str = "Parquet";
const UNKNOWN: &str = "unknown format";

/// Puts the beginning of an input before its pieces.
fn opened<'a>(name: &str, format: &'static str, items: Items<'a>) -> Items<'a> {
    Box::new(std::iter::once(InputItem::Opened(InputFile { name: name.to_owned(), format })).chain(items))
}

/// Returns the one piece of an input that cannot be read at all.
fn damaged<'a>(place: &str, why: &dyn std::fmt::Display) -> Items<'a> {
    let damage = InputDamage { breaks_off: true, ..InputDamage::new(place, why) };
    Box::new(std::iter::once(InputItem::Damaged(damage)))
}

/// Reads a Parquet file.
#[cfg(any(test, fuzzing))]
pub(super) fn parquet_rows<'a>(path: &'a std::path::Path, options: &'a Options, bytes: &'a AtomicU64) -> Items<'a> {
    parquet::rows(path, options, bytes)
}

/// Reads rows in the format of this number.
#[cfg(any(test, fuzzing))]
pub(super) fn fuzzed_rows<'a>(format: u8, input: &'a [u8], options: &'a Options) -> Items<'a> {
    let place = "input".to_owned();
    match format {
        b',' | b'\t' => Box::new(csv::Rows::new(&place, input, format, options)),
        b'[' => Box::new(json_objects::Objects::new(&place, input, options)),
        _ => jsonl::objects(place, input, options),
    }
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

/// Opens a file or, for `-`, standard input.
fn open<'a>(path: &PathBuf, bytes: &'a AtomicU64) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    let input: Box<dyn io::Read + Send> =
        if path.as_os_str() == "-" { Box::new(io::stdin()) } else { Box::new(std::fs::File::open(path)?) };
    Ok(Box::new(io::BufReader::with_capacity(256 * 1024, Counted { input, bytes })))
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
