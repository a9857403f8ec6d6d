//! The text of a page, in parts by field.

use std::ops::Range;

use crate::model::{Digest, Field};

use super::folding;
use super::whitespace::{ends_in_space, fold_into};

/// What stands between the name of a page and that of its site.
const NAME_ENDS: [&str; 9] = [" - ", " – ", " — ", " | ", " · ", " • ", " » ", " :: ", " < "];

/// The visible text of a page in reading order, in parts of one field each.
///
/// White space is folded to single spaces: one between two parts, none at the start.
#[derive(Debug, Default)]
pub struct FieldedText {
    text: String,
    parts: Vec<Part>,
    broken: bool,
    /// Open elements that are about the site rather than the page.
    asides: u32,
    /// Whether text is kept as it is until [`settle`](FieldedText::settle): the reference for tests.
    plain: bool,
}

#[derive(Debug)]
struct Part {
    field: Field,
    start: usize,
    /// Whether a reader sees it: keywords and descriptions are hidden.
    visible: bool,
    /// Whether a line ends before it.
    breaks: bool,
    /// Whether the space before it was inserted: the page has none there.
    glued: bool,
    /// Whether it is about the site rather than the page.
    aside: bool,
}

/// A part of the text, with its context.
pub struct Piece<'a> {
    /// The field of the part.
    pub field: Field,
    /// Its text, white space folded.
    pub text: &'a str,
    /// Whether a reader sees it: keywords and descriptions are hidden.
    pub visible: bool,
    /// Whether a line ends before it.
    pub breaks: bool,
    /// Whether the page has no white space between it and the part before.
    pub glued: bool,
    /// Whether it is about the site rather than the page.
    pub aside: bool,
}

impl FieldedText {
    /// Creates a text that is folded only by [`settle`](FieldedText::settle).
    pub fn plain() -> Self {
        Self { plain: true, ..Self::default() }
    }

    /// Creates a plain text as one part, without its lines.
    pub(super) fn of(text: &str) -> Self {
        let mut fielded = Self::default();
        fielded.text.reserve(text.len());
        fielded.push(Field::Body, text);
        fielded.fold(std::iter::empty());
        fielded
    }

    /// Creates a plain text whose lines end where an empty one is.
    pub(super) fn of_lines(text: &str) -> Self {
        let mut fielded = Self::default();
        for line in text.split_inclusive('\n') {
            if line.trim().is_empty() {
                fielded.break_line();
            } else {
                fielded.push(Field::Body, line);
            }
        }
        fielded.fold(std::iter::empty());
        fielded
    }

    /// Reserves room for this many bytes.
    pub fn reserve(&mut self, bytes: usize) {
        self.text.reserve(bytes);
        self.parts.reserve(bytes / 64);
    }

    /// Adds text. It continues the part before unless a break or another field is between: `foo<b>bar</b>` is one
    /// word.
    #[inline]
    pub fn push(&mut self, field: Field, text: &str) {
        let goes_on = !self.broken && self.parts.last().is_some_and(|part| part.field == field && part.visible);
        if !goes_on {
            let glued = !self.broken && !self.ends_in_white_space() && !text.starts_with(char::is_whitespace);
            self.open(Part { field, start: 0, visible: true, breaks: self.broken, glued, aside: self.asides > 0 });
        }
        self.broken = false;
        if self.plain {
            self.text.push_str(text);
        } else {
            fold_into(&mut self.text, text);
        }
    }

    /// Adds text that a reader does not see.
    pub fn push_hidden(&mut self, field: Field, text: &str) {
        self.broken = true;
        self.push(field, text);
        self.broken = true;
        if let Some(part) = self.parts.last_mut() {
            part.visible = false;
        }
    }

    /// Returns whether the text is empty or ends in white space.
    fn ends_in_white_space(&self) -> bool {
        self.text.chars().next_back().is_none_or(char::is_whitespace)
    }

    /// Begins a part at the end of the text.
    fn open(&mut self, part: Part) {
        if !self.plain && !ends_in_space(&self.text) {
            self.text.push(' ');
        }
        self.parts.push(Part { start: self.text.len(), ..part });
    }

    /// Begins an element that is about the site rather than the page. Break the line before.
    pub fn begin_aside(&mut self) {
        self.asides += 1;
    }

    /// Ends such an element.
    pub fn end_aside(&mut self) {
        self.asides = self.asides.saturating_sub(1);
    }

    /// Ends the line: what follows is another word.
    #[inline]
    pub fn break_line(&mut self) {
        self.broken = true;
    }

