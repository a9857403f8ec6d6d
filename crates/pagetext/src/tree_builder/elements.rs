//! Opens and closes elements, with the effect on the page.

use crate::document::{Rel, rel};
use crate::model::Field;
use crate::names::{ASIDE, HEADING, HIDDEN, INLINE, Name};
use crate::tokenizer::Tag;

use super::stack::{Open, Space};
use super::{Builder, Stop};

impl<'a> Builder<'a, '_> {
    /// "Insert an HTML element".
    pub(super) fn insert(&mut self, tag: &Tag<'a>) {
        let open = self.element(tag, Space::Html);
        self.push(open);
    }

    /// Inserts an element that is not pushed onto the stack, or is popped at once.
    pub(super) fn insert_empty(&mut self, tag: &Tag<'a>, space: Space) {
        let open = self.element(tag, space);
        if open.breaks {
            self.findings.document.text.break_line();
        }
    }

    /// Inserts an element that the source does not name.
    pub(super) fn insert_implied(&mut self, name: Name) {
        self.insert(&Tag { name, ..Tag::default() });
    }

    /// Applies the effect of an element on the page, whether it is pushed or not.
    pub(super) fn element(&mut self, tag: &Tag<'a>, space: Space) -> Open<'a> {
        if self.foster && self.stack.in_table_part() {
            self.stop(Stop::OutOfOrder("content of a table outside of its cells"));
        }
        let name = tag.name;
        let breaks = !name.is(INLINE);
        if breaks {
            self.findings.document.text.break_line();
        }
        let field = match name {
            Name::A => self.anchor(tag),
            _ if name.is(HEADING) => {
                self.findings.heading(name.level());
                Some(Field::Heading)
            }
            Name::Title if self.foreign == 0 => self.findings.open_title().then_some(Field::Title),
            Name::Area
            | Name::Iframe
            | Name::Frame
            | Name::Object
            | Name::Embed
            | Name::Meta
            | Name::Link
            | Name::Base => {
                self.referring(tag);
                None
            }
            Name::Time => {
                self.findings.time(tag);
                None
            }
            _ => None,
        };
        self.next_id += 1;
        Open {
            name,
            space,
            written: tag.written,
            id: self.next_id,
            field,
            hidden: name.is(HIDDEN),
            breaks,
            holds_html: false,
        }
    }

    pub(super) fn anchor(&mut self, tag: &Tag<'a>) -> Option<Field> {
        let href = tag.get("href")?;
        self.linked = true;
        let rel = self.rel(tag);
        Some(self.findings.anchor(&href, rel))
    }

    /// Reads the start of a link.
    pub(super) fn rel(&self, tag: &Tag<'a>) -> Rel {
        rel(tag).within(self.stack.0.iter().filter_map(|open| open.field).chain(self.beyond.fields()))
    }

    /// Reads elements that refer to other pages or describe this one.
    pub(super) fn referring(&mut self, tag: &Tag<'a>) {
        match tag.name {
            Name::Base => return self.base(tag),
            Name::Area => self.findings.link(tag, "href"),
            Name::Object => self.findings.embedded(tag, "data"),
            Name::Embed => self.findings.embedded(tag, "src"),
            Name::Meta => self.findings.meta(tag),
            Name::Link => self.findings.link_element(tag),
            _ => self.findings.link(tag, "src"),
        }
        self.linked = true;
    }

    /// Sets the base: the first one counts for the whole page.
    pub(super) fn base(&mut self, tag: &Tag<'a>) {
        if self.based {
            return;
        }
        let Some(href) = tag.get("href") else { return };
        self.based = true;
        if self.linked {
            self.stop(Stop::Base(href.into_owned()));
        } else {
            self.findings.links.set_base(&href);
        }
    }

    pub(super) fn push(&mut self, open: Open<'a>) {
        self.opened(&open);
        self.stack.0.push(open);
    }

    /// Applies the effect of an opened element on what is in it.
    pub(super) fn opened(&mut self, open: &Open<'a>) {
        self.hidden += u32::from(open.hidden);
        self.foreign += u32::from(matches!(open.name, Name::Svg | Name::Math));
        self.paragraphs += u32::from(open.name == Name::P);
        if let Some(field) = open.field {
            self.field = field;
        }
        if open.name.is(ASIDE) {
            self.findings.document.text.begin_aside();
        }
    }

    pub(super) fn pop(&mut self) {
        if let Some(open) = self.stack.0.pop() {
            if open.breaks {
                self.findings.document.text.break_line();
            }
            self.closed(&open);
        }
    }

    pub(super) fn pop_to(&mut self, length: usize) {
        while self.stack.0.len() > length {
            self.pop();
        }
    }

    /// Removes an element from the stack, wherever it stands.
    ///
    /// Elements above it are still within it, so its line ends where theirs do.
    pub(super) fn remove_at(&mut self, at: usize) {
        if at + 1 >= self.stack.0.len() {
            return self.pop_to(at);
        }
        let open = self.stack.0.remove(at);
        if open.hidden || open.field.is_some() {
            self.stop(Stop::OutOfOrder("an element that goes on behind its end"));
        }
        self.stack.0[at].breaks |= open.breaks;
        self.closed(&open);
    }

    /// Applies the effect of a closed element.
    pub(super) fn closed(&mut self, open: &Open<'a>) {
        self.hidden -= u32::from(open.hidden);
        self.foreign -= u32::from(matches!(open.name, Name::Svg | Name::Math));
        self.paragraphs -= u32::from(open.name == Name::P);
        if open.name.is(ASIDE) {
            self.findings.document.text.end_aside();
        }
        if open.field.is_some() {
            self.settle_field();
        }
    }

    pub(super) fn settle_field(&mut self) {
        let on_stack = || self.stack.0.iter().rev().find_map(|open| open.field);
        self.field = self.beyond.field().or_else(on_stack).unwrap_or(Field::Body);
    }

    pub(super) fn pop_implied(&mut self, thorough: bool, except: Name) {
        while self.stack.top_is_implied(thorough, except) {
            self.pop();
        }
    }

    /// Pops up to an element of that name, which must be open.
    pub(super) fn pop_until(&mut self, name: Name) {
        self.pop_until_any(|open| open.named(name));
    }

    pub(super) fn pop_until_any(&mut self, last: impl Fn(&Open<'a>) -> bool) {
        let at = self.stack.0.iter().rposition(last).unwrap_or(0);
        self.pop_to(at);
    }

    /// Closes an open `p`.
    pub(super) fn close_p(&mut self) {
        if self.paragraphs > 0 && self.stack.p_in_button_scope() {
            self.pop_implied(false, Name::P);
            self.pop_until(Name::P);
        }
    }
}
