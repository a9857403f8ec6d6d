//! The end of comments, CDATA sections and the like.

use memchr::{memchr, memmem};

/// Returns the end of the comment whose text begins at `start`: behind `-->` or `--!>`, or at once behind
/// `<!-->` and `<!--->`. A comment without an end takes the rest.
pub(super) fn end(html: &str, start: usize) -> usize {
    let rest = &html.as_bytes()[start..];
    if rest.starts_with(b">") {
        return start + 1;
    }
    if rest.starts_with(b"->") {
        return start + 2;
    }
    let mut at = 0;
    while let Some(found) = memchr(b'>', &rest[at..]) {
        let before = &rest[..at + found];
        at += found + 1;
        if before.ends_with(b"--") || before.ends_with(b"--!") {
            return start + at;
        }
    }
    html.len()
}

/// Where the last comment, processing instruction and CDATA section of an XML document end.
///
/// A search for an end that is not there would take the rest of the document, for each beginning in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastEnds {
    comment: usize,
    instruction: usize,
    pub section: usize,
}

impl LastEnds {
    pub fn of(xml: &str) -> Self {
        let last = |end: &[u8]| memmem::rfind(xml.as_bytes(), end).unwrap_or(0);
        Self { comment: last(b"-->"), instruction: last(b"?>"), section: last(b"]]>") }
    }

    /// Returns the end of a comment: behind `-->`, or as in HTML if there is none.
    pub fn comment(self, xml: &str, start: usize) -> usize {
        found(xml, start, b"-->", self.comment).unwrap_or_else(|| end(xml, start))
    }

    /// Returns the end of a processing instruction: behind `?>`, or behind the next ">" if there is none.
    pub fn instruction(self, xml: &str, start: usize) -> usize {
        found(xml, start, b"?>", self.instruction).unwrap_or_else(|| bogus_end(xml, start))
    }
}

/// Returns the position behind the next `end`, the last of which begins at `last`.
fn found(xml: &str, start: usize, end: &[u8], last: usize) -> Option<usize> {
    if start > last {
        return None;
    }
    memmem::find(&xml.as_bytes()[start..], end).map(|found| start + found + end.len())
}

/// Returns the end of a document type of XML, which may declare things in brackets.
pub(super) fn doctype_end_in_xml(xml: &str, start: usize, ends: LastEnds) -> usize {
    let bytes = xml.as_bytes();
    let mut at = start;
    let mut is_within = false;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'>' if !is_within => return at + 1,
            b'[' => {
                is_within = true;
                at + 1
            }
            b']' => {
                is_within = false;
                at + 1
            }
            quote @ (b'"' | b'\'') => match memchr(*quote, &bytes[at + 1..]) {
                Some(length) => at + length + 2,
                None => return bogus_end(xml, start),
            },
            b'<' if bytes[at..].starts_with(b"<!--") => ends.comment(xml, at + 4),
            b'<' if bytes[at..].starts_with(b"<?") => ends.instruction(xml, at + 2),
            _ => at + 1,
        };
    }
    bogus_end(xml, start)
}

/// Returns the position behind the next ">", or the end.
pub(super) fn bogus_end(html: &str, start: usize) -> usize {
    memchr(b'>', &html.as_bytes()[start..]).map_or(html.len(), |found| start + found + 1)
}

/// Returns the end of the text of a CDATA section, and of the section.
pub(super) fn cdata_end(html: &str, start: usize) -> (usize, usize) {
    match memmem::find(&html.as_bytes()[start..], b"]]>") {
        Some(found) => (start + found, start + found + 3),
        None => (html.len(), html.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_show_ends_where_xml_says() {
        let doctype = |xml: &'static str| &xml[doctype_end_in_xml(xml, 9, LastEnds::of(xml))..];
        let instruction = |xml: &'static str| &xml[LastEnds::of(xml).instruction(xml, 2)..];
        let comment = |xml: &'static str| &xml[LastEnds::of(xml).comment(xml, 4)..];
        assert_eq!(doctype("<!DOCTYPE html [ <!ENTITY a '>]'> <!-- ' ]> --> <?x ]> ?> ] >x"), "x");
        assert_eq!(doctype("<!DOCTYPE html PUBLIC \"a>b\">x"), "x");
        assert_eq!(doctype("<!DOCTYPE html [ <p>x"), "x", "it has no end");
        assert_eq!(doctype("<!DOCTYPE html 'a>x"), "x");
        assert_eq!((instruction("<?php echo '<p>' ?>x"), instruction("<?php>x")), ("x", "x"));
        assert_eq!((comment("<!--> --!> -->x"), comment("<!-- --!>x")), ("x", "x"));
    }

    #[test]
    fn comments_end_in_all_their_ways() {
        for (html, rest) in [
            ("<!-->x", "x"),
            ("<!--->x", "x"),
            ("<!---->x", "x"),
            ("<!----!>x", "x"),
            ("<!---!>x-->y", "y"),
            ("<!-- > -- > --x>y-->z", "z"),
            ("<!--a--!-->x", "x"),
            ("<!-- <!-- -->x-->", "x-->"),
            ("<!-- never", ""),
        ] {
            assert_eq!(&html[end(html, 4)..], rest, "{html}");
        }
    }
}
