//! Input formats: WARC and WET files of any program, Parquet, lines of JSON, folders of HTML and text.
//!
//! The first bytes of a file tell its format, not its name. So `-`, standard input, may have any format but Parquet.
//! Files of a folder come in the order of their names. Nothing of a file stays in memory after it is read.

mod files;
mod http;
mod jsonl;
mod parquet;
mod row;
mod stream;
mod warc;

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use crate::model::{CanonicalUrl, Fetched, Normalizer};

pub use files::{Inputs, NoInput};

/// How pages are found in the input.
#[derive(Clone, Debug)]
pub struct Options {
    /// The base URL of a folder: the URL of a page is its path below this one.
    pub base: CanonicalUrl,
    /// Lines of JSON and Parquet: the field with the URL.
    pub url_field: String,
    /// The field with the HTML source.
    pub html_field: String,
    /// The field with the text, for a page without a source.
    pub text_field: String,
    /// Longest decoded body in bytes. Longer bodies are truncated.
    pub max_body: usize,
    /// Brings URLs into canonical form.
    pub normalizer: Normalizer,
}

/// A piece of the input.
#[derive(Debug)]
pub enum InputItem {
    /// An answer, with any status and type.
    Answer(Box<Fetched>),
    /// A record without an answer: a request, metadata, a revisit.
    Passed,
    /// A piece that cannot be read.
    Damaged(InputDamage),
}

/// A piece of the input that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputDamage {
    /// The file, and the record or line in it.
    pub place: String,
    /// Why it cannot be read.
    pub why: String,
}

/// The pieces of one file or stream, in order.
type Items<'a> = Box<dyn Iterator<Item = InputItem> + Send + 'a>;

/// Detects the format of a stream, and reads it.
pub(super) fn items<'a>(place: String, input: impl BufRead + Send + 'a, options: &'a Options) -> Items<'a> {
    let damaged = |why: String| -> Items<'a> {
        Box::new(std::iter::once(InputItem::Damaged(InputDamage { place: place.clone(), why })))
    };
    let mut input = match stream::decoded(input) {
        Ok(input) => input,
        Err(error) => return damaged(error.to_string()),
    };
    match stream::beginning(&mut input) {
        Err(error) => damaged(error.to_string()),
        Ok([]) => Box::new(std::iter::empty()),
        Ok([b'W', b'A', b'R', b'C', b'/', ..]) => Box::new(warc::Records::new(place, input, options)),
        Ok([b'{', ..]) => Box::new(jsonl::Lines::new(place, input, options)),
        Ok(text) if text.starts_with(parquet::MAGIC) => {
            damaged("Parquet cannot be read from a stream; give the file".to_owned())
        }
        Ok(_) => damaged("neither WARC, Parquet nor lines of JSON".to_owned()),
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
