//! From source to tags and runs of text: WHATWG HTML, section 13.2.5 ("Tokenization").
//!
//! The tokenizer has states only where they change the result: comments, doctypes and processing instructions have no
//! token. Where raw text begins depends on the open elements, so the caller asks for it ([`Lexer::raw_text`]). Text comes
//! as it stands in the source; [`references`] replaces its character references.
//!
//! Linear in the length of the source: every byte is read once, apart from references.

mod comments;
mod raw_text;
pub(super) mod references;
mod tags;

use super::byte_search;
use super::names::Name;

use comments::LastEnds;
pub(super) use raw_text::RawText;
pub(super) use tags::Attribute;

/// The next token. The content of a tag is written to a [`Tag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Start,
    End,
    /// Text outside of raw text elements.
    Text(&'a str),
    /// A comment, or something like one.
    Comment,
    /// The text between `<!DOCTYPE` and `>`.
    Doctype(&'a str),
    /// A CDATA section.
    Characters(&'a str),
    Eof,
}

/// The last tag that was read.
#[derive(Debug, Default)]
pub(super) struct Tag<'a> {
    pub name: Name,
    /// The name as written.
    pub written: &'a str,
    pub attributes: Vec<Attribute<'a>>,
    pub self_closing: bool,
    /// Whether names of attributes are case-sensitive.
    pub is_xml: bool,
    /// The source between the name and the end of the tag.
    pub rest: &'a str,
}

/// Reads one source.
pub(super) struct Lexer<'a> {
    html: &'a str,
    at: usize,
    /// The ends of what XML does not show, if the source is XML.
    xml: Option<LastEnds>,
    has_doctype: bool,
}

impl<'a> Lexer<'a> {
    /// Creates a tokenizer for a source whose line ends are line feeds.
    pub fn new(html: &'a str) -> Self {
        Self { html, at: 0, xml: None, has_doctype: false }
    }

    /// Creates the same for XML: CDATA sections are text anywhere, and what is not shown ends as XML says.
    ///
    /// Where the source breaks the rules of XML, those of HTML hold, so that no text is lost.
    pub fn xml(xml: &'a str) -> Self {
        Self { xml: Some(LastEnds::of(xml)), ..Self::new(xml) }
    }

    /// Returns where the next token begins.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes on at another place of the source.
    pub fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns the next token. In `foreign` content CDATA sections are text, else comments.
    #[inline]
    pub fn next(&mut self, tag: &mut Tag<'a>, foreign: bool) -> Token<'a> {
        let bytes = self.html.as_bytes();
        let start = self.at;
        // A "<" that opens nothing is text.
        let mut from = start;
        loop {
            let Some(found) = byte_search::find(b'<', &bytes[from..]) else {
                self.at = bytes.len();
                return if start == bytes.len() { Token::Eof } else { Token::Text(&self.html[start..]) };
            };
            let open = from + found;
            let opens = match bytes.get(open + 1) {
                Some(b'/') => open + 2 < bytes.len(),
                Some(b'!' | b'?') => true,
                Some(letter) => self.begins_name(*letter),
                None => false,
            };
            if !opens {
                from = open + 1;
                continue;
            }
            if open > start {
                self.at = open;
                return Token::Text(&self.html[start..open]);
            }
            break;
        }
        self.markup(tag, foreign)
    }

    /// Returns the text up to the end of the element that was opened last, and whether its end tag was found.
    ///
    /// Skips the end tag.
    pub fn raw_text(&mut self, kind: RawText, element: &str) -> &'a str {
        // A section that does not end hides nothing.
        let has_sections = self.xml.is_some_and(|ends| ends.section > self.at);
        let kind = if kind == RawText::Sections && !has_sections { RawText::Plain } else { kind };
        let (end, next) = raw_text::end(self.html, self.at, kind, element);
        let text = &self.html[self.at..end];
        self.at = next;
        text
    }

    /// Reads a token that begins with "<": the "tag open state" and its successors.
    fn markup(&mut self, tag: &mut Tag<'a>, foreign: bool) -> Token<'a> {
        let bytes = self.html.as_bytes();
        let after = self.at + 1;
        match bytes.get(after) {
            Some(b'/') => match bytes.get(after + 1) {
                Some(letter) if self.begins_name(*letter) => self.tag(tag, after + 1, Token::End),
                Some(b'>') => self.comment_to(after + 2),
                _ => self.bogus_comment(after + 1),
            },
            Some(b'!') => self.declaration(after + 1, foreign),
            Some(b'?') => match self.xml {
                Some(ends) => self.comment_to(ends.instruction(self.html, after + 1)),
                None => self.bogus_comment(after),
            },
            _ => self.tag(tag, after, Token::Start),
        }
    }

    /// Returns whether a name may begin with this byte.
    #[inline]
    fn begins_name(&self, byte: u8) -> bool {
        byte.is_ascii_alphabetic() || (self.xml.is_some() && (byte >= 0x80 || byte == b'_' || byte == b':'))
    }

    fn tag(&mut self, tag: &mut Tag<'a>, name: usize, kind: Token<'a>) -> Token<'a> {
        match tags::read(self.html, name, tag) {
            Some(end) => {
                self.at = end;
                kind
            }
            // A tag without an end is dropped.
            None => {
                self.at = self.html.len();
                Token::Eof
            }
        }
    }

    fn declaration(&mut self, at: usize, foreign: bool) -> Token<'a> {
        let rest = &self.html.as_bytes()[at..];
        if rest.starts_with(b"--") {
            let end = match self.xml {
                Some(ends) => ends.comment(self.html, at + 2),
                None => comments::end(self.html, at + 2),
            };
            return self.comment_to(end);
        }
        if rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype")) {
            let start = at + 7;
            // XML has one; each further one is read as HTML reads it, so that none is searched to the end in vain.
            let end = match self.xml.filter(|_| !self.has_doctype) {
                Some(ends) => comments::doctype_end_in_xml(self.html, start, ends),
                None => comments::bogus_end(self.html, start),
            };
            self.has_doctype = true;
            let text = self.html[start..end].trim_end_matches('>');
            self.at = end;
            return Token::Doctype(text);
        }
        if (foreign || self.xml.is_some()) && rest.starts_with(b"[CDATA[") {
            let start = at + 7;
            let (end, next) = comments::cdata_end(self.html, start);
            self.at = next;
            return Token::Characters(&self.html[start..end]);
        }
        self.bogus_comment(at)
    }

    fn bogus_comment(&mut self, at: usize) -> Token<'a> {
        self.comment_to(comments::bogus_end(self.html, at))
    }

    fn comment_to(&mut self, end: usize) -> Token<'a> {
        self.at = end;
        Token::Comment
    }
}
