//! Where does a sentence end?
//!
//! At a full stop, question mark or exclamation mark followed by a space (closing quotes and brackets may be
//! between), and at their forms in scripts without spaces. Also where a line of the page ends: at block bounds, `br`,
//! and empty lines of plain text. So `3.24` and `example.org` end none. An abbreviation such as `e.g.` does, at
//! little cost: detectors skip sentences of a word or two.

use crate::model::{TermOrder, WantedOrder};

use super::fielded_text::{FieldedText, Lines};

/// Splits the words of a text, in order, into sentences.
pub(super) struct Sentences<'t> {
    text: &'t str,
    lines: Lines<'t>,
    is_listed: bool,
    /// Where the last word ended.
    end: usize,
    /// Whether the open sentence has a word.
    is_open: bool,
    terms: Vec<u32>,
    order: TermOrder,
}

impl<'t> Sentences<'t> {
    /// Creates a splitter, if sentences are wanted.
    pub fn new(text: &'t FieldedText, wanted: WantedOrder) -> Option<Self> {
        let WantedOrder { sentence_count, sentences: is_listed, .. } = wanted;
        let (lines, text, order) = (text.lines(), text.as_str(), TermOrder::default());
        (sentence_count || is_listed).then(|| Self {
            text,
            lines,
            is_listed,
            end: 0,
            is_open: false,
            terms: Vec::new(),
            order,
        })
    }

    /// Adds the next word, with its term unless it is a stop word.
    pub fn add(&mut self, start: usize, end: usize, term: Option<u32>) {
        let (breaks, is_visible) = self.lines.at(start);
        // The pairs of characters of an unspaced run overlap.
        if breaks || ends_sentence(self.text.get(self.end..start).unwrap_or_default()) {
            self.close();
        }
        self.end = end;
        if is_visible {
            self.is_open = true;
            self.terms.extend(term.filter(|_| self.is_listed));
        }
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.order.sentence_count = self.order.sentence_count.saturating_add(1);
        }
        if !self.terms.is_empty() {
            self.order.sentences.push(self.terms.as_slice().to_vec());
            self.terms.clear();
        }
    }

    /// Returns the sentences.
    pub fn finish(mut self) -> TermOrder {
        self.close();
        self.order
    }
}

/// Returns whether a sentence ends between two words.
fn ends_sentence(between: &str) -> bool {
    let mut is_ended = false;
    for c in between.chars() {
        match c {
            '。' | '．' | '！' | '？' | '｡' | '…' => return true,
            '.' | '!' | '?' => is_ended = true,
            '"' | '\'' | ')' | ']' | '}' | '’' | '”' | '»' | '」' | '』' | '）' => {}
            _ if c.is_whitespace() => {
                if is_ended {
                    return true;
                }
            }
            _ => is_ended = false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_at_a_mark_before_a_space() {
        for between in [". ", "! ", "? ", "?! ", ".\" ", ".) ", "... ", "。", "！", "」。", " . "] {
            assert!(ends_sentence(between), "{between:?}");
        }
        for between in [" ", "", ".", ", ", ": ", " - ", " (", ".5 ", "、", " \"", ".-"] {
            assert!(!ends_sentence(between), "{between:?}");
        }
    }
}
