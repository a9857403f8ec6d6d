//! The text of a page, in parts by field.

use crate::record::{Digest, Field};

/// The text of a page as it is read, cut into parts of one field each.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    parts: Vec<Part>,
    broken: bool,
}

#[derive(Debug)]
struct Part {
    field: Field,
    start: usize,
    /// Keywords and descriptions are not seen by a reader.
    visible: bool,
}

impl Text {
    /// With room for so many octets.
    pub fn with_capacity(octets: usize) -> Self {
        Self { text: String::with_capacity(octets), parts: Vec::with_capacity(octets / 64), broken: false }
    }

    /// Adds text. It goes on where the text before ended, unless a break or another field lies
    /// between: `foo<b>bar</b>` is one word.
    pub fn push(&mut self, field: Field, text: &str) {
        let goes_on = !self.broken && self.parts.last().is_some_and(|part| part.field == field && part.visible);
        if !goes_on {
            self.parts.push(Part { field, start: self.text.len(), visible: true });
        }
        self.broken = false;
        self.text.push_str(text);
    }

    /// Adds text that a reader does not see.
    pub fn push_hidden(&mut self, field: Field, text: &str) {
        self.parts.push(Part { field, start: self.text.len(), visible: false });
        self.text.push_str(text);
        self.broken = true;
    }

    /// Ends the line: what follows is another word.
    pub fn break_line(&mut self) {
        self.broken = true;
    }

    /// All text, for the language detector.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The parts in order.
    pub fn parts(&self) -> impl Iterator<Item = (Field, &str)> {
        self.ranges().map(|(part, text)| (part.field, text))
    }

    /// Digest of the visible text with white space folded to single spaces; `None` if there is none.
    pub fn digest(&self) -> Option<Digest> {
        let mut folded = String::with_capacity(self.text.len() + self.parts.len());
        for (_, text) in self.ranges().filter(|(part, _)| part.visible) {
            fold_into(&mut folded, text);
        }
        (!folded.is_empty()).then(|| Digest::of(folded.as_bytes()))
    }

    fn ranges(&self) -> impl Iterator<Item = (&Part, &str)> {
        let ends = self.parts.iter().skip(1).map(|part| part.start).chain([self.text.len()]);
        self.parts.iter().zip(ends).map(|(part, end)| (part, &self.text[part.start..end]))
    }
}

/// White space folded to single spaces, at most `most` characters.
pub(super) fn folded(text: &str, most: usize) -> String {
    let mut folded = String::new();
    fold_into(&mut folded, text);
    match folded.char_indices().nth(most) {
        Some((end, _)) => folded[..end].to_owned(),
        None => folded,
    }
}

/// Appends the words of a text, a space before each but the first.
fn fold_into(folded: &mut String, text: &str) {
    if text.is_ascii() { fold_ascii(folded, text) } else { fold_any(folded, text) }
}

/// The same for text of ASCII, in which a stretch with single spaces between words is copied as it
/// stands.
fn fold_ascii(folded: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        while bytes.get(at).is_some_and(|byte| is_space(*byte)) {
            at += 1;
        }
        let start = at;
        let mut end = at;
        while let Some(&byte) = bytes.get(at) {
            if is_space(byte) {
                end = at;
                if byte != b' ' || bytes.get(at + 1).is_none_or(|next| is_space(*next)) {
                    break;
                }
            }
            at += 1;
        }
        if at == bytes.len() {
            end = at;
        }
        if start == end {
            return;
        }
        append(folded, &text[start..end]);
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

fn fold_any(folded: &mut String, text: &str) {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| u8::try_from(c).is_ok_and(is_space));
        if rest.is_empty() {
            return;
        }
        let (length, is_ascii) = word(rest.as_bytes());
        if is_ascii {
            append(folded, &rest[..length]);
        } else {
            // There are other spaces, too.
            rest[..length].split_whitespace().for_each(|word| append(folded, word));
        }
        rest = &rest[length..];
    }
}

/// The length of the word that begins here, up to a space of ASCII, and whether it is of ASCII.
#[inline]
fn word(bytes: &[u8]) -> (usize, bool) {
    let mut seen = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if is_space(byte) {
            return (at, seen < 0x80);
        }
        seen |= byte;
    }
    (bytes.len(), seen < 0x80)
}

fn append(folded: &mut String, word: &str) {
    if !folded.is_empty() {
        folded.push(' ');
    }
    folded.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_white_space_is_folded() {
        let text = "\u{a0}a\x0b b\u{2028}\u{3000}c\u{85} \x1cd \n";
        assert_eq!(folded(text, 100), text.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(folded("abc d", 4), "abc ");
    }
}
