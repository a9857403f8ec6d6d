//! Which encoding does a header line or a document declare?

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::memmem;

use crate::model::media_type::first_label;
use crate::names::Name;
use crate::tokenizer::{Lexer, RawText, Tag, Token};

/// Bytes that are searched for a declaration inside the document (WHATWG HTML, 13.2.3.2).
const PRESCAN_BYTES: usize = 1024;

/// Returns the encoding label in the `content` of a `meta` element (WHATWG HTML, "extracting a character
/// encoding from a meta element").
fn charset_in_content(content: &str) -> Option<String> {
    let lower = content.to_ascii_lowercase();
    let mut found = lower.match_indices("charset");
    let value = found.find_map(|(at, name)| lower[at + name.len()..].trim_start().strip_prefix('='))?;
    first_label(value)
}

/// Returns the encoding that the document declares.
///
/// The prescan of its first bytes comes first, then a `meta` element further behind: a parser that meets one while
/// the encoding is a guess changes the encoding (WHATWG HTML, sections 13.2.3.5 and 13.2.6.4.4).
pub(super) fn in_document(body: &[u8], is_xml: bool) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    let first = if is_xml { xml_declaration(head).or_else(|| prescan(head)) } else { prescan(head) };
    let found = first.or_else(|| xml_declaration(head)).or_else(|| late_meta(body))?;
    Some(readable_as_ascii(found))
}

/// Returns the encoding that a declaration in ASCII can mean.
///
/// One of UTF-16 that is readable as ASCII is wrong and means UTF-8 (WHATWG HTML, "prescan a byte stream to determine
/// its encoding").
fn readable_as_ascii(found: &'static Encoding) -> &'static Encoding {
    match found {
        utf_16 if utf_16 == UTF_16BE || utf_16 == UTF_16LE => UTF_8,
        user_defined if user_defined == X_USER_DEFINED => WINDOWS_1252,
        other => other,
    }
}

fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head);
    let declaration = head.trim_start().strip_prefix("<?xml")?.split("?>").next()?;
    let value = declaration.split("encoding").nth(1)?.trim_start().strip_prefix('=')?;
    Encoding::for_label(first_label(value)?.as_bytes())
}

/// Returns the encoding of the first `meta` that names one behind the prescanned bytes, outside of comments and raw
/// text.
fn late_meta(body: &[u8]) -> Option<&'static Encoding> {
    // Few pages have one, so the others are not tokenized for it.
    let rest = body.get(PRESCAN_BYTES..)?;
    if memmem::find(rest, b"harset").is_none() && memmem::find(rest, b"HARSET").is_none() {
        return None;
    }
    // Markup is ASCII in all encodings that can be declared so.
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(body);
    let mut lexer = Lexer::new(&text);
    let mut tag = Tag::default();
    loop {
        match lexer.next(&mut tag, false) {
            Token::Start if tag.name == Name::Meta => {
                let named = |name: &str| tag.get(name).map(|value| value.to_ascii_lowercase().into_bytes());
                if let Some(found) = meta_encoding(named) {
                    return Some(found);
                }
            }
            Token::Start => {
                if let Some(kind) = RawText::of(tag.name) {
                    lexer.raw_text(kind, tag.written);
                }
            }
            Token::Eof => return None,
            _ => {}
        }
    }
}

/// Finds `meta` elements outside comments: the prescan of WHATWG HTML, section 13.2.3.2.
fn prescan(head: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    while at < head.len() {
        let rest = &head[at..];
        if rest.starts_with(b"<!--") {
            // The comment may end with its own opening dashes: "<!-->".
            at += 2 + find(&rest[2..], b"-->")? + 3;
        } else if starts_with_name(rest, b"<meta") {
            let (attributes, used) = attributes(&rest[5..]);
            // A tag without an end is no tag.
            rest.get(5 + used)?;
            let named = |name: &str| {
                let found = attributes.iter().find(|(known, _)| known == name.as_bytes());
                found.map(|(_, value)| value.clone())
            };
            if let Some(encoding) = meta_encoding(named) {
                return Some(encoding);
            }
            at += 5 + used;
        } else if is_tag(rest) {
            let name = rest.iter().position(|b| b.is_ascii_whitespace() || *b == b'>')?;
            let (_, used) = attributes(&rest[name..]);
            at += name + used.max(1);
        } else if rest.starts_with(b"<!") || rest.starts_with(b"</") || rest.starts_with(b"<?") {
            at += find(rest, b">")? + 1;
        } else {
            at += 1;
        }
    }
    None
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn starts_with_name(rest: &[u8], name: &[u8]) -> bool {
    rest.len() > name.len()
        && rest[..name.len()].eq_ignore_ascii_case(name)
        && (rest[name.len()].is_ascii_whitespace() || rest[name.len()] == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    let name = rest.strip_prefix(b"</").or_else(|| rest.strip_prefix(b"<"));
    name.and_then(<[u8]>::first).is_some_and(u8::is_ascii_alphabetic)
}

/// A name and a value, both in lower case.
type Attribute = (Vec<u8>, Vec<u8>);

/// Returns the attributes up to the end of the tag, and the bytes read.
fn attributes(tag: &[u8]) -> (Vec<Attribute>, usize) {
    let mut found: Vec<Attribute> = Vec::new();
    let mut at = 0;
    loop {
        at += run(&tag[at..], |b| b.is_ascii_whitespace() || b == b'/');
        if at >= tag.len() || tag[at] == b'>' {
            return (found, at);
        }
        // An equals sign at the start belongs to the name.
        let length = 1 + run(&tag[at + 1..], |b| !b.is_ascii_whitespace() && !matches!(b, b'/' | b'>' | b'='));
        let name = tag[at..at + length].to_ascii_lowercase();
        at += length;
        let space = run(&tag[at..], |b| b.is_ascii_whitespace());
        let mut value = Vec::new();
        if tag.get(at + space) == Some(&b'=') {
            at += space + 1;
            at += run(&tag[at..], |b| b.is_ascii_whitespace());
            let (read, used) = attribute_value(&tag[at..]);
            value = read;
            at += used;
        }
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, value));
        }
    }
}

fn attribute_value(tag: &[u8]) -> (Vec<u8>, usize) {
    match tag.first() {
        Some(&quote @ (b'"' | b'\'')) => {
            let length = run(&tag[1..], |b| b != quote);
            (tag[1..1 + length].to_ascii_lowercase(), (length + 2).min(tag.len()))
        }
        _ => {
            let length = run(tag, |b| !b.is_ascii_whitespace() && b != b'>');
            (tag[..length].to_ascii_lowercase(), length)
        }
    }
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !belongs(b)).unwrap_or(bytes.len())
}

fn meta_encoding(value: impl Fn(&str) -> Option<Vec<u8>>) -> Option<&'static Encoding> {
    if let Some(label) = value("charset") {
        return Encoding::for_label(&label);
    }
    if value("http-equiv")? != b"content-type" {
        return None;
    }
    let content = String::from_utf8_lossy(&value("content")?).into_owned();
    Encoding::for_label(charset_in_content(&content)?.as_bytes())
}
