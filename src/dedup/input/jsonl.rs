//! Lines of JSON: one object for each page.

use std::io::BufRead;

use serde_json::Value;

use crate::model::Fetched;

use super::row::InputRow;
use super::warc::millis;
use super::{InputDamage, InputItem, Options};

/// Longest line, in bytes.
const MOST_LINE: u64 = 256 * 1024 * 1024;

/// The pages of a file, in order.
pub(super) struct Lines<'a, R> {
    place: String,
    input: R,
    options: &'a Options,
    number: u64,
    is_over: bool,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub(super) fn new(place: String, input: R, options: &'a Options) -> Self {
        Self { place, input, options, number: 0, is_over: false }
    }

    fn page(&self, line: &[u8]) -> Result<Fetched, String> {
        let row: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let field = |name: &str| row[name].as_str();
        let Options { url_field, html_field, text_field, .. } = self.options;
        let row = InputRow {
            url: field(url_field),
            html: field(html_field),
            text: field(text_field),
            fetched_at: field("fetched_at").map_or(0, millis),
        };
        row.page(self.options)
    }
}

impl<R: BufRead> Iterator for Lines<'_, R> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        use std::io::Read;
        let mut line = Vec::new();
        while !self.is_over {
            line.clear();
            self.number += 1;
            let read = (&mut self.input).take(MOST_LINE).read_until(b'\n', &mut line);
            let damaged = |why: String| {
                InputItem::Damaged(InputDamage { place: format!("{}, line {}", self.place, self.number), why })
            };
            match read {
                Ok(0) => self.is_over = true,
                Ok(_) if line.trim_ascii().is_empty() => {}
                Ok(_) => {
                    return Some(self.page(&line).map_or_else(damaged, |page| InputItem::Answer(Box::new(page))));
                }
                Err(error) => {
                    let item = damaged(format!("{error}; the rest of the file is not read"));
                    self.is_over = true;
                    return Some(item);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::options;
    use super::*;

    #[test]
    fn a_line_is_a_page_by_its_source_or_else_by_its_text() {
        let file = concat!(
            r#"{"url":"http://a.test/","html":"<p>x","text":"x","fetched_at":"1970-01-01T00:00:01Z"}"#,
            "\n\n",
            r#"{"url":"http://a.test/2","html":null,"text":"plain"}"#,
            "\n",
            r#"{"url":"http://a.test/3"}"#,
            "\nnonsense\n",
        );
        let options = options();
        let items: Vec<InputItem> = Lines::new("f".to_owned(), file.as_bytes(), &options).collect();
        let [
            InputItem::Answer(first),
            InputItem::Answer(second),
            InputItem::Damaged(third),
            InputItem::Damaged(fourth),
        ] = &items[..]
        else {
            panic!("{items:?}");
        };
        assert_eq!(
            (first.media_type(), &first.body[..], first.started_at),
            ("text/html".to_owned(), &b"<p>x"[..], 1000)
        );
        assert_eq!((second.media_type(), &second.body[..]), ("text/plain".to_owned(), &b"plain"[..]));
        assert_eq!(third.place, "f, line 4");
        assert_eq!(fourth.place, "f, line 5");
    }
}