    /// Folds the white space of a [`plain`](FieldedText::plain) text.
    pub fn settle(&mut self) {
        if !std::mem::take(&mut self.plain) {
            return;
        }
        let plain = std::mem::take(self);
        for (part, text) in plain.ranges() {
            self.open(Part { ..*part });
            for word in text.split_whitespace() {
                if !ends_in_space(&self.text) {
                    self.text.push(' ');
                }
                self.text.push_str(word);
            }
        }
    }

    /// Folds what a reader does not see (soft hyphens, ligatures, vowel marks of Arabic and the like), so that texts that
    /// look alike are the same. Moves `positions` in the text, ascending, along with it.
    pub fn fold<'p>(&mut self, positions: impl Iterator<Item = &'p mut usize>) {
        if folding::stays(&self.text) {
            return;
        }
        let raw = std::mem::take(&mut self.text);
        let mut positions = positions.peekable();
        for at in 0..self.parts.len() {
            let start = self.parts[at].start;
            let end = self.parts.get(at + 1).map_or(raw.len(), |next| next.start);
            let begin = self.text.len();
            while let Some(position) = positions.next_if(|position| **position < end) {
                fold_into(&mut self.text, &folding::folded(raw.get(start..*position).unwrap_or_default()));
                *position = self.text.len();
                self.text.truncate(begin);
            }
            fold_into(&mut self.text, &folding::folded(&raw[start..end]));
            self.parts[at].start = begin;
        }
        positions.for_each(|position| *position = self.text.len());
    }

    /// Returns all text, for the language detector.
    pub fn as_str(&self) -> &str {
        self.text.trim_end_matches(' ')
    }

    /// Returns the parts in order.
    pub fn parts(&self) -> impl Iterator<Item = (Field, &str)> {
        self.ranges().map(|(part, text)| (part.field, text))
    }

    /// Returns the parts in order, with their context.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.ranges().map(|(&Part { field, visible, breaks, glued, aside, .. }, text)| Piece {
            field,
            text,
            visible,
            breaks,
            glued,
            aside,
        })
    }

    /// Returns an iterator-like view of line starts and visibility.
    pub fn lines(&self) -> Lines<'_> {
        Lines { parts: &self.parts, at: 0 }
    }

    /// Returns where the page's name is: its first heading, and its title up to the first separator, since the site's
    /// name often follows.
    pub(super) fn names(&self) -> [Range<usize>; 2] {
        [self.first(Field::Title), self.first(Field::Heading)].map(|range| {
            let text = &self.text[range.clone()];
            let separators = NAME_ENDS.iter().filter_map(|separator| text.find(separator)).filter(|at| *at > 0);
            range.start..separators.min().map_or(range.end, |length| range.start + length)
        })
    }

    /// Returns where the first visible part of this field is; an empty range if there is none.
    fn first(&self, field: Field) -> Range<usize> {
        let first = self.parts.iter().position(|part| part.field == field && part.visible);
        first.map_or(0..0, |at| self.parts[at].start..self.end(at))
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the number of parts.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Returns the text of the first link from this part on that is not blank.
    pub fn link_from(&self, part: usize) -> Option<&str> {
        let links = (part..self.parts.len()).filter(|at| self.parts[*at].field.is_anchor());
        let mut texts = links.map(|at| &self.text[self.parts[at].start..self.end(at)]);
        texts.find(|text| !text.trim().is_empty())
    }

    /// Returns the rest of the part at this position, and the following part, if visible.
    pub fn visible_from(&self, position: usize) -> Option<(&str, Option<&str>)> {
        let next = self.parts.partition_point(|part| part.start <= position);
        let visible = |at: usize| self.parts.get(at).filter(|part| part.visible);
        let this = next.checked_sub(1)?;
        visible(this)?;
        let following = visible(next).map(|part| &self.text[part.start..self.end(next)]);
        Some((&self.text[position..self.end(this)], following))
    }

    /// Returns where a part ends.
    fn end(&self, part: usize) -> usize {
        self.parts.get(part + 1).map_or(self.text.len(), |next| next.start)
    }

    /// Returns a lookup of fields by position.
    pub fn fields(&self) -> Fields<'_> {
        Fields { parts: &self.parts, at: 0 }
    }

    /// Returns the digest of the visible text with white space folded; `None` if there is none.
    pub fn digest(&self) -> Option<Digest> {
        let digest = |text: &str| (!text.is_empty()).then(|| Digest::of(text.as_bytes()));
        if self.parts.iter().all(|part| part.visible) {
            return digest(self.as_str());
        }
        let visible = self.ranges().filter(|(part, _)| part.visible).map(|(_, text)| text);
        digest(visible.collect::<String>().trim_end_matches(' '))
    }

    fn ranges(&self) -> impl Iterator<Item = (&Part, &str)> {
        let ends = self.parts.iter().skip(1).map(|part| part.start).chain([self.text.len()]);
        self.parts.iter().zip(ends).map(|(part, end)| (part, &self.text[part.start..end]))
    }
}

