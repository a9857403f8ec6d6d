//! SVG and MathML: WHATWG HTML, section 13.2.6.5 ("The rules for parsing tokens in foreign content").

use crate::names::{BREAKS_OUT, Name, is_same};
use crate::tokenizer::Tag;

use super::{Builder, Space, language};

impl<'a> Builder<'a, '_> {
    /// Returns whether the rules for foreign content apply to a start tag: "tree construction dispatcher".
    #[inline]
    pub(super) fn in_foreign_content(&self, tag: &Tag<'a>) -> bool {
        let Some(top) = self.stack.top() else { return false };
        if top.space == Space::Html {
            return false;
        }
        let by_html = (top.holds_math_text() && !matches!(tag.name, Name::MGlyph | Name::MalignMark))
            || (top.space == Space::MathMl && top.name == Name::AnnotationXml && tag.name == Name::Svg)
            || top.holds_svg_html()
            || top.holds_html;
        !by_html
    }

    pub(super) fn in_foreign_text(&self) -> bool {
        self.stack.top().is_some_and(|top| {
            top.space != Space::Html && !top.holds_math_text() && !top.holds_svg_html() && !top.holds_html
        })
    }

    pub(super) fn insert_foreign(&mut self, tag: &Tag<'a>, space: Space) {
        if tag.name == Name::Html {
            self.foreign_language = Some(tag.get("lang").and_then(|lang| language::primary_subtag(&lang)));
        }
        if tag.self_closing {
            // It has no content, so it does not nest.
            self.count_close(tag.name);
            return self.insert_empty(tag, space);
        }
        let mut open = self.element(tag, space);
        open.holds_html = space == Space::MathMl
            && tag.name == Name::AnnotationXml
            && tag.get("encoding").is_some_and(|encoding| {
                encoding.eq_ignore_ascii_case("text/html") || encoding.eq_ignore_ascii_case("application/xhtml+xml")
            });
        self.push(open);
    }

    pub(super) fn foreign_start(&mut self, tag: &Tag<'a>) {
        let is_old_font = tag.name == Name::Font && (tag.has("color") || tag.has("face") || tag.has("size"));
        if tag.name.is(BREAKS_OUT) || is_old_font {
            self.break_out();
            return self.start_in(self.mode, tag);
        }
        let space = self.stack.top().map_or(Space::Html, |top| top.space);
        self.insert_foreign(tag, space);
    }

    /// Closes foreign elements up to one that holds HTML.
    fn break_out(&mut self) {
        while self
            .stack
            .top()
            .is_some_and(|top| top.space != Space::Html && !top.holds_math_text() && !top.holds_svg_html())
        {
            self.pop();
        }
    }

    pub(super) fn foreign_end(&mut self, tag: &Tag<'a>) {
        if matches!(tag.name, Name::Br | Name::P) {
            self.break_out();
            return self.end_in(self.mode, tag);
        }
        for at in (1..self.stack.0.len()).rev() {
            let open = self.stack.0[at];
            if at + 1 < self.stack.0.len() && open.space == Space::Html {
                return self.end_in(self.mode, tag);
            }
            let same = match tag.name {
                Name::Other => open.name == Name::Other && is_same(open.written, tag.written),
                name => open.name == name,
            };
            if same {
                return self.pop_to(at);
            }
        }
    }
}
