//! The end of elements whose content is text.

use memchr::{memchr, memmem};

use crate::names::Name;

/// How the content of an element without child elements is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawText {
    /// With character references: `title`, `textarea`.
    References,
    /// As it stands: `style`, `xmp`, `iframe`, `noembed`, `noframes`, `noscript`.
    Plain,
    /// `script`, which may hold a comment that holds a script.
    Script,
    /// `plaintext`: everything that follows.
    All,
    /// In XML, where a CDATA section may hold the end tag.
    Sections,
}

impl RawText {
    /// Returns how the content of an HTML element is read, if it is only text.
    pub fn of(element: Name) -> Option<Self> {
        match element {
            Name::Title | Name::TextArea => Some(Self::References),
            Name::Script => Some(Self::Script),
            Name::Style | Name::Xmp | Name::Iframe | Name::NoEmbed | Name::NoFrames | Name::NoScript => {
                Some(Self::Plain)
            }
            Name::PlainText => Some(Self::All),
            _ => None,
        }
    }
}

/// Returns the end of the text that begins at `start`, and the end of the end tag.
pub(super) fn end(html: &str, start: usize, mut kind: RawText, element: &str) -> (usize, usize) {
    if kind == RawText::All {
        return (html.len(), html.len());
    }
    let bytes = html.as_bytes();
    let mut script = Script::default();
    let mut at = start;
    while let Some(found) = memchr(b'<', &bytes[at..]) {
        let open = at + found;
        if kind == RawText::Script {
            script.text(&bytes[at..open]);
        }
        at = open + 1;
        if !script.hides_end_tags() && bytes.get(at) == Some(&b'/') && is_name(&bytes[at + 1..], element.as_bytes()) {
            let name_end = at + 1 + element.len();
            return (open, tag_end(html, name_end));
        }
        match kind {
            RawText::Script => at = script.open(bytes, open),
            RawText::Sections if bytes[open..].starts_with(b"<![CDATA[") => {
                match memmem::find(&bytes[open..], b"]]>") {
                    Some(length) => at = open + length,
                    // None behind it has an end either.
                    None => kind = RawText::Plain,
                }
            }
            _ => {}
        }
    }
    (html.len(), html.len())
}

/// Returns whether the name stands here and ends.
fn is_name(bytes: &[u8], name: &[u8]) -> bool {
    bytes.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
        && matches!(bytes.get(name.len()), Some(b' ' | b'\n' | b'\t' | b'\x0c' | b'/' | b'>'))
}

/// Returns the end of the end tag whose name ends here.
fn tag_end(html: &str, name_end: usize) -> usize {
    let mut tag = super::Tag::default();
    // One letter of the name is enough to read the attributes.
    super::tags::read(html, name_end - 1, &mut tag).unwrap_or(html.len())
}

/// The "script data escaped" states: between `<!--` and `-->` a `<script>` hides the next end tag.
#[derive(Default)]
struct Script {
    escaped: bool,
    double: bool,
    /// Trailing dashes, at most two.
    dashes: usize,
}

impl Script {
    fn hides_end_tags(&self) -> bool {
        self.double
    }

    /// Text without "<".
    fn text(&mut self, text: &[u8]) {
        if !self.escaped {
            return;
        }
        for &byte in text {
            match byte {
                b'-' => self.dashes = (self.dashes + 1).min(2),
                b'>' if self.dashes == 2 => {
                    *self = Self::default();
                    return;
                }
                _ => self.dashes = 0,
            }
        }
    }

    /// Handles a "<" that begins no end tag of the script; returns where to go on.
    fn open(&mut self, bytes: &[u8], open: usize) -> usize {
        self.dashes = 0;
        let rest = &bytes[open + 1..];
        if !self.escaped {
            if rest.starts_with(b"!--") {
                self.escaped = true;
                self.dashes = 2;
                return open + 4;
            }
        } else if !self.double {
            self.double = is_name(rest, b"script");
        } else if rest.first() == Some(&b'/') {
            self.double = !is_name(&rest[1..], b"script");
        }
        open + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(html: &str, kind: RawText, element: &str) -> (String, String) {
        let (text, next) = end(html, 0, kind, element);
        (html[..text].to_owned(), html[next..].to_owned())
    }

    #[test]
    fn only_the_elements_own_end_tag_ends_it() {
        let (text, rest) = content("a</b></TITLEx></title foo='>'>b", RawText::References, "title");
        assert_eq!((text.as_str(), rest.as_str()), ("a</b></TITLEx>", "b"));
        assert_eq!(content("a</titl", RawText::References, "title").0, "a</titl");
        assert_eq!(content("</p></plaintext>", RawText::All, "plaintext").1, "");
    }

    #[test]
    fn a_section_of_xml_hides_the_end_tag_and_one_without_end_does_not() {
        let rest = |html| content(html, RawText::Sections, "script").1;
        assert_eq!(rest("//<![CDATA[\n'</script>' //]]></script>x"), "x");
        assert_eq!(rest("<![CDATA[ '</script>x"), "x");
        assert_eq!(rest("<!-- <script> </script>x"), "x");
    }

    #[test]
    fn a_script_in_a_comment_in_a_script_hides_its_end_tag() {
        let end = |html| content(html, RawText::Script, "script").1;
        assert_eq!(end("<!-- </script>x"), "x");
        assert_eq!(end("<!-- <script> </script> --></script>x"), "x");
        assert_eq!(end("<!-- <script> --></script>x"), "x");
        assert_eq!(end("<!--<script></script>a</script>x"), "x");
        assert_eq!(end("<script></script>x"), "x");
        assert_eq!(end("<!--><script></script>x"), "x");
        assert_eq!(end("<!-- <scriptx> </script>x"), "x");
    }
}
