//! Where pages come from: WARC and WET files of any maker, Parquet, lines of JSON, folders of HTML and
//! text.
//!
//! What a file holds is told by its first bytes, not by its name, so that `-` may be any of them but Parquet.
//! Files of a folder are taken in the order of their names; nothing is kept of a file that was read.

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

use crate::model::{CanonicalUrl, Fetched, Normaliser};

pub use files::{Inputs, NoInput};

/// How pages are found in what is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address that a page of a folder has is its path below this one.
    pub base: CanonicalUrl,
    /// Lines of JSON: the field that holds the address, the page's source, and its text if there is no
    /// source.
    pub url_field: String,
    /// See [`url_field`](Self::url_field).
    pub html_field: String,
    /// See [`url_field`](Self::url_field).
    pub text_field: String,
    /// Bytes of a body, decoded; what is longer is cut.
    pub max_body: usize,
    /// How addresses are spelled.
    pub normaliser: Normaliser,
}

/// What was read.
#[derive(Debug)]
pub enum InputItem {
    /// An answer with all that belongs to it, whatever its status and type.
    Answer(Box<Fetched>),
    /// A record that speaks of no answer of its own: a request, metadata, a revisit.
    Passed,
    /// Something that can't be read.
    Damaged(InputDamage),
}

/// Something that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputDamage {
    /// The file, and the record or line in it.
    pub place: String,
    /// Why.
    pub why: String,
}

/// The items of one file or stream, in order.
type Items<'a> = Box<dyn Iterator<Item = InputItem> + Send + 'a>;

/// Tells what the stream is, and reads it.
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

/// Counts the bytes that are read.
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
