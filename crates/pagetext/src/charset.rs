//! Which character encoding has this page?
//!
//! The order is that of browsers (WHATWG HTML, section 13.2.3): byte order mark, then the charset
//! of `Content-Type`, then what the document declares in its first 1024 bytes, then a detector.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use super::model::media_type::{charset_parameter, first_label};

/// Bytes that are searched for a declaration inside the document (WHATWG HTML, 13.2.3.2).
const PRESCAN_BYTES: usize = 1024;
/// Bytes that the detector reads: enough for a sure guess, few enough to be cheap.
const DETECTOR_BYTES: usize = 64 * 1024;

/// Decodes a document; bytes that cannot be decoded become U+FFFD.
///
/// `top_level_domain` (`de`, `jp`) helps the detector.
pub(super) fn decode<'a>(
    body: &'a [u8],
    content_type: Option<&str>,
    is_xml: bool,
    top_level_domain: Option<&str>,
) -> (Cow<'a, str>, &'static Encoding) {
    let (encoding, mark) = encoding_of(body, content_type, is_xml, top_level_domain);
    let (text, _) = encoding.decode_without_bom_handling(&body[mark..]);
    (text, encoding)
}

/// Returns the encoding and the length of the byte order mark.
fn encoding_of(
    body: &[u8],
    content_type: Option<&str>,
    is_xml: bool,
    top_level_domain: Option<&str>,
) -> (&'static Encoding, usize) {
    if let Some(found) = Encoding::for_bom(body) {
        return found;
    }
    let declared = content_type
        .and_then(charset_parameter)
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .or_else(|| declared(&body[..body.len().min(PRESCAN_BYTES)], is_xml));
    (declared.unwrap_or_else(|| detect(body, is_xml, top_level_domain)), 0)
}

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
/// A declaration of UTF-16 that is readable as ASCII is wrong and means UTF-8 (WHATWG HTML, "prescan a byte stream
/// to determine its encoding").
fn declared(head: &[u8], is_xml: bool) -> Option<&'static Encoding> {
    let found = if is_xml { xml_declaration(head).or_else(|| prescan(head)) } else { prescan(head) };
    let found = found.or_else(|| if is_xml { None } else { xml_declaration(head) })?;
    if found == UTF_16BE || found == UTF_16LE {
        return Some(UTF_8);
    }
    Some(if found == X_USER_DEFINED { WINDOWS_1252 } else { found })
}

fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head);
    let declaration = head.trim_start().strip_prefix("<?xml")?.split("?>").next()?;
    let value = declaration.split("encoding").nth(1)?.trim_start().strip_prefix('=')?;
    Encoding::for_label(first_label(value)?.as_bytes())
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
            if let Some(encoding) = meta_encoding(&attributes) {
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

fn meta_encoding(attributes: &[Attribute]) -> Option<&'static Encoding> {
    let value = |name: &[u8]| attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_slice());
    if let Some(label) = value(b"charset") {
        return Encoding::for_label(label);
    }
    if value(b"http-equiv")? != b"content-type" {
        return None;
    }
    let content = String::from_utf8_lossy(value(b"content")?).into_owned();
    Encoding::for_label(charset_in_content(&content)?.as_bytes())
}

fn detect(body: &[u8], is_xml: bool, top_level_domain: Option<&str>) -> &'static Encoding {
    // Pure ASCII reads the same in any encoding; it gets the name that browsers give it.
    if !is_xml && body.is_ascii() {
        return WINDOWS_1252;
    }
    let head = &body[..body.len().min(DETECTOR_BYTES)];
    // XML without a declaration is UTF-8 (XML 1.0, section 4.3.3), and so is anything that decodes as UTF-8.
    if is_xml || valid_utf8_prefix(head) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(head, head.len() == body.len());
    detector.guess(top_level_domain.map(str::as_bytes), Utf8Detection::Allow)
}

/// Returns whether this is UTF-8, apart from a character that is cut at the end.
fn valid_utf8_prefix(head: &[u8]) -> bool {
    match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(body: &[u8], content_type: Option<&str>) -> &'static str {
        encoding_of(body, content_type, false, None).0.name()
    }

    #[test]
    fn a_byte_order_mark_beats_the_header_and_the_header_beats_the_document() {
        let document = b"<meta charset=koi8-r>";
        assert_eq!(name(document, None), "KOI8-R");
        assert_eq!(name(document, Some("text/html; charset=\"ISO-8859-5\"")), "ISO-8859-5");
        assert_eq!(name(b"\xef\xbb\xbf<meta charset=koi8-r>", Some("text/html; charset=big5")), "UTF-8");
        assert_eq!(decode(b"\xef\xbb\xbfabc", None, false, None).0, "abc");
    }

    #[test]
    fn only_a_parameter_of_that_name_names_the_charset() {
        for (content_type, expected) in [
            ("text/html; charset = koi8-r", Some("koi8-r")),
            ("text/html;Charset='koi8-r'; x=y", Some("koi8-r")),
            ("text/html charset=koi8-r, text/html", Some("koi8-r")),
            ("text/html; a=\"b; charset=big5\"; charset=\"\"; charset=koi8-r", Some("koi8-r")),
            ("text/html; xcharset=koi8-r", None),
            ("text/html; a=\"; charset=koi8-r\"", None),
            ("text/html; charset", None),
            ("text/html; charset=", None),
        ] {
            assert_eq!(charset_parameter(content_type).as_deref(), expected, "{content_type}");
        }
    }

    #[test]
    fn a_document_declares_its_encoding_in_several_ways() {
        let equivalent = b"<META http-equiv=Content-Type content='text/html; charset=euc-kr'>";
        assert_eq!(name(equivalent, None), "EUC-KR");
        assert_eq!(name(b"<!-- <meta charset=big5> --><meta charset=gbk>", None), "GBK");
        assert_eq!(name(b"<p title='<meta charset=big5>'><meta charset=gbk>", None), "GBK");
        assert_eq!(name(b"<meta charset=utf-16le>", None), "UTF-8");
        assert_eq!(name(b"<?xml version='1.0' encoding='windows-1251'?><html>", None), "windows-1251");
    }

    #[test]
    fn an_undeclared_document_is_detected() {
        let (russian, _, _) = encoding_rs::WINDOWS_1251.encode("Это обычный русский текст о погоде и о доме.");
        assert_eq!(name(&russian, None), "windows-1251");
        assert_eq!((name(b"plain", None), name(b"", None)), ("windows-1252", "windows-1252"));
        assert_eq!(name("plain \u{e9}t\u{e9}".as_bytes(), None), "UTF-8");
        assert_eq!(
            decode(b"caf\xe9 na\xefve", Some("text/html; charset=utf-8"), false, None).0,
            "caf\u{fffd} na\u{fffd}ve"
        );
    }

    #[test]
    fn broken_markup_ends_the_prescan_without_a_panic() {
        for head in [&b"<meta charset=big5"[..], b"<meta http-equiv=content-type content='a; charset=\"big5'>"] {
            assert_eq!(name(head, None), "windows-1252");
        }
        for head in
            [&b"<meta"[..], b"<meta ", b"<meta charset", b"<meta charset=", b"<meta charset='", b"<!--", b"<a", b"<"]
        {
            name(head, None);
        }
    }
}
