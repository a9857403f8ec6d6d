//! A file of pages that somebody else wrote.

use std::sync::atomic::AtomicU64;

use super::input::{InputItem, Options, fuzzed_rows, items, parquet_rows};
use crate::model::{CanonicalUrl, Normalizer};

/// Longest body.
const MOST_BODY: usize = 64 * 1024;

fn options() -> Option<Options> {
    let normalizer = Normalizer::default();
    Some(Options {
        base: normalizer.absolute("http://localhost/").ok()?,
        url_field: "url".to_owned(),
        id_field: "id".to_owned(),
        html_field: "html".to_owned(),
        text_field: "text".to_owned(),
        keep_columns: vec!["a.b".to_owned()],
        max_body: MOST_BODY,
        normalizer,
    })
}

/// Checks that no more items come than `most`, and each item.
fn check(items: impl Iterator<Item = InputItem>, most: usize) {
    for (read, item) in items.enumerate() {
        assert!(read <= most, "more items than bytes could ever hold");
        match item {
            InputItem::Answer(document) => {
                assert!(document.fetched.body.len() <= MOST_BODY);
                let url = &document.fetched.url;
                assert_eq!(CanonicalUrl::from_canonical(url.as_str()).as_ref(), Ok(url));
            }
            InputItem::Damaged(damage) => assert!(!damage.why.is_empty()),
            InputItem::Opened(_) | InputItem::Passed => {}
        }
    }
}

/// A file of any format, compressed or not: it comes to an end, and no body is longer than it may be.
pub fn input(bytes: &[u8]) {
    let Some(options) = options() else { return };
    check(items("input".to_owned(), bytes, &options), 1 + bytes.len() * 1100);
}

/// Rows in a format that the first byte chooses: CSV, TSV, an array of JSON, lines of JSON.
pub fn rows(bytes: &[u8]) {
    let (Some(options), Some((format, bytes))) = (options(), bytes.split_first()) else { return };
    check(fuzzed_rows(*format, bytes, &options), 2 * bytes.len() + 2);
}

/// A Parquet file.
pub fn parquet(bytes: &[u8]) {
    let (Some(options), Ok(folder)) = (options(), tempfile::tempdir()) else { return };
    let path = folder.path().join("input");
    if std::fs::write(&path, bytes).is_ok() {
        // Run lengths and dictionaries make many rows of few bytes.
        check(parquet_rows(&path, &options, &AtomicU64::new(0)).take(10_000), usize::MAX);
    }
}