/// Looks up fields by position; positions must ascend.
pub struct Fields<'a> {
    parts: &'a [Part],
    at: usize,
}

impl Fields<'_> {
    /// Returns the field of the part at this position, and whether it is about the site rather than the page.
    #[inline]
    pub fn at(&mut self, position: usize) -> (Field, bool) {
        while self.parts.get(self.at + 1).is_some_and(|next| next.start <= position) {
            self.at += 1;
        }
        self.parts.get(self.at).map_or((Field::Body, false), |part| (part.field, part.aside))
    }
}

/// Looks up line starts and visibility by position; positions must ascend.
pub struct Lines<'a> {
    parts: &'a [Part],
    at: usize,
}

impl Lines<'_> {
    /// Returns whether a line has begun since the last position, and whether a reader sees this one.
    pub fn at(&mut self, position: usize) -> (bool, bool) {
        let mut breaks = false;
        while let Some(next) = self.parts.get(self.at + 1).filter(|next| next.start <= position) {
            breaks |= next.breaks;
            self.at += 1;
        }
        (breaks, self.parts.get(self.at).is_none_or(|part| part.visible))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digest_of(text: &str) -> Option<Digest> {
        Some(Digest::of(text.as_bytes()))
    }

    #[test]
    fn what_is_hidden_is_not_in_the_digest() {
        let mut text = FieldedText::default();
        text.push_hidden(Field::Keywords, " a b");
        text.push(Field::Body, "c ");
        text.push(Field::Body, " d");
        text.push_hidden(Field::Description, "e");
        assert_eq!(text.as_str(), "a b c d e");
        assert_eq!(text.digest(), digest_of("c d"));
        let parts: Vec<_> = text.parts().map(|(field, text)| (field.name(), text)).collect();
        assert_eq!(parts, [("keywords", "a b "), ("body", "c d "), ("description", "e")]);
    }

    #[test]
    fn what_a_reader_does_not_see_is_folded_and_positions_move_along() {
        let mut text = FieldedText::default();
        text.push(Field::Title, "Co\u{ad}op’s");
        text.push(Field::Body, "\u{ad}");
        text.break_line();
        text.push(Field::Body, "a \u{ad} cafe\u{301} ");
        text.push(Field::Heading, "\u{301}end");
        let mut positions = [0, 4, text.as_str().find("cafe").unwrap(), text.as_str().find("end").unwrap(), text.len()];
        text.fold(positions.iter_mut());
        assert_eq!(text.as_str(), "Coop's a café \u{301}end");
        assert_eq!(text.digest(), digest_of("Coop's a café \u{301}end"));
        let at = |position: usize| &text.as_str()[position..];
        assert_eq!(positions[..2], [0, 2]);
        assert!(at(positions[2]).starts_with("café"));
        assert_eq!((at(positions[3]), positions[4]), ("end", text.len()));
        let parts: Vec<_> = text.parts().map(|(field, text)| (field.name(), text)).collect();
        assert_eq!(parts, [("title", "Coop's "), ("body", ""), ("body", "a café "), ("heading", "\u{301}end")]);
    }

    proptest! {
        #[test]
        fn a_plain_text_is_the_same_with_and_without_its_lines(text in "[a é\u{a0}\n.]{0,20}") {
            let (whole, lines) = (FieldedText::of(&text), FieldedText::of_lines(&text));
            prop_assert_eq!(whole.as_str(), lines.as_str());
            prop_assert_eq!(whole.digest(), lines.digest());
        }

        #[test]
        fn text_is_the_same_whenever_it_is_folded(pieces in prop::collection::vec((0..4, "[a é\u{a0}\u{2003}\n]{0,4}"), 0..8)) {
            let (mut text, mut plain) = (FieldedText::default(), FieldedText::plain());
            for to in [&mut text, &mut plain] {
                for (kind, piece) in &pieces {
                    match kind {
                        0 => to.push(Field::Body, piece),
                        1 => to.push(Field::Heading, piece),
                        2 => to.push_hidden(Field::Keywords, piece),
                        _ => to.break_line(),
                    }
                }
            }
            plain.settle();
            prop_assert_eq!(text.as_str(), plain.as_str());
            prop_assert_eq!(text.digest(), plain.digest());
            let parts = |text: &FieldedText| text.parts().map(|(field, text)| (field, text.trim_end().to_owned())).collect::<Vec<_>>();
            prop_assert_eq!(parts(&text), parts(&plain));
        }
    }
}
