//! Writes the text of a document as HTML, up to a limit.

use std::fmt::Write as _;

use super::metadata::Metadata;

/// Builds the HTML of a document.
pub(super) struct HtmlWriter {
    html: String,
    /// Lines of the paragraph that has no end yet.
    paragraph: String,
    /// Bytes of text that may still come.
    left: usize,
    has_text: bool,
    is_full: bool,
    /// Glyphs whose characters are known, and others.
    glyphs: (u64, u64),
}

impl HtmlWriter {
    pub fn new(metadata: &Metadata, most: usize) -> Self {
        let mut html = "<!DOCTYPE html>\n<html".to_owned();
        if let Some(language) = &metadata.language {
            let _ = write!(html, " lang=\"{}\"", escaped(language));
        }
        html.push_str(">\n<head><meta charset=\"utf-8\">\n");
        if let Some(title) = &metadata.title {
            let _ = writeln!(html, "<title>{}</title>", escaped(title));
        }
        for (name, value) in metadata.named() {
            let _ = writeln!(html, "<meta name=\"{name}\" content=\"{}\">", escaped(value));
        }
        html.push_str("</head>\n<body>");
        Self { html, paragraph: String::new(), left: most, has_text: false, is_full: false, glyphs: (0, 0) }
    }

    /// Adds a line to the paragraph. A word that was cut at the end of the line before becomes whole.
    pub fn line(&mut self, text: &str) {
        if text.is_empty() || self.is_full {
            return;
        }
        let mut text = text;
        if text.len() > self.left {
            text = &text[..text.floor_char_boundary(self.left)];
            self.is_full = true;
        }
        self.left -= text.len();
        match self.paragraph.strip_suffix(['-', '\u{2010}', '\u{ad}']) {
            Some(begun) if is_cut_word(begun, text) => self.paragraph.truncate(begun.len()),
            _ if self.paragraph.is_empty() => {}
            _ => self.paragraph.push('\n'),
        }
        self.paragraph.push_str(text);
    }

    pub fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        if !paragraph.is_empty() {
            self.has_text |= paragraph.contains(char::is_alphanumeric);
            let _ = writeln!(self.html, "<p>{}</p>", escaped(&paragraph));
        }
    }

    pub fn count_glyph(&mut self, has_text: bool) {
        let (known, unknown) = &mut self.glyphs;
        *if has_text { known } else { unknown } += 1;
    }

    /// Returns whether the characters of most glyphs are not known, so that the text makes no sense.
    pub fn is_mostly_unknown(&self) -> bool {
        self.glyphs.1 > self.glyphs.0
    }

    /// Returns whether the limit is reached.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the HTML, and whether text was cut. `None` if there is no text.
    pub fn finish(mut self) -> Option<(String, bool)> {
        self.end_paragraph();
        self.has_text.then_some((self.html, self.is_full))
    }
}

/// Whether a word goes on in the next line, in lower case as in the middle of a word.
fn is_cut_word(begun: &str, next: &str) -> bool {
    begun.ends_with(char::is_alphabetic) && next.starts_with(char::is_lowercase)
}

/// Escapes text, and drops characters that HTML has no place for.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() && c != '\n' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
