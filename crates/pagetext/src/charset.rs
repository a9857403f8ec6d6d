//! Which character encoding has this page?
//!
//! The order is that of browsers (WHATWG HTML, section 13.2.3): byte order mark, then the charset of `Content-Type`,
//! then what the document declares, then a detector. Two things differ:
//!
//! - A label that the bytes refute is passed over ([`evidence`]), so that its text is readable.
//! - UTF-16 without a byte order mark is known by its zero bytes.
//! - UTF-32 with a byte order mark is read. No browser does so any more; as UTF-16 it would be no text.

mod declared;
mod evidence;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use memchr::memchr;

use super::model::media_type::charset_parameter;

/// Bytes that the detector reads: enough for a sure guess, few enough to be cheap.
const DETECTOR_BYTES: usize = 64 * 1024;
/// Bytes of plain ASCII that the detector reads before the first byte that is none.
const BEFORE_FIRST: usize = 1024;
/// Bytes of the longest label that is recorded.
const LONGEST_LABEL: usize = 40;

/// How a text declares its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Html,
    Xml,
    /// It can't.
    Plain,
}

/// A decoded document.
pub(super) struct Decoded<'a> {
    /// Its text; bytes that cannot be decoded are U+FFFD.
    pub text: Cow<'a, str>,
    pub encoding: &'static Encoding,
    /// The encoding that its server or the document itself declares: its WHATWG name, or the label if it names none.
    pub declared: Option<Cow<'static, str>>,
    /// Whether no declaration was believed.
    pub is_guess: bool,
}

/// Decodes a document. `top_level_domain` (`de`, `jp`) helps the detector.
pub(super) fn decode<'a>(
    body: &'a [u8],
    content_type: Option<&str>,
    syntax: Syntax,
    top_level_domain: Option<&str>,
) -> Decoded<'a> {
    if let Some((text, name)) = utf_32(body) {
        return Decoded {
            text: Cow::Owned(text),
            encoding: UTF_8,
            declared: Some(Cow::Borrowed(name)),
            is_guess: false,
        };
    }
    let label = content_type.and_then(charset_parameter);
    let by_server = label.as_deref().and_then(|label| Encoding::for_label(label.as_bytes()));
    let mut unread = Unread { body, syntax, by_document: None };
    let found = encoding_of(&mut unread, by_server);
    let (text, encoding, is_guess) = found.unwrap_or_else(|| {
        let encoding = detect(body, syntax, top_level_domain);
        let text = evidence::fitting(encoding, body).unwrap_or_else(|| encoding.decode_without_bom_handling(body).0);
        (text, encoding, true)
    });
    let known = by_server.or_else(|| unread.declared());
    let declared = match known {
        Some(known) => Some(Cow::Borrowed(known.name())),
        None => label.map(|label| Cow::Owned(label.chars().take(LONGEST_LABEL).collect())),
    };
    Decoded { text, encoding, declared, is_guess }
}

/// A document whose declaration is looked for once, if at all.
struct Unread<'a> {
    body: &'a [u8],
    syntax: Syntax,
    by_document: Option<Option<&'static Encoding>>,
}

impl Unread<'_> {
    fn declared(&mut self) -> Option<&'static Encoding> {
        let (body, syntax) = (self.body, self.syntax);
        *self.by_document.get_or_insert_with(|| match syntax {
            Syntax::Plain => None,
            Syntax::Html | Syntax::Xml => declared::in_document(body, syntax == Syntax::Xml),
        })
    }
}

/// Returns the text by the first declaration that it fits, and whether it is a guess all the same.
fn encoding_of<'a>(
    document: &mut Unread<'a>,
    by_server: Option<&'static Encoding>,
) -> Option<(Cow<'a, str>, &'static Encoding, bool)> {
    let body = document.body;
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        let rest = &body[mark..];
        // A mark is nothing that happens by chance.
        return Some((encoding.decode_without_bom_handling(rest).0, encoding, false));
    }
    if let Some(encoding) = evidence::utf_16(body) {
        return Some((encoding.decode_without_bom_handling(body).0, encoding, by_server != Some(encoding)));
    }
    let fitting = |encoding| evidence::fitting(encoding, body).map(|text| (text, encoding, false));
    by_server.and_then(fitting).or_else(|| document.declared().and_then(fitting))
}

