//! A file of pages that somebody else wrote.

use super::input::{InputItem, Options, items};
use crate::model::Normalizer;

/// A WARC file or lines of JSON, compressed or not: it comes to an end, and no body is longer than it may be.
pub fn input(bytes: &[u8]) {
    let normalizer = Normalizer::default();
    let Ok(base) = normalizer.absolute("http://localhost/") else { return };
    let options = Options {
        base,
        url_field: "url".to_owned(),
        html_field: "html".to_owned(),
        text_field: "text".to_owned(),
        max_body: 64 * 1024,
        normalizer,
    };
    let mut read = 0;
    for item in items("input".to_owned(), bytes, &options) {
        read += 1;
        assert!(read <= bytes.len() * 1100, "more items than bytes could ever hold");
        match item {
            InputItem::Answer(answer) => assert!(answer.body.len() <= options.max_body),
            InputItem::Damaged(damage) => assert!(!damage.why.is_empty()),
            InputItem::Passed => {}
        }
    }
}
