//! Joins glyphs to words, lines and paragraphs by their places.
//!
//! A PDF places glyphs and has no words: spaces are often only a gap. Glyphs are taken in the order in which they are
//! drawn, which is the order of reading for nearly every program that writes PDF. Sorting all of a page by place would
//! mix columns.

use hayro_interpret::kurbo::{Point, Vec2};

use super::composition::{is_accent, is_right_to_left, joined, plain_forms};
use super::html::HtmlWriter;

/// A gap of this part of the font's size is a space. Letters of a word are nearer, those of two words farther.
const SPACE: f64 = 0.17;
/// A baseline this far away is another line; superscripts are nearer.
const OTHER_LINE: f64 = 0.5;
/// A baseline this far away is another paragraph.
const PARAGRAPH: f64 = 1.7;
/// Text that goes back this far begins anew, such as a column beside the last one.
const BACK: f64 = 1.0;

/// A glyph and its place on the page.
#[derive(Clone, Debug)]
pub(super) struct PlacedGlyph {
    /// Empty if nothing tells it.
    pub text: String,
    pub start: Point,
    pub end: Point,
    /// The direction of writing, of length 1.
    pub direction: Vec2,
    /// The size of the font.
    pub size: f64,
}

/// The lines of a page.
pub(super) struct Lines<'w> {
    html: &'w mut HtmlWriter,
    line: Vec<PlacedGlyph>,
}

impl<'w> Lines<'w> {
    pub fn new(html: &'w mut HtmlWriter) -> Self {
        Self { html, line: Vec::new() }
    }

    pub fn add(&mut self, glyph: PlacedGlyph) {
        self.html.count_glyph(!glyph.text.is_empty());
        if let Some(last) = self.line.last() {
            let step = glyph.start - last.end;
            let (along, across) = (step.dot(last.direction), step.cross(last.direction).abs());
            let size = glyph.size.max(last.size);
            // Right-to-left text may be drawn in either direction.
            let goes_back = along < -BACK * size && !(is_right_to_left(&glyph.text) || is_right_to_left(&last.text));
            let turns = glyph.direction.dot(last.direction) < 0.9;
            if turns || goes_back || across > OTHER_LINE * size {
                let is_paragraph = turns || across > PARAGRAPH * size;
                self.end_line(is_paragraph);
            }
        }
        self.line.push(glyph);
    }

    /// Ends the page.
    pub fn finish(mut self) {
        self.end_line(true);
    }

    fn end_line(&mut self, is_paragraph: bool) {
        let text = text_of(std::mem::take(&mut self.line));
        self.html.line(text.trim());
        if is_paragraph {
            self.html.end_paragraph();
        }
    }
}

/// Returns the text of a line.
fn text_of(mut glyphs: Vec<PlacedGlyph>) -> String {
    let reversed = glyphs.iter().filter(|glyph| is_right_to_left(&glyph.text)).count();
    if reversed * 2 > glyphs.iter().filter(|glyph| glyph.text.chars().any(char::is_alphabetic)).count() {
        glyphs = right_to_left(glyphs);
    }
    let mut text = String::new();
    let (mut last, mut accent): (Option<&PlacedGlyph>, Option<&PlacedGlyph>) = (None, None);
    for glyph in &glyphs {
        let gap = last.map_or(0.0, |last| gap(last, glyph));
        // Fonts of TeX draw the accent first, and the letter below it.
        let is_below = gap < 0.0 && glyph.text.starts_with(char::is_alphabetic);
        match accent.take() {
            Some(accent) if is_below => text.push_str(&joined(&glyph.text, &accent.text)),
            before => {
                text.push_str(before.map_or("", |accent| &accent.text));
                if gap > SPACE * glyph.size.max(last.map_or(0.0, |last| last.size)) {
                    text.push(' ');
                }
                match is_accent(&glyph.text) {
                    true => accent = Some(glyph),
                    false => text.push_str(&plain_forms(&glyph.text)),
                }
            }
        }
        last = Some(glyph);
    }
    text + accent.map_or("", |accent| &accent.text)
}

/// Returns the space between two glyphs, whichever comes first on the page; negative if they overlap.
fn gap(one: &PlacedGlyph, other: &PlacedGlyph) -> f64 {
    let place = |point: Point| (point - one.start).dot(one.direction);
    let (begin, end) = (place(other.start), place(other.end));
    if begin >= 0.0 { begin - place(one.end) } else { -end }
}

