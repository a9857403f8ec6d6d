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
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += bytes[at..].iter().position(|byte| !is_ascii_space(*byte)).unwrap_or(bytes.len() - at);
        if at == bytes.len() {
            return;
        }
        let length = bytes[at..].iter().position(|byte| is_ascii_space(*byte)).unwrap_or(bytes.len() - at);
        let word = &text[at..at + length];
        at += length;
        if word.is_ascii() {
            append(folded, word);
        } else {
            // There are other spaces, too.
            word.split_whitespace().for_each(|word| append(folded, word));
        }
    }
}

fn append(folded: &mut String, word: &str) {
    if !folded.is_empty() {
        folded.push(' ');
    }
    folded.push_str(word);
}

fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
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
