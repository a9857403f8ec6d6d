//! Objects of JSON in an array, or one after the other, however they are broken into lines.

use std::io::{self, BufRead};

use super::json_fields::ObjectReader;
use super::row::RawRow;
use super::stream::MOST_FAULTS;
use super::{InputDamage, InputItem, Options};

/// Longest line or object, in bytes.
pub(super) const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// The documents of a stream, in order.
pub(super) struct Objects<'a, R> {
    reader: ObjectReader<'a>,
    input: R,
    /// The number of the current element, from 1.
    number: u64,
    /// Whether an array has begun and not ended.
    in_array: bool,
    /// Whether the arrays are fields of one object, of which all else is passed over.
    is_wrapped: bool,
    faults: u32,
    is_over: bool,
}

/// The next piece of the stream.
enum Piece {
    /// An object or another value.
    Value(Vec<u8>),
    /// The stream ends where it may.
    End,
}

impl<'a, R: BufRead> Objects<'a, R> {
    pub fn new(place: &str, input: R, options: &'a Options) -> Self {
        let reader = ObjectReader::new(place, options);
        Self { reader, input, number: 0, in_array: false, is_wrapped: false, faults: 0, is_over: false }
    }

    /// Reads the elements of the array that begins the input, and of those that follow in the same object.
    pub fn within(reader: ObjectReader<'a>, input: R) -> Self {
        Self { reader, input, number: 0, in_array: false, is_wrapped: true, faults: 0, is_over: false }
    }

    /// Reads the next element.
    fn piece(&mut self) -> io::Result<Piece> {
        loop {
            let Some(&first) = self.input.fill_buf()?.first() else {
                return if self.in_array { Err(cut("the array does not end")) } else { Ok(Piece::End) };
            };
            match first {
                // Also the bytes of a byte order mark between files that were put together.
                b' ' | b'\t' | b'\n' | b'\r' | b',' | 0x1e | 0xef | 0xbb | 0xbf => self.input.consume(1),
                b'[' if !self.in_array => {
                    self.in_array = true;
                    self.input.consume(1);
                }
                b']' if self.in_array => {
                    self.in_array = false;
                    self.input.consume(1);
                }
                // The other fields: their names, and values that are no arrays.
                b':' if self.is_wrapped && !self.in_array => self.input.consume(1),
                b'}' if self.is_wrapped && !self.in_array => {
                    self.is_wrapped = false;
                    self.input.consume(1);
                }
                b'"' if self.is_wrapped && !self.in_array => self.skip_text()?,
                _ if self.is_wrapped && !self.in_array => drop(self.value()?),
                _ => return self.value().map(Piece::Value),
            }
        }
    }

    /// Moves to the next object behind a fault of the stream: a brace behind a comma, a bracket or the end of a line.
    /// What is found inside of a text or a field costs itself only. Returns whether there is one.
    fn go_on(&mut self) -> bool {
        loop {
            self.faults += 1;
            // What follows a fault is often the first byte of a member.
            let mut may_begin = true;
            while let Ok(buffer) = self.input.fill_buf() {
                if buffer.is_empty() {
                    return false;
                }
                let object = buffer.iter().position(|byte| {
                    let is_object = may_begin && *byte == b'{';
                    may_begin =
                        matches!(byte, b',' | b'[' | b'\n') || may_begin && matches!(byte, b' ' | b'\t' | b'\r');
                    is_object
                });
                let passed = object.unwrap_or(buffer.len());
                self.input.consume(passed);
                if object.is_some() {
                    return true;
                }
            }
            if self.faults >= MOST_FAULTS {
                return false;
            }
        }
    }

    /// Steps over a text in quotes.
    fn skip_text(&mut self) -> io::Result<()> {
        let (mut quotes, mut is_escaped) = (0, false);
        while quotes < 2 {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Err(cut("a text does not end"));
            }
            let end = buffer.iter().position(|byte| {
                let is_quote = *byte == b'"' && !is_escaped;
                is_escaped = *byte == b'\\' && !is_escaped;
                quotes += u32::from(is_quote);
                quotes == 2
            });
            let passed = end.map_or(buffer.len(), |end| end + 1);
            self.input.consume(passed);
        }
        Ok(())
    }

    /// Reads a value: up to the end of its brackets, or up to a comma or bracket behind it.
    fn value(&mut self) -> io::Result<Vec<u8>> {
        let mut value = Vec::new();
        let mut scan = Scan::default();
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Err(cut("the last element does not end"));
            }
            let (length, is_whole) = scan.feed(buffer);
            value.extend_from_slice(&buffer[..length]);
            self.input.consume(length);
            if is_whole {
                return Ok(value);
            }
            if value.len() as u64 > MOST_BYTES {
                return Err(cut("an element is longer than 256 MiB"));
            }
        }
    }
}

/// Where the end of a value is looked for.
#[derive(Default)]
struct Scan {
    depth: u32,
    in_text: bool,
    is_escaped: bool,
    has_begun: bool,
}

impl Scan {
    /// Looks at the next bytes. Returns how many belong to the value, and whether it ends with them.
    fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (at, byte) in bytes.iter().enumerate() {
            if self.in_text {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.in_text = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                b'}' | b']' if self.depth == 1 => return (at + 1, true),
                // A bracket too many is a value of its own, lest the reading stop at it forever.
                b'}' | b']' | b',' | b'\n' if self.depth == 0 => return (at + usize::from(!self.has_begun), true),
                _ => {}
            }
            self.has_begun = true;
        }
        (bytes.len(), false)
    }
}

