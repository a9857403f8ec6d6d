//! Reads single fields out of a JSON object, leniently.
//!
//! A parser of whole values refuses a page because of a field that nobody asked for: `NaN` and `Infinity`, as Python
//! writes them, numbers beyond the range, half of a surrogate pair, bytes that are no UTF-8, deep nesting. This reader
//! looks at the wanted fields only and steps over all others, without recursion. In texts, U+FFFD stands for what is no
//! character, as in HTML. If a key comes twice, the last one counts, as in other parsers.
//!
//! No crate does this: those that accept `NaN` refuse invalid UTF-8 or build the whole value first.

use std::borrow::Cow;

use super::field_path::{FieldPath, text_of, walk};

/// The value of a wanted field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JsonCell<'a> {
    Text(Cow<'a, str>),
    /// A number, a truth value or another word, as it stands there.
    Word(&'a str),
    /// An object or array, as it stands there.
    Nested(&'a [u8]),
    /// An array, as it stands there, into each element of which the path goes on.
    Each(&'a [u8], Vec<String>),
}

/// Why a text is no JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonError {
    /// The offset in bytes.
    pub at: usize,
    pub what: &'static str,
    /// The field whose value was being read.
    pub field: Option<String>,
    /// Whether more text could complete the object.
    pub is_end: bool,
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no JSON object: {} at byte {}", self.what, self.at + 1)?;
        match &self.field {
            Some(field) => write!(f, ", in the field '{field}'"),
            None => Ok(()),
        }
    }
}

/// The fields that are looked for, as a tree of names.
#[derive(Clone, Debug, Default)]
pub(super) struct WantedFields {
    root: Node,
    count: usize,
    /// Whether a field was there, be it null, by number.
    pub seen: std::cell::RefCell<Vec<bool>>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    children: Vec<(String, Node)>,
    /// The fields that end here, by number, and whether by their plain names.
    fields: Vec<(usize, bool)>,
}

impl Node {
    fn child(&mut self, name: &str) -> &mut Node {
        let at = self.children.iter().position(|(other, _)| other == name).unwrap_or_else(|| {
            self.children.push((name.to_owned(), Node::default()));
            self.children.len() - 1
        });
        &mut self.children[at].1
    }
}

impl WantedFields {
    /// Looks for these fields. The number of a field is its place here.
    pub fn new<'p>(fields: impl IntoIterator<Item = &'p FieldPath>) -> Self {
        let mut wanted = Self::default();
        for (number, field) in fields.into_iter().enumerate() {
            wanted.root.child(&field.plain).fields.push((number, true));
            if field.steps.len() > 1 || field.steps[0] != field.plain {
                field.steps.iter().fold(&mut wanted.root, |node, step| node.child(step)).fields.push((number, false));
            }
            wanted.count = number + 1;
        }
        wanted.seen = vec![false; wanted.count].into();
        wanted
    }

    /// Reads the object at the start of a text. Returns a cell for each field (`None`: not there, or null), and the
    /// length of the object.
    pub fn read<'a>(&self, text: &'a [u8]) -> Result<(Vec<Option<JsonCell<'a>>>, usize), JsonError> {
        let mut reader = Reader { text, at: 0, field: None };
        let none = || vec![false; self.count];
        let mut cells = Cells { cells: vec![None; self.count], is_plain: none(), is_there: none() };
        match reader.object(&self.root, &mut cells) {
            Ok(()) => {
                let mut seen = self.seen.borrow_mut();
                seen.iter_mut().zip(&cells.is_there).for_each(|(seen, is_there)| *seen |= is_there);
                Ok((cells.cells, reader.at))
            }
            Err((what, is_end)) => Err(JsonError { at: reader.at, what, is_end, field: reader.field }),
        }
    }
}

struct Cells<'a> {
    cells: Vec<Option<JsonCell<'a>>>,
    /// Whether a cell was found by its plain name.
    is_plain: Vec<bool>,
    /// Whether there is one, be it null.
    is_there: Vec<bool>,
}

/// What is wrong, and whether more text could mend it.
type Fault = (&'static str, bool);

const CUT: Fault = ("it does not end", true);

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    field: Option<String>,
}

impl<'a> Reader<'a> {
    fn object(&mut self, node: &Node, cells: &mut Cells<'a>) -> Result<(), Fault> {
        self.members(|reader| reader.member(node, cells))
    }

