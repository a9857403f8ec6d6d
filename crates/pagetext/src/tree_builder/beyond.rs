//! Elements that are nested beyond the limit.
//!
//! They are not put on the stack, so that time and memory stay bounded, and no insertion mode applies to them. Nothing
//! else changes: each has its effect on the page when it begins, and the text within it has its field. The innermost
//! elements with a lasting effect are remembered, and all are counted to know when the limit is left again.

use crate::model::Field;
use crate::names::{ASIDE, HEADING, INLINE, Name, SHALLOW};
use crate::tokenizer::{RawText, Tag};

use super::Builder;
use super::stack::{Open, Space};

/// Elements with a lasting effect that are remembered beyond the limit.
const MOST: usize = 16;

/// The open elements beyond the limit.
#[derive(Debug, Default)]
pub(super) struct Beyond<'a> {
    /// How many are open.
    count: usize,
    /// Those with a lasting effect, the innermost last.
    lasting: Vec<Open<'a>>,
}

impl Beyond<'_> {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the field of the innermost element that has one.
    pub fn field(&self) -> Option<Field> {
        self.lasting.iter().rev().find_map(|open| open.field)
    }

    /// Returns the fields of the remembered elements.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.lasting.iter().filter_map(|open| open.field)
    }
}

impl<'a> Builder<'a, '_> {
    /// Returns whether an element that begins now is beyond the limit.
    pub(super) fn is_beyond(&self, tag: &Tag<'a>) -> bool {
        !self.beyond.is_empty()
            || (self.depth >= self.max_depth && !tag.name.is(SHALLOW))
            // The stack may be higher than the depth: it also holds elements that do not count.
            || self.stack.0.len() > self.max_depth.saturating_mul(4).saturating_add(64)
    }

    pub(super) fn start_beyond(&mut self, tag: &Tag<'a>) {
        if let Some(kind) = self.raw_text_of(tag) {
            return self.start_raw(tag, kind);
        }
        if tag.name == Name::A {
            // As anywhere, a link ends where the next one begins.
            self.close_lasting(|open| open.name == Name::A);
        }
        let open = self.element(tag, Space::Html);
        if open.breaks {
            self.findings.document.text.break_line();
        }
        let is_empty = tag.self_closing && (self.xml.is_some() || self.foreign > 0);
        if tag.name.is(SHALLOW) || is_empty {
            return;
        }
        self.findings.document.too_deep = true;
        self.beyond.count += 1;
        let lasts =
            open.field.is_some() || open.hidden || open.name.is(ASIDE) || matches!(open.name, Name::Svg | Name::Math);
        if lasts && self.beyond.lasting.len() < MOST {
            self.opened(&open);
            self.beyond.lasting.push(open);
        }
    }

    pub(super) fn end_beyond(&mut self, tag: &Tag<'a>) {
        let name = tag.name;
        if !name.is(INLINE) {
            self.findings.document.text.break_line();
        }
        if name != Name::Other {
            self.close_lasting(|open| open.name == name || (name.is(HEADING) && open.name.is(HEADING)));
        }
        if name.is(SHALLOW) {
            return;
        }
        self.beyond.count = self.beyond.count.saturating_sub(1);
        if self.beyond.is_empty() {
            self.close_all_lasting();
        }
    }

    fn close_all_lasting(&mut self) {
        while let Some(open) = self.beyond.lasting.pop() {
            self.closed(&open);
        }
    }

    /// Closes the innermost such element and those within it.
    fn close_lasting(&mut self, is_it: impl Fn(&Open<'a>) -> bool) {
        let Some(at) = self.beyond.lasting.iter().rposition(is_it) else { return };
        while self.beyond.lasting.len() > at
            && let Some(open) = self.beyond.lasting.pop()
        {
            self.closed(&open);
        }
    }

    /// Returns how the content of an element is read, if it is only text.
    pub(super) fn raw_text_of(&self, tag: &Tag<'a>) -> Option<RawText> {
        if self.xml.is_none() {
            return RawText::of(tag.name).filter(|_| self.foreign == 0);
        }
        // Scripts of pages that are XML in name only hold "<" and "&".
        let is_raw = matches!(tag.name, Name::Script | Name::Style | Name::NoScript) && !tag.self_closing;
        is_raw.then_some(RawText::Sections)
    }
}