/// Brings the glyphs of a line of right-to-left text into the order of reading, however they were drawn. Numbers and
/// words of other scripts stay as they are.
fn right_to_left(mut glyphs: Vec<PlacedGlyph>) -> Vec<PlacedGlyph> {
    let Some(first) = glyphs.first() else { return glyphs };
    let (origin, direction) = (first.start, first.direction);
    glyphs.sort_by(|a, b| {
        let place = |glyph: &PlacedGlyph| (glyph.start - origin).dot(direction);
        place(b).total_cmp(&place(a))
    });
    let is_forward =
        |glyph: &PlacedGlyph| glyph.text.chars().any(char::is_alphanumeric) && !is_right_to_left(&glyph.text);
    for run in glyphs.chunk_by_mut(|a, b| is_forward(a) && is_forward(b)) {
        run.reverse();
    }
    glyphs
}

#[cfg(test)]
mod tests {
    use super::super::metadata::Metadata;
    use super::*;

    /// Glyphs of size 10 and width 5: each row is a text and where it begins.
    fn text(rows: &[(&str, f64, f64)]) -> String {
        let mut html = HtmlWriter::new(&Metadata::default(), 10_000);
        let mut lines = Lines::new(&mut html);
        for (text, x, y) in rows {
            for (c, number) in text.chars().zip(0..) {
                let start = Point::new(x + 5.0 * f64::from(number), *y);
                let (end, direction) = (start + Vec2::new(5.0, 0.0), Vec2::new(1.0, 0.0));
                lines.add(PlacedGlyph { text: c.to_string(), start, end, direction, size: 10.0 });
            }
        }
        lines.finish();
        html.finish().map_or_else(String::new, |(html, _)| html.split_once("<body>").unwrap().1.to_owned())
    }

    #[test]
    fn gaps_are_spaces_and_lines_of_a_paragraph_stay_together() {
        assert_eq!(text(&[("two", 0.0, 0.0), ("words", 18.0, 0.0)]), "<p>two words</p>\n");
        assert_eq!(text(&[("one", 0.0, 0.0), ("word", 15.5, 0.0)]), "<p>oneword</p>\n");
        assert_eq!(text(&[("a", 0.0, 0.0), ("2", 5.0, 4.0), ("b", 10.0, 0.0)]), "<p>a2b</p>\n");
        assert_eq!(text(&[("one", 0.0, 0.0), ("two", 0.0, -12.0)]), "<p>one\ntwo</p>\n");
        assert_eq!(text(&[("one", 0.0, 0.0), ("two", 0.0, -30.0)]), "<p>one</p>\n<p>two</p>\n");
        assert_eq!(text(&[("left", 100.0, 0.0), ("right", 0.0, 0.0)]), "<p>left\nright</p>\n");
    }

    #[test]
    fn a_word_that_was_cut_at_the_end_of_a_line_is_whole_again() {
        assert_eq!(text(&[("har-", 0.0, 0.0), ("bour", 0.0, -12.0)]), "<p>harbour</p>\n");
        assert_eq!(text(&[("Anglo-", 0.0, 0.0), ("Saxon", 0.0, -12.0)]), "<p>Anglo-\nSaxon</p>\n");
    }

    #[test]
    fn an_accent_that_was_drawn_first_belongs_to_its_letter() {
        assert_eq!(text(&[("caf", 0.0, 0.0), ("´", 15.0, 0.0), ("e", 15.0, 0.0), ("s", 20.0, 0.0)]), "<p>cafés</p>\n");
        assert_eq!(text(&[("´", 0.0, 0.0), ("ı", 0.0, 0.0)]), "<p>í</p>\n");
        assert_eq!(text(&[("´", 0.0, 0.0), ("^", 0.0, 0.0), ("1", 0.0, 0.0)]), "<p>´^1</p>\n");
    }

    #[test]
    fn right_to_left_text_is_read_as_it_is_meant_whichever_way_it_was_drawn() {
        assert_eq!(text(&[("םלוע", 0.0, 0.0), ("םולש", 23.0, 0.0)]), "<p>שלום עולם</p>\n");
        assert_eq!(text(&[("12", 0.0, 0.0), ("םולש", 13.0, 0.0)]), "<p>שלום 12</p>\n");
        let drawn_backwards: Vec<(String, f64)> =
            "שלום".chars().zip([15.0, 10.0, 5.0, 0.0]).map(|(c, x)| (c.to_string(), x)).collect();
        let rows: Vec<(&str, f64, f64)> = drawn_backwards.iter().map(|(c, x)| (c.as_str(), *x, 0.0)).collect();
        assert_eq!(text(&rows), "<p>שלום</p>\n");
    }

    #[test]
    fn ligatures_are_letters() {
        assert_eq!(text(&[("eﬃcient", 0.0, 0.0)]), "<p>efficient</p>\n");
    }
}
