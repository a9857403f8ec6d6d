//! Tells what a file holds, by its first bytes. The name counts only where bytes cannot tell.

use std::path::Path;

use crate::fetch::no_text;

use super::{arc, parquet, wacz};

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
    /// A compression that is not read, and the program that undoes it.
    Compressed(&'static str, &'static str),
    /// Nothing that is read: what it seems to be.
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
    (Format::Compressed("bzip2", "bunzip2"), |first| {
        first.starts_with(b"BZh") && first.get(4..10) == Some(BZIP2_BLOCK)
    }),
    (Format::Compressed("xz", "unxz"), |first| first.starts_with(b"\xfd7zXZ\0")),
    (Format::Compressed("LZ4", "unlz4"), |first| first.starts_with(b"\x04\x22\x4d\x18")),
    (Format::JsonLines, |first| first.starts_with(b"\x1e") || begins_with(first, b"{", b"\"}")),
    (Format::JsonArray, |first| begins_with(first, b"[", b"{[\"]")),
    (Format::Page("application/xhtml+xml"), is_xhtml),
    (Format::Page("text/html"), is_html),
];

const BZIP2_BLOCK: &[u8] = b"1AY&SY";

/// Endings of names of pages that begin with nothing but words, and their media types.
const PAGES: [(&str, &str); 7] = [
    ("html", "text/html"),
    ("htm", "text/html"),
    ("shtml", "text/html"),
    ("xhtml", "application/xhtml+xml"),
    ("xht", "application/xhtml+xml"),
    ("txt", "text/plain"),
    ("text", "text/plain"),
];

/// The tags, besides a comment, that begin a page (MIME Sniffing Standard, section 7.1), and a few that begin many.
const TAGS: [&[u8]; 26] = [
    b"!doctype html",
    b"html",
    b"head",
    b"script",
    b"iframe",
    b"h1",
    b"div",
    b"font",
    b"table",
    b"a",
    b"style",
    b"title",
    b"b",
    b"body",
    b"br",
    b"p",
    b"meta",
    b"link",
    b"base",
    b"center",
    b"h2",
    b"span",
    b"main",
    b"article",
    b"frameset",
    b"noscript",
];

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
    if let Some(media_type) = by_name(name) {
        return Format::Page(media_type);
    }
    match first {
        _ if text.starts_with(b"<?xml") => Format::Unknown("XML"),
        _ if first.contains(&0) => Format::Unknown("binary"),
        _ => Format::Unknown("text"),
    }
}

/// Returns the media type of a page by the ending of its name. Mirrors put the query behind it: `index.html?page=2`.
fn by_name(name: &Path) -> Option<&'static str> {
    let name = name.file_name()?.to_string_lossy().to_ascii_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let name = name.split(['?', '@']).next().unwrap_or_default();
    let (_, ending) = name.rsplit_once('.')?;
    PAGES.iter().find(|(known, _)| *known == ending).map(|(_, media_type)| *media_type)
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
    let is_it = |known: &&[u8]| {
        tag.get(..known.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(known))
            && tag.get(known.len()).is_none_or(|end| end.is_ascii_whitespace() || [b'>', b'/'].contains(end))
    };
    TAGS.iter().any(is_it)
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
            (b"\x89PNG\r\n\x1a\n", "a.html", Format::Unknown("image/png")),
            (b"BZh91AY&SY", "a.jsonl.bz2", Format::Compressed("bzip2", "bunzip2")),
            (b"BZhang wrote", "a.txt", Format::Page("text/plain")),
            (b"\x01\0\x02", "a", Format::Unknown("binary")),
            (b" \n", "a.html", Format::Empty),
        ] {
            assert_eq!(format(first, Path::new(name)), expected, "{name}: {}", String::from_utf8_lossy(first));
        }
    }
}
