//! Lines of JSON: one object for each document.

use std::collections::VecDeque;
use std::io::{BufRead, Cursor};

use super::json_fields::ObjectReader;
use super::json_objects::{MOST_BYTES, Objects};
use super::{InputDamage, InputItem, Items, Options};

/// The mark that editors of Windows put before a text; `cat` carries it into the middle of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes of an object over several lines in which an array of documents is looked for.
const MOST_LOOKED_AT: u64 = 16 * 1024 * 1024;

/// Most faults of one stream: a disk that cannot be read has no end of them.
const MOST_FAULTS: u32 = 1000;

/// Reads a stream of objects: one a line, or, if the first goes on behind its line, wherever they stand.
pub(super) fn objects<'a>(place: String, mut input: impl BufRead + Send + 'a, options: &'a Options) -> Items<'a> {
    use std::io::Read;
    let mut first = Vec::new();
    // A fault comes again when the line is read in its turn.
    let _ = (&mut input).take(MOST_BYTES).read_until(b'\n', &mut first);
    let reader = ObjectReader::new(&place, options);
    let goes_on = reader.read(&first, 1).is_err_and(|error| error.is_end);
    let next_begins = goes_on && begins_with_brace(&mut input);
    if goes_on && !next_begins {
        let _ = (&mut input).take(MOST_LOOKED_AT).read_to_end(&mut first);
    }
    if let Some(array) = reader.wrapped(&first) {
        let input = Cursor::new(first.split_off(array)).chain(input);
        return Box::new(Objects::within(reader, input));
    }
    let input = Cursor::new(first).chain(input);
    match goes_on && !next_begins {
        true => Box::new(Objects::new(&place, input, options)),
        false => Box::new(Lines::new(&place, input, options)),
    }
}

/// Whether the next line is an object of its own, so that the line before was cut.
fn begins_with_brace(input: &mut impl BufRead) -> bool {
    let text = input.fill_buf().unwrap_or_default();
    text.trim_ascii_start().starts_with(b"{")
}

/// The documents of a file, in order.
pub(super) struct Lines<'a, R> {
    reader: ObjectReader<'a>,
    input: R,
    number: u64,
    ready: VecDeque<InputItem>,
    line: Vec<u8>,
    faults: u32,
    is_over: bool,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub(super) fn new(place: &str, input: R, options: &'a Options) -> Self {
        let reader = ObjectReader::new(place, options);
        Self { reader, input, number: 0, ready: VecDeque::new(), line: Vec::new(), faults: 0, is_over: false }
    }

    fn place(&self) -> String {
        format!("{}, line {}", self.reader.file, self.number)
    }

    /// Reads the objects of the line: mostly one.
    fn read_line(&mut self) {
        let mut rest = self.line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.line).trim_ascii();
        while !rest.is_empty() {
            let damaged = |why: String| InputItem::Damaged(InputDamage::new(self.place(), why));
            match self.reader.read(rest, self.number) {
                Ok((document, length)) => {
                    let item = document.map_or_else(damaged, |document| InputItem::Answer(Box::new(document)));
                    self.ready.push_back(item);
                    // A comma, where somebody has cut an array into lines.
                    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
                    rest = &rest[length..];
                    rest = &rest[rest.iter().take_while(|byte| is_space(byte)).count()..];
                }
                Err(error) => {
                    self.ready.push_back(damaged(error.to_string()));
                    return;
                }
            }
        }
    }
}

impl<R: BufRead> Iterator for Lines<'_, R> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        use std::io::Read;
        while self.ready.is_empty() && !self.is_over {
            self.line.clear();
            self.number += 1;
            match (&mut self.input).take(MOST_BYTES).read_until(b'\n', &mut self.line) {
                Ok(0) => self.is_over = true,
                Ok(_) => self.read_line(),
                // The stream tells each fault once, and goes on behind it.
                Err(error) => {
                    self.faults += 1;
                    self.is_over = self.faults == MOST_FAULTS;
                    let breaks_off = self.is_over || self.input.fill_buf().is_ok_and(<[u8]>::is_empty);
                    let damage = InputDamage::new(self.place(), error);
                    return Some(InputItem::Damaged(InputDamage { breaks_off, ..damage }));
                }
            }
        }
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::options;
    use super::*;

    /// What each item is: the shown name and the body, or the damage.
    fn read(file: &[u8]) -> Vec<String> {
        let options = options();
        let told = |item: InputItem| match item {
            InputItem::Answer(document) => {
                let body = String::from_utf8_lossy(&document.fetched.body).into_owned();
                format!("{} {body}", document.fetched.url.shown())
            }
            InputItem::Damaged(damage) => format!("{}: {}", damage.place, damage.why),
            other => panic!("{other:?}"),
        };
        objects("f".to_owned(), file, &options).map(told).collect()
    }

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
        let items: Vec<InputItem> = objects("f".to_owned(), file.as_bytes(), &options).collect();
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
            (first.fetched.media_type(), &first.fetched.body[..], first.fetched.started_at),
            ("text/html".to_owned(), &b"<p>x"[..], Some(1000))
        );
        assert_eq!(
            (second.fetched.media_type(), &second.fetched.body[..], second.fetched.started_at),
            ("text/plain".to_owned(), &b"plain"[..], None)
        );
        assert_eq!(third.place, "f, line 4");
        assert_eq!(fourth.place, "f, line 5");
    }

    #[test]
    fn marks_separators_and_several_objects_on_a_line_are_read() {
        let file = b"\xef\xbb\xbf{\"text\":\"1\"}\r\n\xef\xbb\xbf{\"text\":\"2\"},\n\x1e{\"text\":\"3\"}{\"id\":4,\"text\":\"4\"}\n";
        assert_eq!(read(file), ["f#1 1", "f#2 2", "f#3 3", "4 4"]);
    }

    #[test]
    fn a_cut_line_costs_itself_only() {
        let cut =
            b"{\"id\":1,\"text\":\"a\n{\"id\":2,\"text\":\"b\"}\n{\"id\":3,\"te\n{\"id\":4,\"text\":\"d\"}\n{\"id\":5,";
        let read = read(cut);
        assert_eq!([&read[1], &read[3]], ["2 b", "4 d"]);
        assert!(read[0].starts_with("f, line 1: no JSON object: a text does not end"), "{read:?}");
        assert_eq!(read.len(), 5);
    }

    #[test]
    fn the_columns_that_are_kept_come_through() {
        let options = Options { keep_columns: vec!["lang".into(), "m.n".into(), "none".into()], ..options() };
        let row = br#"{"text":"x","lang":"de","m":{"n":[1,NaN]}}"#;
        let items: Vec<InputItem> = objects("f".to_owned(), &row[..], &options).collect();
        let [InputItem::Answer(document)] = &items[..] else { panic!("{items:?}") };
        let columns = document.row.as_ref().unwrap().columns.clone().unwrap();
        assert_eq!(
            serde_json::Value::Object(columns),
            serde_json::json!({"lang": "de", "m.n": "[1,NaN]", "none": null})
        );
    }
}