    /// Steps through an object. `read` reads each member.
    fn members(&mut self, mut read: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.space();
        self.expect(b'{', "it does not begin with '{'")?;
        loop {
            self.space();
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                // Also where it should not be.
                b',' => self.at += 1,
                b'"' => read(self)?,
                _ => return Err(("a name in quotes is missing", false)),
            }
        }
    }

    /// Reads the name of a member, up to its value.
    fn name(&mut self) -> Result<RawString<'a>, Fault> {
        let name = self.string()?;
        self.space();
        self.expect(b':', "':' is missing")?;
        self.space();
        Ok(name)
    }

    fn member(&mut self, node: &Node, cells: &mut Cells<'a>) -> Result<(), Fault> {
        let name = self.name()?;
        let child = node.children.iter().find(|(child, _)| child.as_bytes() == name.bytes().as_ref());
        let Some((_, child)) = child else {
            return self.skip().inspect_err(|_| self.field = Some(name.text().into_owned()));
        };
        let result = self.wanted(child, cells);
        if result.is_err() && self.field.is_none() {
            self.field = Some(name.text().into_owned());
        }
        result
    }

    /// Reads the value of a name that is wanted, or on the way to what is wanted.
    fn wanted(&mut self, child: &Node, cells: &mut Cells<'a>) -> Result<(), Fault> {
        if self.peek()? == b'{' && !child.children.is_empty() {
            let from = self.at;
            self.object(child, cells)?;
            let value = JsonCell::Nested(&self.text[from..self.at]);
            set(cells, &child.fields, Some(value));
            return Ok(());
        }
        if self.peek()? == b'[' && !child.children.is_empty() {
            let from = self.at;
            self.skip()?;
            set_each(cells, child, &self.text[from..self.at], &[]);
            return Ok(());
        }
        let value = match self.peek()? {
            b'"' => Some(JsonCell::Text(self.string()?.text())),
            b'{' | b'[' => {
                let from = self.at;
                self.skip()?;
                Some(JsonCell::Nested(&self.text[from..self.at]))
            }
            _ => Some(self.word()?).filter(|word| *word != "null").map(JsonCell::Word),
        };
        set(cells, &child.fields, value);
        Ok(())
    }

    /// Steps over a value.
    fn skip(&mut self) -> Result<(), Fault> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' | b'[' => self.skip_nested(),
            _ => self.word().map(drop),
        }
    }

    fn skip_nested(&mut self) -> Result<(), Fault> {
        let mut depth = 0usize;
        loop {
            let rest = &self.text[self.at..];
            let next = rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'));
            self.at += next.unwrap_or(rest.len());
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> Result<&'a str, Fault> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        self.at += length;
        match std::str::from_utf8(&rest[..length]) {
            Ok(word) if !word.is_empty() => Ok(word),
            _ => Err(("a value is missing", false)),
        }
    }

    fn string(&mut self) -> Result<RawString<'a>, Fault> {
        self.at += 1;
        let from = self.at;
        let mut has_escapes = false;
        loop {
            let Some(next) = memchr::memchr2(b'"', b'\\', &self.text[self.at..]) else {
                self.at = self.text.len();
                return Err(("a text does not end", true));
            };
            self.at += next;
            if self.text[self.at] == b'"' {
                self.at += 1;
                return Ok(RawString { bytes: &self.text[from..self.at - 1], has_escapes });
            }
            has_escapes = true;
            // The escaped character, which may be a quote.
            self.at = (self.at + 2).min(self.text.len());
        }
    }

    fn space(&mut self) {
        // A record separator (RFC 7464) may stand before an object.
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x1e);
        self.at += self.text[self.at..].iter().take_while(is_space).count();
    }

    fn peek(&self) -> Result<u8, Fault> {
        self.text.get(self.at).copied().ok_or(CUT)
    }

    fn expect(&mut self, byte: u8, otherwise: &'static str) -> Result<(), Fault> {
        match self.peek()? {
            found if found == byte => {
                self.at += 1;
                Ok(())
            }
            _ => Err((otherwise, false)),
        }
    }
}

fn set<'a>(cells: &mut Cells<'a>, fields: &[(usize, bool)], value: Option<JsonCell<'a>>) {
    for &(number, is_plain) in fields {
        cells.is_there[number] = true;
        if is_plain || !cells.is_plain[number] {
            cells.cells[number].clone_from(&value);
            cells.is_plain[number] = is_plain;
        }
    }
}

/// Sets the fields below an array, each with the rest of its path.
fn set_each<'a>(cells: &mut Cells<'a>, node: &Node, array: &'a [u8], steps: &[String]) {
    let cell = if steps.is_empty() { JsonCell::Nested(array) } else { JsonCell::Each(array, steps.to_vec()) };
    set(cells, &node.fields, Some(cell));
    for (name, child) in &node.children {
        set_each(cells, child, array, &[steps, std::slice::from_ref(name)].concat());
    }
}

/// Returns the names of the fields of the object at the start of a text, as far as they can be read.
pub(super) fn names(text: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let _ = Reader { text, at: 0, field: None }.members(|reader| {
        names.push(reader.name()?.text().into_owned());
        reader.skip()
    });
    names
}