fn cut(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, reason)
}

impl<R: BufRead> Iterator for Objects<'_, R> {
    type Item = InputItem;

    fn next(&mut self) -> Option<InputItem> {
        if self.is_over {
            return None;
        }
        self.number += 1;
        let piece = self.piece();
        let place = format!("{}, element {}", self.reader.file, self.number);
        match piece {
            Ok(Piece::End) => {
                self.is_over = true;
                None
            }
            Ok(Piece::Value(value)) => Some(match self.reader.read(&value, self.number) {
                Ok((Ok(mut document), _)) => {
                    if let Some(RawRow::Object { is_element, .. }) = &mut document.raw {
                        *is_element = self.in_array;
                    }
                    InputItem::Answer(Box::new(document))
                }
                Ok((Err(why), _)) => InputItem::Damaged(InputDamage::new(place, why)),
                Err(error) => InputItem::Damaged(InputDamage::new(place, error)),
            }),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof && self.go_on() => {
                Some(InputItem::Damaged(InputDamage::new(place, error)))
            }
            Err(error) => {
                self.is_over = true;
                Some(InputItem::Damaged(InputDamage::end(place, error)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::options;
    use super::*;

    fn read(file: &str, buffer: usize) -> Vec<String> {
        let options = options();
        let input = io::BufReader::with_capacity(buffer, file.as_bytes());
        let told = |item: InputItem| match item {
            InputItem::Answer(document) => {
                format!("{} {}", document.fetched.url.shown(), String::from_utf8_lossy(&document.fetched.body))
            }
            InputItem::Damaged(damage) => format!("{}: {}", damage.place, damage.why),
            other => panic!("{other:?}"),
        };
        Objects::new("f", input, &options).map(told).collect()
    }

    #[test]
    fn objects_are_found_in_arrays_and_over_lines() {
        let rows = serde_json::json!([{"id": "a", "text": "{[\"\\"}, {"text": "two ]}", "m": [[1], {"x": "}"}]}]);
        let expected = ["a {[\"\\", "f#2 two ]}"];
        for file in [
            rows.to_string(),
            serde_json::to_string_pretty(&rows).unwrap(),
            format!("{}\n{}", serde_json::to_string_pretty(&rows[0]).unwrap(), rows[1]),
            format!("{}{}", rows[0], rows[1]),
            format!("[{}]\u{feff}[{},]", rows[0], rows[1]),
        ] {
            for buffer in [1, 3, 1000] {
                assert_eq!(read(&file, buffer), expected, "{file}");
            }
        }
        assert!(read("[]", 10).is_empty());
    }

    #[test]
    fn behind_a_fault_the_next_object_is_read() {
        use super::super::stream::Stream;
        use super::super::stream::tests::{assert_read_on, gzip};
        let rows = |numbers: std::ops::Range<u32>, space: &str| -> String {
            let row =
                |number| format!(",{space}{{\"id\":{number},{space}\"text\":\"a {number}\",\"m\":[{{\"x\":1}}]}}");
            numbers.map(row).collect()
        };
        for space in ["", " ", "\n  "] {
            let parts = [format!("[{}", &rows(0..40, space)[1..]), rows(40..80, space), rows(80..120, space) + "]"];
            let parts = parts.map(|part| gzip(part.as_bytes()));
            let mut damaged = parts[1].clone();
            let middle = damaged.len() / 2;
            damaged[middle] ^= 0x55;
            let options = options();
            let file = [&parts[0][..], &damaged, &parts[2]].concat();
            assert_read_on(Objects::new("f", Stream::new(&file[..]), &options), |number| format!("a {number}"), 81);
        }
        // The next member begins with an object.
        let parts = ["[{\"text\":\"a\"},", "{\"text\":\"b\"},", "{\"text\":\"c\"}]"].map(|part| gzip(part.as_bytes()));
        let file = [&parts[0][..], &parts[1][..parts[1].len() - 3], &parts[2]].concat();
        let options = options();
        let items: Vec<InputItem> = Objects::new("f", Stream::new(&file[..]), &options).collect();
        assert!(matches!(items.last(), Some(InputItem::Answer(last)) if last.fetched.body == b"c"), "{items:?}");
    }

    #[test]
    fn what_is_no_object_costs_itself_only_and_a_cut_is_told() {
        for buffer in [1, 7, 1000] {
            let found =
                read("[\"x\", 1, {\"id\":1,\"text\":\"a\"}, [2], {\"id\":2,\"text\":\"b\"}, }, {\"id\":3", buffer);
            assert_eq!(found.len(), 7, "{found:?}");
            assert_eq!([&found[2], &found[4]], ["1 a", "2 b"]);
            assert!(found[0].contains("f, element 1: no JSON object"), "{found:?}");
            assert_eq!(found[6], "f, element 7: the last element does not end; the rest of the file is not read");
        }
        assert_eq!(
            read("[{\"id\":1,\"text\":\"a\"},", 10)[1],
            "f, element 2: the array does not end; the rest of the file is not read"
        );
    }
}
