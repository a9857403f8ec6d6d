//! The list of active formatting elements (WHATWG HTML, section 13.2.4.3) and the "adoption agency
//! algorithm" (13.2.6.4.7).
//!
//! The algorithm moves nodes between elements of the same kind, so text keeps its field. The exceptions are headings that
//! change places with a link, and blocks that leave one. Only the elements open for the text that follows have to be
//! settled.

use crate::document::Rel;
use crate::model::Field;
use crate::names::{INLINE, Name, SCOPE, SPECIAL};
use crate::tokenizer::{Tag, references};

use super::stack::{Open, Space};
use super::{Builder, Stop};

/// A formatting element, or a marker.
#[derive(Clone, Debug)]
pub(super) enum Formatting<'a> {
    Marker,
    Element(Element<'a>),
}

#[derive(Clone, Debug)]
pub(super) struct Element<'a> {
    name: Name,
    /// The element on the stack.
    id: u32,
    /// The attributes as written.
    rest: &'a str,
    field: Option<Field>,
    /// The target of a link as written, and its `rel`.
    link: Option<(&'a str, Rel)>,
}

impl<'a> Builder<'a, '_> {
    pub(super) fn push_marker(&mut self) {
        self.formatting.push(Formatting::Marker);
    }

    pub(super) fn clear_to_marker(&mut self) {
        while let Some(Formatting::Element(_)) = self.formatting.pop() {}
    }

    /// Inserts an element and adds it to the list, which holds at most three alike.
    pub(super) fn insert_formatting(&mut self, tag: &Tag<'a>) {
        let same = |entry: &(usize, &Element)| entry.1.name == tag.name && tag.says_the_same(entry.1.rest);
        let mut earliest = None;
        let mut count = 0;
        for (at, _) in self.since_marker().filter(same) {
            earliest = Some(at);
            count += 1;
        }
        if let Some(at) = earliest.filter(|_| count >= 3) {
            self.formatting.remove(at);
        }
        let open = self.element(tag, Space::Html);
        let link = match tag.name {
            Name::A => tag.as_written("href").map(|href| (href, self.rel(tag))),
            _ => None,
        };
        let element = Element { name: tag.name, id: open.id, rest: tag.rest, field: open.field, link };
        self.push(open);
        self.formatting.push(Formatting::Element(element));
    }

    /// "Reconstruct the active formatting elements".
    #[inline]
    pub(super) fn reconstruct_formatting(&mut self) {
        if let Some(Formatting::Element(last)) = self.formatting.last()
            && self.stack.position(last.id).is_none()
        {
            self.reopen_formatting();
        }
    }

    fn reopen_formatting(&mut self) {
        let is_bound = |entry: &Formatting| match entry {
            Formatting::Marker => true,
            Formatting::Element(element) => self.stack.position(element.id).is_some(),
        };
        let first = self.formatting.iter().rposition(is_bound).map_or(0, |at| at + 1);
        for at in first..self.formatting.len() {
            if let Some(open) = self.again(at) {
                if self.foster && self.stack.in_table_part() {
                    self.stop(Stop::OutOfOrder("formatting of a table outside of its cells"));
                }
                if open.breaks {
                    self.findings.document.text.break_line();
                }
                self.push(open);
            }
        }
    }

    /// Inserts another element like the one in the list, and replaces it there.
    fn again(&mut self, at: usize) -> Option<Open<'a>> {
        self.next_id += 1;
        let id = self.next_id;
        let Some(Formatting::Element(element)) = self.formatting.get_mut(at) else { return None };
        element.id = id;
        if let Some((href, rel)) = element.link {
            // The tree has one more link, so it counts as one.
            self.findings.anchor(&references::in_attribute(href), rel);
        }
        let breaks = !element.name.is(INLINE);
        let (name, field) = (element.name, element.field);
        Some(Open { name, space: Space::Html, written: "", id, field, hidden: false, breaks, holds_html: false })
    }

    /// Returns the list from its end to the last marker.
    fn since_marker(&self) -> impl Iterator<Item = (usize, &Element<'a>)> {
        self.formatting.iter().enumerate().rev().map_while(|(at, entry)| match entry {
            Formatting::Marker => None,
            Formatting::Element(element) => Some((at, element)),
        })
    }

    fn position_in_list(&self, id: u32) -> Option<usize> {
        self.formatting.iter().position(|entry| matches!(entry, Formatting::Element(element) if element.id == id))
    }

    /// Closes the open `a`, however deep, for the next one.
    pub(super) fn close_open_anchor(&mut self, tag: &Tag<'a>) {
        let found = self.since_marker().find(|(_, element)| element.name == Name::A).map(|(_, element)| element.id);
        let Some(id) = found else { return };
        self.adopt(tag);
        if let Some(at) = self.position_in_list(id) {
            self.formatting.remove(at);
        }
        if let Some(at) = self.stack.position(id) {
            self.remove_at(at);
        }
    }

    /// The "adoption agency algorithm", for an end tag.
    pub(super) fn adopt(&mut self, tag: &Tag<'a>) {
        let subject = tag.name;
        if let Some(top) = self.stack.top()
            && top.named(subject)
            && self.position_in_list(top.id).is_none()
        {
            return self.pop();
        }
        for _ in 0..8 {
            let found = self.since_marker().find(|(_, element)| element.name == subject);
            let Some((in_list, id)) = found.map(|(at, element)| (at, element.id)) else {
                return self.any_other_end(tag);
            };
            let Some(in_stack) = self.stack.position(id) else {
                self.formatting.remove(in_list);
                return;
            };
            if !self.stack.is_in(SCOPE, |open| open.id == id) {
                return;
            }
            let furthest = self.stack.0.iter().skip(in_stack).position(|open| open.is(SPECIAL));
            let Some(furthest) = furthest.map(|at| in_stack + at) else {
                self.pop_to(in_stack);
                self.formatting.remove(in_list);
                return;
            };
            if self.foster {
                return self.stop(Stop::OutOfOrder("formatting of a table outside of its cells"));
            }
            if self.stack.0[in_stack].field.is_some() && self.stack.0[furthest].field.is_some() {
                return self.stop(Stop::OutOfOrder("a heading in a link that becomes a link in a heading"));
            }
            self.adopt_block(id, furthest);
        }
    }

    /// Runs one round: the block `furthest` leaves the formatting element `id`, and its content moves into a new element
    /// of the same kind.
    fn adopt_block(&mut self, id: u32, mut furthest: usize) {
        let mut bookmark = None;
        let mut at = furthest;
        let mut rounds = 0;
        loop {
            rounds += 1;
            at -= 1;
            let node = self.stack.0[at];
            if node.id == id {
                break;
            }
            let in_list = self.position_in_list(node.id);
            match in_list.filter(|_| rounds <= 3) {
                Some(entry) => {
                    let Some(open) = self.again(entry) else { return };
                    bookmark.get_or_insert(open.id);
                    self.stack.0[at] = open;
                }
                None => {
                    if let Some(entry) = in_list {
                        self.formatting.remove(entry);
                    }
                    if node.hidden {
                        return self.stop(Stop::OutOfOrder("a block that moves out of a hidden element"));
                    }
                    if node.field.is_some() {
                        return self.stop(Stop::OutOfOrder("a block that moves out of a link"));
                    }
                    let open = self.stack.0.remove(at);
                    self.closed(&open);
                    furthest -= 1;
                }
            }
        }
        self.move_entry(id, bookmark, furthest);
    }

    /// Removes the formatting element, and puts the new one behind the block.
    fn move_entry(&mut self, id: u32, bookmark: Option<u32>, furthest: usize) {
        let Some(mut entry) = self.position_in_list(id) else { return };
        if let Some(after) = bookmark.and_then(|bookmark| self.position_in_list(bookmark)) {
            let element = self.formatting.remove(entry);
            entry = if after < entry { after + 1 } else { after };
            self.formatting.insert(entry, element);
        }
        let Some(open) = self.again(entry) else { return };
        if let Some(old) = self.stack.position(id) {
            let open = self.stack.0.remove(old);
            self.closed(&open);
        }
        self.stack.0.insert(furthest, open);
        self.settle_field();
    }
}
