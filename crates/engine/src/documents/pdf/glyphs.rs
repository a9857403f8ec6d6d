//! The device to which a PDF is drawn: it keeps the glyphs and drops the rest.

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Vec2};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};

use super::html::HtmlWriter;
use super::lines::{Lines, PlacedGlyph};

/// Units of a glyph in one em.
const EM: f64 = 1000.0;
/// The width of a glyph whose font does not tell it, in units of a glyph.
const USUAL_WIDTH: f64 = 500.0;

/// Turns glyphs into the text of a page.
pub(super) struct GlyphReader<'w> {
    lines: Lines<'w>,
    /// Where the last run begins, and its text: strokes and shadows draw the same once more.
    last_run: (Point, String),
}

impl<'w> GlyphReader<'w> {
    pub fn new(html: &'w mut HtmlWriter) -> Self {
        Self { lines: Lines::new(html), last_run: (Point::ZERO, String::new()) }
    }

    /// Ends the page.
    pub fn finish(self) {
        self.lines.finish();
    }

    /// Returns whether a run is the last one once more, at the same place or next to it.
    fn is_again(&mut self, glyphs: &[PlacedGlyph]) -> bool {
        let Some(first) = glyphs.first() else { return true };
        let text: String = glyphs.iter().map(|glyph| glyph.text.as_str()).collect();
        let (place, last) = &self.last_run;
        let is_again = *last == text && (first.start - *place).hypot() < 0.15 * first.size;
        self.last_run = (first.start, text);
        is_again
    }
}

impl Device<'_> for GlyphReader<'_> {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        let is_vertical = run.writing_mode() == WritingMode::Vertical;
        let placed = run.glyphs().iter();
        let placed = placed.map(|glyph| place(glyph, props.transform * glyph.transform(), is_vertical));
        let glyphs: Vec<PlacedGlyph> = placed.filter(|glyph| glyph.size > 0.0 && glyph.size.is_finite()).collect();
        if self.is_again(&glyphs) {
            return;
        }
        for glyph in glyphs {
            self.lines.add(glyph);
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn draw_rect(&mut self, _: &Rect, _: DrawProps<'_>, _: &DrawMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_clip_rect(&mut self, _: &Rect) {}
    fn pop_clip(&mut self) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn pop_transparency_group(&mut self) {}
}

fn place(glyph: &Glyph<'_>, transform: Affine, is_vertical: bool) -> PlacedGlyph {
    let start = transform * Point::ZERO;
    let (along, up) = (transform * Point::new(EM, 0.0) - start, transform * Point::new(0.0, EM) - start);
    let width = match glyph {
        Glyph::Outline(outline) => outline.advance_width(),
        Glyph::Type3(drawn) => drawn.advance_width(),
    };
    let width = f64::from(width.filter(|width| width.is_finite()).unwrap_or(USUAL_WIDTH as f32)).abs();
    let (em, width) = if is_vertical { (-up, EM) } else { (along, width) };
    PlacedGlyph {
        text: text(glyph),
        start,
        end: start + em * (width / EM),
        direction: if em.hypot() > 0.0 { em / em.hypot() } else { Vec2::new(1.0, 0.0) },
        size: up.hypot(),
    }
}

/// Returns the text of a glyph; empty if nothing tells it.
fn text(glyph: &Glyph<'_>) -> String {
    match glyph.as_unicode() {
        Some(BfString::Char(c)) => c.to_string(),
        Some(BfString::String(text)) => text,
        None => bitmap_text(glyph).unwrap_or_default(),
    }
}

/// Returns the text of a glyph of a bitmap font as TeX makes them: its letters have the codes of ASCII.
fn bitmap_text(glyph: &Glyph<'_>) -> Option<String> {
    let Glyph::Type3(_) = glyph else { return None };
    let code = u8::try_from(glyph.char_code()).ok().filter(u8::is_ascii_alphanumeric)?;
    Some(char::from(code).to_string())
}