/// Returns where the first array of objects begins among the fields of an object.
pub(super) fn array_of_objects(text: &[u8]) -> Option<usize> {
    let mut found = None;
    let _ = Reader { text, at: 0, field: None }.members(|reader| {
        reader.name()?;
        let inside = text[reader.at..].strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
        if inside.is_some_and(|inside| inside.starts_with(b"{")) {
            found = Some(reader.at);
            return Err(("it is found", false));
        }
        reader.skip()
    });
    found
}

/// The bytes between two quotes.
struct RawString<'a> {
    bytes: &'a [u8],
    has_escapes: bool,
}

impl<'a> RawString<'a> {
    fn bytes(&self) -> Cow<'a, [u8]> {
        if self.has_escapes { Cow::Owned(unescaped(self.bytes)) } else { Cow::Borrowed(self.bytes) }
    }

    fn text(&self) -> Cow<'a, str> {
        match self.bytes() {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..next]);
        rest = &rest[next..];
        let plain = match rest.get(1) {
            Some(b'u') => {
                let (character, length) = code_point(rest);
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[length..];
                continue;
            }
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(&other) => other,
            None => b'\\',
        };
        out.push(plain);
        rest = rest.get(2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// Reads `\uXXXX` or a pair of them. Returns the character and the length of its text.
fn code_point(text: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6).filter(|digits| digits.starts_with(b"\\u"))?;
        u32::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let is_hexadecimal = text.get(2..6).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let Some(first) = unit(0).filter(|_| is_hexadecimal) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if let (0xd800..0xdc00, Some(second @ 0xdc00..0xe000)) = (first, unit(6)) {
        let point = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

impl JsonCell<'_> {
    /// Returns the value as a name: a text or number.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Word(word) => {
                word.starts_with(|c: char| c.is_ascii_digit() || c == '-').then_some(Cow::Borrowed(*word))
            }
            Self::Nested(_) | Self::Each(..) => None,
        }
    }

    /// Returns the value as a text. The texts of an array stand on lines of their own.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Word(_) => None,
            Self::Nested(nested) => lines(nested).map(Cow::Owned),
            Self::Each(..) => text_of(&self.value()).map(Cow::Owned),
        }
    }

    /// Returns the value for another JSON text. What JSON cannot say becomes a text.
    pub fn value(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_ref().into(),
            Self::Word(word) => serde_json::from_str(word).unwrap_or_else(|_| (*word).into()),
            Self::Nested(nested) => {
                serde_json::from_slice(nested).unwrap_or_else(|_| String::from_utf8_lossy(nested).into())
            }
            Self::Each(array, steps) => {
                let array = serde_json::from_slice(array).unwrap_or_default();
                walk(&array, steps).unwrap_or_default()
            }
        }
    }
}

