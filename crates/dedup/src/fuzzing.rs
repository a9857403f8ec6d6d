//! A file of pages that somebody else wrote.

use std::fs;
use std::io::Write;
use std::sync::atomic::AtomicU64;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::input::{InputItem, Inputs, Options, fuzzed_rows, items_of, parquet_rows};
use ndcrawl_model::{CanonicalUrl, Normalizer};

/// Longest decoded body.
const MOST: usize = 64 * 1024;

fn options() -> Option<Options> {
    let normalizer = Normalizer::default();
    Some(Options {
        base: None,
        url_field: "url".to_owned(),
        id_field: "id".to_owned(),
        html_field: "html".to_owned(),
        text_fields: vec!["text".to_owned()],
        time_field: "fetched_at".to_owned(),
        keep_columns: vec!["a.b".to_owned()],
        max_body: MOST,
        max_text: MOST,
        reads_pdf: false,
        keeps_records: false,
        keeps_rows: false,
        within_files: false,
        seen: std::sync::Arc::default(),
        normalizer,
    })
}

/// Returns the URLs of the pages. There are not more items than the bytes could hold, and no body is too long.
fn urls(items: impl Iterator<Item = InputItem>, bytes: usize) -> Vec<String> {
    let (mut read, mut urls) = (0, Vec::new());
    for item in items {
        read += 1;
        assert!(read <= (bytes + 1) * 1100, "more items than bytes could ever hold");
        match item {
            InputItem::Answer(document) => {
                let url = &document.fetched.url;
                assert!(document.fetched.body.len() <= MOST);
                assert!(CanonicalUrl::from_canonical(url.as_str()).as_ref() == Ok(url));
                urls.push(url.to_string());
            }
            InputItem::Damaged(damage) => assert!(!damage.why.is_empty()),
            InputItem::Opened(_) | InputItem::Passed | InputItem::Ignored(_) => {}
        }
    }
    urls
}

/// An archive, lines of JSON or a page, compressed or not.
pub fn input(bytes: &[u8]) {
    let Some(options) = options() else { return };
    urls(items_of(bytes, &options), bytes.len());
}

/// The same in a file with a name: formats with a directory at their end, which a stream cannot have.
pub fn file(bytes: &[u8]) {
    let (Some(options), Ok(folder)) = (options(), tempfile::tempdir()) else { return };
    let path = folder.path().join("input");
    let count = AtomicU64::new(0);
    if fs::write(&path, bytes).is_ok()
        && let Ok(inputs) = Inputs::find(&[path], &[])
    {
        urls(inputs.items(&options, &count, &|| false), bytes.len());
    }
}

/// Rows in a format that the first byte chooses: CSV, TSV, an array of JSON, lines of JSON.
pub fn rows(bytes: &[u8]) {
    let (Some(options), Some((format, bytes))) = (options(), bytes.split_first()) else { return };
    urls(fuzzed_rows(*format, bytes, &options), bytes.len());
}

/// A Parquet file.
pub fn parquet(bytes: &[u8]) {
    let (Some(options), Ok(folder)) = (options(), tempfile::tempdir()) else { return };
    let path = folder.path().join("input");
    if fs::write(&path, bytes).is_ok() {
        // Run lengths and dictionaries make many rows of few bytes.
        urls(parquet_rows(&path, &options, &AtomicU64::new(0)).take(10_000), 10_000);
    }
}

/// Any bytes between two sound records: these are read, whatever stands between their members.
pub fn damage(bytes: &[u8]) {
    let Some(options) = options() else { return };
    let (first, last) = (member(1), member(2));
    let found = urls(items_of(&[&first[..], bytes, &last].concat(), &options), bytes.len() + 2);
    let is_there = |url: &str| found.iter().any(|found| found == url);
    assert!(is_there("http://localhost/1"));
    // Behind members the rest of a file may stand as it is, or be skipped on purpose.
    let has = |what: &[u8]| memchr::memmem::find(bytes, what).is_some();
    // A frame takes for its content what follows, be it a member.
    let may_skip = has(b"\x2a\x4d\x18") || has(b"\x28\xb5\x2f\xfd");
    assert!(has(b"WARC/") || may_skip || is_there("http://localhost/2"));
}

fn member(number: u8) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = write!(
        encoder,
        "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://localhost/{number}\r\nContent-Type: text/html\r\n\
         Content-Length: 4\r\n\r\n<p>{number}\r\n\r\n"
    );
    encoder.finish().unwrap_or_default()
}
