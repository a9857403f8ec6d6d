//! Tells what a file holds, by its first bytes. The name counts only where bytes cannot tell.

use std::path::Path;

use ndcrawl_fetch::no_text;

use super::by_name::media_type;
use super::{arc, arrow, parquet, wacz};

/// Bytes that are looked at.
pub(super) const MOST_LOOKED_AT: usize = 4096;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Warc,
    Arc,
    /// A zip of archives, as WACZ is.
    Zip,
    Parquet,
    /// Objects of JSON, mostly one a line.
    JsonLines,
    JsonArray,
    /// A table, with this byte between its cells.
    Csv(u8),
    /// One page, of this media type.
    Page(&'static str),
    /// Nothing.
    Empty,
    /// A table of Arrow: a file, as Feather is, or a stream.
    Arrow,
    /// Something that may hold documents and is not read, and what to do about it.
    Unread(&'static str, &'static str),
    /// Nothing that its beginning tells: what it seems to be.
    Unknown(&'static str),
}

/// Whether bytes begin like a format.
type Signature = fn(&[u8]) -> bool;

/// The formats that have a signature, the surest first. The functions get text in UTF-8, without a byte order mark.
const SIGNATURES: &[(Format, Signature)] = &[
    (Format::Warc, |first| first.starts_with(b"WARC/")),
    (Format::Arc, arc::is_arc),
    (Format::Zip, wacz::is_zip),
    (Format::Parquet, |first| first.starts_with(parquet::MAGIC)),
    (Format::Arrow, arrow::is_arrow),
    (Format::Unknown(INDEX), is_cdx),
    (Format::Unread("a pointer of Git LFS", "fetch the file itself: git lfs pull"), |first| {
        first.starts_with(b"version https://git-lfs.github.com/")
    }),
    (Format::Unread("a pointer of git-annex", "fetch the file itself: git annex get"), |first| {
        first.starts_with(b"/annex/objects/") || (first.starts_with(b"../") && contains(first, b"/.git/annex/objects/"))
    }),
    (Format::Unread("a pointer of DVC", "fetch the file itself: dvc pull"), |first| {
        first.starts_with(b"outs:\n- md5: ")
    }),
    (Format::Unread("a tar archive", "unpack it first: tar -xf"), |first| first.get(257..262) == Some(b"ustar")),
    (Format::Unread("7z", "unpack it first: 7z x"), |first| first.starts_with(b"7z\xbc\xaf\x27\x1c")),
    (Format::Unread("a database of SQLite", "export its table as CSV or JSON"), |first| {
        first.starts_with(b"SQLite format 3\0")
    }),
    (Format::Unread("Avro", "convert it to Parquet"), |first| first.starts_with(b"Obj\x01")),
    (Format::Unread("ORC", "convert it to Parquet"), |first| first.starts_with(b"ORC") && !is_printed(first)),
    (Format::Unread("HDF5", "convert it to Parquet"), |first| first.starts_with(b"\x89HDF\r\n\x1a\n")),
    (Format::Unread("Feather of version 1", "write it again as Feather 2 or Parquet"), |first| {
        first.starts_with(b"FEA1")
    }),
    (Format::JsonLines, |first| first.starts_with(b"\x1e") || begins_with(first, b"{", b"\"}")),
    (Format::JsonArray, |first| begins_with(first, b"[", b"{[\"]")),
    (Format::Page("application/xhtml+xml"), is_xhtml),
    (Format::Page("text/html"), is_html),
];

/// What CDX files are.
const INDEX: &str = "an index of archives";

/// The tags, besides a comment, that begin a page (MIME Sniffing Standard, section 7.1), and a few that begin many;
/// separated by bars.
const TAGS: &str = "\
    !doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|\
    meta|link|base|center|h2|span|main|article|frameset|noscript";

/// Returns what a file holds that begins with these bytes and has this name.
pub(super) fn format(first: &[u8], name: &Path) -> Format {
    let text = first.trim_ascii_start();
    if text.is_empty() {
        return Format::Empty;
    }
    if let Some((format, _)) = SIGNATURES.iter().find(|(_, is_it)| is_it(text)) {
        return *format;
    }
    if let Some(media_type) = no_text(first) {
        return Format::Unknown(media_type);
    }
    if let Some(media_type) = media_type(name) {
        return Format::Page(media_type);
    }
    match first {
        _ if text.starts_with(b"<svg") || contains(first, b"<svg") && text.starts_with(b"<?xml") => {
            Format::Unknown("image/svg+xml")
        }
        _ if text.starts_with(b"<?xml") => Format::Unknown("XML"),
        _ if is_binary(first) => Format::Unknown("binary"),
        _ => Format::Unknown("text"),
    }
}

/// Whether what is known of a file says that it holds no words, or documents that are read only if that is wanted.
pub(super) fn is_no_text(what: &str) -> bool {
    let kinds = ["image/", "audio/", "video/", "application/ogg", "application/pdf", INDEX];
    kinds.iter().any(|kind| what.starts_with(kind))
}

/// Whether text begins like an index of archives (CDX, CDXJ): a line of fields, of which the second is a time.
fn is_cdx(text: &[u8]) -> bool {
    let mut fields = text.split(|byte| *byte == b' ');
    let (key, time, next) = (fields.next(), fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    let is_line = time.len() == 14 && time.iter().all(u8::is_ascii_digit) && !next.is_empty();
    key == Some(b"CDX") && time.len() == 1 || is_line && key.is_some_and(|key| contains(key, b")"))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

/// Whether bytes are no text: a zero, or many control characters that no text has (MIME Sniffing Standard, section 7.2).
fn is_binary(first: &[u8]) -> bool {
    let is_control = |byte: &&u8| matches!(byte, 1..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    first.contains(&0) || first.iter().filter(is_control).count() * 32 > first.len()
}

fn is_printed(text: &[u8]) -> bool {
    !text.contains(&0)
}

/// Returns whether text begins with `bracket`, white space, and one of these bytes.
fn begins_with(text: &[u8], bracket: &[u8], next: &[u8]) -> bool {
    let inside = text.strip_prefix(bracket).map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|inside| inside.first().is_none_or(|first| next.contains(first)))
}

/// Returns whether text begins like a page: with a tag or a comment, behind XML declaration and other comments.
fn is_html(text: &[u8]) -> bool {
    let Some(tag) = skip_comments(text) else { return true };
    let Some(tag) = tag.strip_prefix(b"<") else { return false };
    let is_it = |known: &str| {
        tag.get(..known.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(known.as_bytes()))
            && tag.get(known.len()).is_none_or(|end| end.is_ascii_whitespace() || [b'>', b'/'].contains(end))
    };
    TAGS.split('|').any(is_it)
}

/// Returns whether text is XML that holds a page.
fn is_xhtml(text: &[u8]) -> bool {
    text.starts_with(b"<?xml") && {
        let behind = memchr::memmem::find(text, b"?>").map_or(&text[text.len()..], |end| &text[end + 2..]);
        is_html(behind.trim_ascii_start())
    }
}

/// Returns the text behind leading comments; `None` if the first one does not end.
fn skip_comments(mut text: &[u8]) -> Option<&[u8]> {
    while let Some(comment) = text.strip_prefix(b"<!--") {
        let end = memchr::memmem::find(comment, b"-->")?;
        text = comment[end + 3..].trim_ascii_start();
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_and_the_name_helps_where_it_cannot() {
        for (first, name, expected) in [
            (&b"WARC/1.0\r\n"[..], "x.html", Format::Warc),
            (b"  \n{\"url\":1}", "x", Format::JsonLines),
            (b"{ \"url\":1}", "x.txt", Format::JsonLines),
            (b"{}", "x", Format::JsonLines),
            (b"{margin: 0}", "x.css", Format::Unknown("text")),
            (b"PAR1", "x.gz", Format::Parquet),
            (b"PK\x03\x04", "x.docx", Format::Zip),
            (b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 20\n1 0 Maker\n", "x", Format::Arc),
            (b"<!DOCTYPE HTML>", "view.php?id=3", Format::Page("text/html")),
            (b"\n<!-- a --> <!-- b -->\n<HTML lang=en>", "article", Format::Page("text/html")),
            (b"<!-- a very long comment", "article", Format::Page("text/html")),
            (b"<p>hello", "page.asp", Format::Page("text/html")),
            (b"<pre>hello", "page.asp", Format::Unknown("text")),
            (b"words", "INDEX.HTML?page=2", Format::Page("text/html")),
            (b"words", "a.Shtml.gz", Format::Page("text/html")),
            (b"words", "read.TXT", Format::Page("text/plain")),
            (b"words", "read.md", Format::Unknown("text")),
            (b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'><html>", "a", Format::Page("application/xhtml+xml")),
            (b"<?xml version='1.0'?><rss>", "feed", Format::Unknown("XML")),
            (b"<abbr>x", "a", Format::Unknown("text")),
            (b"<?xml version='1.0'?><svg>", "a.svg", Format::Unknown("image/svg+xml")),
            (b"\x89PNG\r\n\x1a\n", "a.html", Format::Unknown("image/png")),
            (b"ARROW1\0\0", "a.feather", Format::Arrow),
            (b"\xff\xff\xff\xff\x70\0\0\0\x10", "data-00000.arrow", Format::Arrow),
            (b" CDX N b a m s k r M S V g\n", "a.cdx", Format::Unknown(INDEX)),
            (b"com,example)/ 20240506070809 {\"url\": 1}\n", "pages.cdxj", Format::Unknown(INDEX)),
            (b"In 2024 (see 1) 20240506070809 words", "a", Format::Unknown("text")),
            (b"ORCHIDS grow here", "a.txt", Format::Page("text/plain")),
            (b"BZhang wrote", "a.txt", Format::Page("text/plain")),
            (b"\x01\0\x02", "a", Format::Unknown("binary")),
            (b" \n", "a.html", Format::Empty),
        ] {
            assert_eq!(format(first, Path::new(name)), expected, "{name}: {}", String::from_utf8_lossy(first));
        }
    }
}