/// Joins an array of texts; `None` if it is something else.
fn lines(array: &[u8]) -> Option<String> {
    let mut reader = Reader { text: array, at: 0, field: None };
    reader.expect(b'[', "").ok()?;
    let mut joined = String::new();
    loop {
        reader.space();
        match reader.peek().ok()? {
            b']' => return Some(joined),
            b',' => reader.at += 1,
            b'"' => {
                let text = reader.string().ok()?;
                if !joined.is_empty() {
                    joined.push('\n');
                }
                joined.push_str(&text.text());
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn wanted(names: &[&str]) -> WantedFields {
        let paths: Vec<FieldPath> = names.iter().map(|name| FieldPath::new(name)).collect();
        WantedFields::new(&paths)
    }

    fn text(object: &[u8], name: &str) -> Option<String> {
        let wanted = wanted(&[name]);
        let (cells, _) = wanted.read(object).unwrap_or_else(|error| panic!("{error}"));
        cells[0].as_ref().and_then(|cell| cell.text().map(Cow::into_owned))
    }

    #[test]
    fn what_is_wrong_elsewhere_does_not_matter() {
        let deep = format!("{}{}", "[{\"a\":".repeat(5000), "}]".repeat(5000));
        for other in [
            "NaN",
            "-Infinity",
            "1e999",
            "123456789012345678901234567890",
            "\"\\ud83d\"",
            "\"\\x\"",
            "\"raw\ttab\"",
            "[\"]\", {\"}\": \"\\\"\"}]",
            "None",
            "undefined",
            deep.as_str(),
        ] {
            let row = format!("{{\"other\": {other}, \"text\": \"found\" , }}");
            assert_eq!(text(row.as_bytes(), "text").as_deref(), Some("found"), "{other}");
        }
        assert_eq!(text(b"\x1e{\"o\":\"Jos\xe9\",\"text\":\"x\"}", "text").as_deref(), Some("x"));
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        let read = |inner: &[u8]| text(&[b"{\"t\":\"", inner, b"\"}"].concat(), "t").unwrap();
        assert_eq!(read(b"a \\ud83d b"), "a \u{fffd} b");
        assert_eq!(read(b"\\ud83d\\ude00\\u00e9\\/\\\"\\n"), "\u{1f600}é/\"\n");
        assert_eq!(read(b"\\ude00\\ud83d\\u0041"), "\u{fffd}\u{fffd}A");
        assert_eq!(read(b"caf\xc3"), "caf\u{fffd}");
        assert_eq!(read(b"nul\\u0000 tab\t"), "nul\0 tab\t");
        assert_eq!(read(b"\\uZZZZ \\u+123 \\u12"), "\u{fffd}ZZZZ \u{fffd}+123 \u{fffd}12");
    }

    #[test]
    fn a_field_is_found_by_name_or_path_and_a_plain_name_comes_first() {
        let row =
            br#"{"metadata":{"url":"nested","x":{"url":"deep"}},"a":{"b":"path"},"a.b":"plain","list":["one","two"]}"#;
        assert_eq!(text(row, "metadata.url").as_deref(), Some("nested"));
        assert_eq!(text(row, "$.metadata.x.url").as_deref(), Some("deep"));
        assert_eq!(text(row, "/a/b").as_deref(), Some("path"));
        assert_eq!(text(row, "a.b").as_deref(), Some("plain"));
        assert_eq!(text(br#"{"a.b":"plain","a":{"b":"path"}}"#, "a.b").as_deref(), Some("plain"));
        assert_eq!(text(row, "list").as_deref(), Some("one\ntwo"));
        assert_eq!(text(row, "metadata"), None);
        assert_eq!(text(br#"{"t":"first","t":"last"}"#, "t").as_deref(), Some("last"));
        assert_eq!(text(br#"{"\u0074":"escaped"}"#, "t").as_deref(), Some("escaped"));
        assert_eq!(text(br#"{"t":null,"o":1}"#, "t"), None);
        let talk = br#"{"messages":[{"role":"user","content":"one"},{"content":"two"}],"messages2":[]}"#;
        assert_eq!(text(talk, "messages[].content").as_deref(), Some("one\ntwo"));
        assert_eq!(text(talk, "$.messages[*].content").as_deref(), Some("one\ntwo"));
        assert_eq!(text(talk, "messages2[].content"), None);
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        for (row, what, is_end) in [
            ("nonsense", "it does not begin with '{' at byte 1", false),
            ("{\"url\": 'x'}", "a value is missing at byte 9, in the field 'url'", false),
            ("{\"url\": \"x", "a text does not end at byte 11, in the field 'url'", true),
            ("{\"url\" \"x\"}", "':' is missing at byte 8", false),
            ("{\"a\": {\"b\": [1, 2}", "it does not end at byte 19, in the field 'a'", true),
            ("{url: 1}", "a name in quotes is missing at byte 2", false),
            ("{", "it does not end at byte 2", true),
            ("", "it does not end at byte 1", true),
        ] {
            let error = wanted(&["url"]).read(row.as_bytes()).unwrap_err();
            assert_eq!((error.to_string(), error.is_end), (format!("no JSON object: {what}"), is_end), "{row}");
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec(("[a-d]|\\PC{0,3}", inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_sound_object_is_read_like_any_parser_reads_it(
            fields in prop::collection::vec(("[a-d]|\\PC{0,3}", any_value()), 0..8),
            is_pretty: bool,
        ) {
            let object = Value::Object(fields.into_iter().collect());
            let row = if is_pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) };
            let row = row.unwrap();
            // Read again: a printed number may be another one by its last digit.
            let object: Value = serde_json::from_str(&row).unwrap();
            let wanted = wanted(&["a", "/b/a", "/c/d/a"]);
            let (cells, length) = wanted.read(row.as_bytes()).unwrap();
            prop_assert_eq!(length, row.len());
            for (cell, pointer) in cells.iter().zip(["a", "/b/a", "/c/d/a"]) {
                let expected = FieldPath::new(pointer).find(&object).unwrap_or_default();
                prop_assert_eq!(cell.as_ref().map_or(json!(null), JsonCell::value), expected);
            }
        }

        #[test]
        fn any_bytes_are_an_object_or_a_fault(bytes in prop::collection::vec(
            prop_oneof![Just(b'"'), Just(b'{'), Just(b'}'), Just(b'\\'), Just(b':'), Just(b','), Just(b'a'), any::<u8>()], 0..60)) {
            let wanted = wanted(&["a", "a.a"]);
            if let Ok((_, length)) = wanted.read(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
