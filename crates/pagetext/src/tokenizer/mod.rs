//! From text to tags and runs of text: WHATWG HTML, section 13.2.5 ("Tokenization").
//!
//! The lexer knows states only where they change what is read: comments, doctypes and processing
//! instructions have no token of their own. It does not decide by itself where raw text begins,
//! since that depends on the elements that are open; who reads its tokens asks for it
//! ([`Lexer::raw_text`]). Text is handed out as it stands in the source, with its character
//! references ([`references`]).
//!
//! Linear in the length of the text; nothing is looked at twice but for the references.

mod comments;
mod raw_text;
pub(super) mod references;
mod tags;

use super::byte_search;
use super::names::Name;

pub(super) use raw_text::RawText;
pub(super) use tags::Attribute;

/// What stands next in the text. What a tag says is written to a [`Tag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Start,
    End,
    /// Text outside of raw text elements.
    Text(&'a str),
    /// A comment that stands between texts, or something like one.
    Comment,
    /// What stands between `<!DOCTYPE` and `>`.
    Doctype(&'a str),
    /// A CDATA section.
    Characters(&'a str),
    Eof,
}

/// A tag as it was read last.
#[derive(Debug, Default)]
pub(super) struct Tag<'a> {
    pub name: Name,
    /// The name as it is written.
    pub written: &'a str,
    pub attributes: Vec<Attribute<'a>>,
    pub self_closing: bool,
    /// Everything between the name and the end of the tag.
    pub rest: &'a str,
}

/// Reads one text.
pub(super) struct Lexer<'a> {
    html: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    /// A text whose line ends are line feeds.
    pub fn new(html: &'a str) -> Self {
        Self { html, at: 0 }
    }

    /// The next token. In `foreign` content CDATA sections are text, else comments.
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
                Some(letter) => letter.is_ascii_alphabetic(),
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

    /// The text up to the end of the element that was opened last, and whether its end tag was
    /// found. The end tag is passed over.
    pub fn raw_text(&mut self, kind: RawText, element: &str) -> &'a str {
        let (end, next) = raw_text::end(self.html, self.at, kind, element);
        let text = &self.html[self.at..end];
        self.at = next;
        text
    }

    /// Reads what begins with a "<" that is not text: the "tag open state" and what follows it.
    fn markup(&mut self, tag: &mut Tag<'a>, foreign: bool) -> Token<'a> {
        let bytes = self.html.as_bytes();
        let after = self.at + 1;
        match bytes.get(after) {
            Some(b'/') => match bytes.get(after + 1) {
                Some(letter) if letter.is_ascii_alphabetic() => self.tag(tag, after + 1, Token::End),
                Some(b'>') => self.comment_to(after + 2),
                _ => self.bogus_comment(after + 1),
            },
            Some(b'!') => self.declaration(after + 1, foreign),
            Some(b'?') => self.bogus_comment(after),
            _ => self.tag(tag, after, Token::Start),
        }
    }

    fn tag(&mut self, tag: &mut Tag<'a>, name: usize, kind: Token<'a>) -> Token<'a> {
        match tags::read(self.html, name, tag) {
            Some(end) => {
                self.at = end;
                kind
            }
            // A tag that does not end is dropped.
            None => {
                self.at = self.html.len();
                Token::Eof
            }
        }
    }

    fn declaration(&mut self, at: usize, foreign: bool) -> Token<'a> {
        let rest = &self.html.as_bytes()[at..];
        if rest.starts_with(b"--") {
            return self.comment_to(comments::end(self.html, at + 2));
        }
        if rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype")) {
            let start = at + 7;
            let end = comments::bogus_end(self.html, start);
            let text = self.html[start..end].trim_end_matches('>');
            self.at = end;
            return Token::Doctype(text);
        }
        if foreign && rest.starts_with(b"[CDATA[") {
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
