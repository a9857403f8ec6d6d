//! Text by insertion mode: the "any other character" rules of WHATWG HTML, section 13.2.6.4.

use std::borrow::Cow;

use memchr::memchr;

use crate::names::Name;
use crate::tokenizer::{RawText, references};

use super::{Builder, Mode, Stop};

impl<'a> Builder<'a, '_> {
    /// Text outside of raw text elements.
    #[inline]
    pub(super) fn text(&mut self, text: &'a str) {
        if text.is_empty() {
            return;
        }
        if self.xml.is_some() || !self.beyond.is_empty() {
            return if self.has_nul { self.append(&text.replace('\0', "")) } else { self.append(text) };
        }
        let foreign = self.in_foreign_text();
        if self.has_nul && memchr(0, text.as_bytes()).is_some() {
            // NUL is dropped in HTML. In foreign content it is a character that still allows a frameset.
            if foreign {
                self.frameset_ok &= is_space(&text.replace('\0', ""));
                return self.append(&text.replace('\0', "\u{fffd}"));
            }
            if memchr(b'&', text.as_bytes()).is_some() && !self.in_source_order {
                // It is dropped, and still ends a reference.
                return self.stop(Stop::OutOfOrder("a NUL among character references"));
            }
            let text = text.replace('\0', "");
            if !text.is_empty() {
                self.some_text(&text, foreign);
            }
            return;
        }
        self.some_text(text, foreign);
    }

    pub(super) fn some_text(&mut self, text: &str, foreign: bool) {
        if foreign {
            self.frameset_ok &= is_space(text);
            return self.append(text);
        }
        match self.mode {
            Mode::InBody | Mode::InCell | Mode::InCaption | Mode::InTemplate => self.body_text(text),
            Mode::InTable | Mode::InTableBody | Mode::InRow => self.table_text(text),
            _ => self.text_elsewhere(text),
        }
    }

    pub(super) fn body_text(&mut self, text: &str) {
        self.reconstruct_formatting();
        if self.frameset_ok {
            self.frameset_ok = is_space(text);
        }
        self.append(text);
    }

    /// Text in modes that treat white space apart.
    pub(super) fn text_elsewhere(&mut self, text: &str) {
        let mut decoded = String::new();
        references::in_text(text, |piece| decoded.push_str(piece));
        let other = decoded.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let space = &decoded[..decoded.len() - other.len()];
        match self.mode {
            Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead => {}
            Mode::AfterBody | Mode::AfterAfterBody => {
                if !space.is_empty() {
                    self.reconstruct_formatting();
                    self.push_text(space);
                }
            }
            _ => self.push_text(space),
        }
        if other.is_empty() {
            return;
        }
        match self.mode {
            Mode::InFrameset | Mode::AfterFrameset | Mode::AfterAfterFrameset => {
                let spaces = other.chars().filter(char::is_ascii_whitespace);
                let spaces: String = spaces.collect();
                self.push_text(&spaces);
                return;
            }
            Mode::InColumnGroup => {
                if !self.stack.top_named(Name::ColGroup) {
                    return;
                }
                self.pop();
                self.mode = Mode::InTable;
                return self.table_text(other);
            }
            Mode::AfterBody | Mode::AfterAfterBody => self.mode = Mode::InBody,
            mode => self.begin_body(mode),
        }
        self.reconstruct_formatting();
        self.frameset_ok = false;
        self.push_text(other);
    }

    /// A CDATA section: text without references.
    pub(super) fn characters(&mut self, text: &str) {
        self.frameset_ok &= is_space(&text.replace('\0', ""));
        let text = if self.has_nul { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) };
        self.push_text(&text);
    }

    /// Reads the content of an element that holds only text, and its end.
    pub(super) fn raw_text(&mut self, text: &str, kind: RawText) {
        if self.hidden == 0 {
            let text = if self.has_nul { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) };
            let text = if std::mem::take(&mut self.ignore_line_feed) {
                text.strip_prefix('\n').unwrap_or(&text)
            } else {
                &text
            };
            match kind {
                RawText::References => self.append(text),
                // Unlike the others, `plaintext` leaves the mode as it is, so its text is body text.
                RawText::All if !text.is_empty() => {
                    self.reconstruct_formatting();
                    self.push_text(text);
                }
                RawText::Plain | RawText::Script | RawText::All | RawText::Sections => self.push_text(text),
            }
        }
        self.ignore_line_feed = false;
        self.pop();
    }

    /// Reads the content of a script that holds data.
    pub(super) fn json_ld(&mut self, text: &str) {
        let text = if self.has_nul { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) };
        self.findings.json_ld(&text);
    }

    /// Reads the content of a `noscript` element.
    pub(super) fn noscript(&mut self, text: &str) {
        let text = if self.has_nul { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) };
        self.linked = true;
        self.findings.noscript(&text);
    }

    /// Adds text with character references to the page.
    #[inline]
    pub(super) fn append(&mut self, text: &str) {
        if self.hidden > 0 {
            return;
        }
        let (findings, field) = (&mut self.findings, self.field);
        references::in_text(text, |piece| findings.text(field, piece));
    }

    /// Adds text to the page as it stands.
    pub(super) fn push_text(&mut self, text: &str) {
        if self.hidden == 0 && !text.is_empty() {
            self.findings.text(self.field, text);
        }
    }
}

/// White space as HTML has it.
pub(super) fn is_space(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}