/// Returns the text behind a byte order mark of UTF-32, and which it was.
fn utf_32(body: &[u8]) -> Option<(String, &'static str)> {
    let (units, _) = body.as_chunks::<4>();
    let (read, name): (fn([u8; 4]) -> u32, _) = match units.first()? {
        [0xff, 0xfe, 0, 0] => (u32::from_le_bytes, "UTF-32LE"),
        [0, 0, 0xfe, 0xff] => (u32::from_be_bytes, "UTF-32BE"),
        _ => return None,
    };
    let character = |unit: &[u8; 4]| char::from_u32(read(*unit)).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((units[1..].iter().map(character).collect(), name))
}

fn detect(body: &[u8], syntax: Syntax, top_level_domain: Option<&str>) -> &'static Encoding {
    // Pure ASCII reads the same in any encoding; it gets the name that browsers give it. ISO-2022-JP has escapes.
    if body.is_ascii() && memchr(0x1b, body).is_none() {
        return if syntax == Syntax::Xml { UTF_8 } else { WINDOWS_1252 };
    }
    // XML without a declaration is UTF-8 (XML 1.0, section 4.3.3), and so is anything that decodes as UTF-8.
    if !body.is_ascii() && evidence::utf_8(body).is_some() {
        return UTF_8;
    }
    let first = body.iter().position(|byte| !byte.is_ascii()).unwrap_or(0).saturating_sub(BEFORE_FIRST);
    let window = &body[first..body.len().min(first + DETECTOR_BYTES)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(window, first + window.len() == body.len());
    detector.guess(top_level_domain.map(str::as_bytes), Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(body: &[u8], content_type: Option<&str>) -> &'static str {
        decode(body, content_type, Syntax::Html, None).encoding.name()
    }

    #[test]
    fn a_byte_order_mark_beats_the_header_and_the_header_beats_the_document() {
        let document = b"<meta charset=koi8-r>";
        assert_eq!(name(document, None), "KOI8-R");
        assert_eq!(name(document, Some("text/html; charset=\"ISO-8859-5\"")), "ISO-8859-5");
        assert_eq!(name(b"\xef\xbb\xbf<meta charset=koi8-r>", Some("text/html; charset=big5")), "UTF-8");
        assert_eq!(decode(b"\xef\xbb\xbfabc", None, Syntax::Html, None).text, "abc");
    }

    #[test]
    fn utf_32_is_known_by_its_mark() {
        let text = "<p>\u{7f51} caf\u{e9} \u{1f600}";
        for (name, bytes) in [("UTF-32LE", u32::to_le_bytes as fn(u32) -> [u8; 4]), ("UTF-32BE", u32::to_be_bytes)] {
            let units = std::iter::once('\u{feff}').chain(text.chars()).chain(['x']);
            let mut body: Vec<u8> = units.flat_map(|c| bytes(c as u32)).collect();
            body.truncate(body.len() - 1);
            let decoded = decode(&body, Some("text/html; charset=utf-8"), Syntax::Html, None);
            assert_eq!((&*decoded.text, decoded.declared.as_deref()), (text, Some(name)));
        }
        // In UTF-16 a text may begin with U+0000.
        assert_eq!(decode(b"\xff\xfe\0", None, Syntax::Html, None).encoding.name(), "UTF-16LE");
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

    /// What was declared, what was used, and the text.
    fn read(body: &[u8], content_type: &str, syntax: Syntax) -> (Option<String>, &'static str, String) {
        let decoded = decode(body, Some(content_type).filter(|line| !line.is_empty()), syntax, None);
        (decoded.declared.map(Cow::into_owned), decoded.encoding.name(), decoded.text.into_owned())
    }

    #[test]
    fn a_label_that_the_bytes_refute_is_passed_over_and_recorded() {
        let chinese = "网页去重是搜索引擎的一项基本工作,每天都有新的文章需要处理。";
        let (gbk, _, _) = encoding_rs::GBK.encode(chinese);
        for syntax in [Syntax::Html, Syntax::Xml, Syntax::Plain] {
            let (declared, used, text) = read(&gbk, "text/html; charset=UTF-8", syntax);
            assert_eq!((declared.as_deref(), used, &*text), (Some("UTF-8"), "GBK", chinese));
        }
        let latin = read(b"caf\xe9 na\xefve", "text/html; charset=utf-8", Syntax::Html);
        assert_eq!(latin, (Some("UTF-8".to_owned()), "windows-1252", "café naïve".to_owned()));
        let utf_8 = read("Größe".as_bytes(), "text/html; charset=iso-8859-1", Syntax::Html);
        assert_eq!(utf_8, (Some("windows-1252".to_owned()), "UTF-8", "Größe".to_owned()));
    }

    #[test]
    fn of_two_declarations_the_one_that_fits_counts() {
        let (body, _, _) = encoding_rs::WINDOWS_1251.encode("<meta charset=windows-1251><p>Это обычный русский текст.");
        let (declared, used, text) = read(&body, "text/html; charset=utf-8", Syntax::Html);
        assert_eq!((declared.as_deref(), used), (Some("UTF-8"), "windows-1251"));
        assert!(text.ends_with("Это обычный русский текст."));
        let latin = "text/html; charset=iso-8859-1";
        assert_eq!(read(&body, latin, Syntax::Html).1, "windows-1251", "no Latin text has such runs");
        let (french, _, _) = WINDOWS_1252.encode("<meta charset=koi8-r><p>Le café était fermé.");
        assert_eq!(read(&french, latin, Syntax::Html).1, "windows-1252", "the server comes first");
    }

    #[test]
    fn a_declaration_behind_the_prescanned_bytes_beats_a_guess() {
        let late = |before: &str, meta: &str| format!("<head>{before}{meta}<title>C\u{153}ur: 20 \u{20ac}</title>");
        let style = format!("<style>{}</style>", "p{margin:0}".repeat(200));
        let encoded = |html: &str| encoding_rs::ISO_8859_15.encode(html).0.into_owned();
        for meta in
            ["<meta charset=iso-8859-15>", "<META HTTP-EQUIV=Content-Type CONTENT='text/html; CHARSET=ISO-8859-15'>"]
        {
            let (declared, used, text) = read(&encoded(&late(&style, meta)), "", Syntax::Html);
            assert_eq!((declared.as_deref(), used), (Some("ISO-8859-15"), "ISO-8859-15"));
            assert!(text.contains("Cœur: 20 €"));
        }
        for hidden in [
            "<script>'<meta charset=koi8-r>'</script>",
            "<!-- <meta charset=koi8-r> -->",
            "<textarea><meta charset=koi8-r></textarea>",
        ] {
            let html = late(&(style.clone() + hidden), "<meta charset=iso-8859-15>");
            assert_eq!(read(&encoded(&html), "", Syntax::Html).1, "ISO-8859-15", "{hidden}");
        }
        let plain = late(&style, "<meta charset=koi8-r>");
        assert_ne!(read(&encoded(&plain), "", Syntax::Plain).1, "KOI8-R", "a text about HTML declares nothing");
    }

    #[test]
    fn utf_16_without_a_mark_is_read_whatever_is_said_of_it() {
        let html = "<html><title>Über uns</title><p>Ein Text.</html>";
        let little: Vec<u8> = html.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = html.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (body, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
            for content_type in
                ["", "text/html; charset=utf-16", "text/html; charset=utf-8", "text/html; charset=latin1"]
            {
                let (_, used, text) = read(&body, content_type, Syntax::Html);
                assert_eq!((used, &*text), (name, html), "{content_type}");
            }
        }
        let (declared, used, _) = read(b"<p>plain text", "text/html; charset=utf-16", Syntax::Html);
        assert_eq!((declared.as_deref(), used), (Some("UTF-16LE"), "windows-1252"));
    }

    #[test]
    fn a_label_without_a_decoder_does_not_empty_the_page() {
        for label in ["iso-2022-kr", "hz-gb-2312", "utf8mb4", "none"] {
            let (declared, _, text) = read(b"<p>plain text", &format!("text/html; charset={label}"), Syntax::Html);
            assert_eq!(text, "<p>plain text", "{label}");
            assert_eq!(declared.as_deref(), Some(if label.contains('2') { "replacement" } else { label }));
        }
        let (japanese, _, _) = encoding_rs::ISO_2022_JP.encode("検索エンジンは毎日新しいページを読みます。");
        assert_eq!(name(&japanese, None), "ISO-2022-JP");
    }

    #[test]
    fn text_far_behind_plain_ascii_is_looked_at() {
        let far = [&b"<p>plain</p>".repeat(20_000)[..], b"caf\xe9, na\xefve, d\xe9j\xe0 vu"].concat();
        assert_eq!(name(&far, None), "windows-1252");
    }
}
