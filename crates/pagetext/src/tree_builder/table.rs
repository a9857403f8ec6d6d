//! Tables: WHATWG HTML, sections 13.2.6.4.9 to 13.2.6.4.15.

use crate::names::{Name, TABLE_SCOPE};
use crate::tokenizer::{Tag, references};

use super::body::is_hidden_input;
use super::{Builder, Mode, Space, Step, Stop};

impl<'a> Builder<'a, '_> {
    /// Text between the parts of a table: white space; other text moves before the table.
    pub(super) fn table_text(&mut self, text: &str) {
        if !self.stack.in_table_part() {
            return self.body_text(text);
        }
        let mut space = true;
        references::in_text(text, |piece| space &= super::characters::is_space(piece));
        if space || self.in_source_order {
            self.append(text);
        } else {
            self.stop(Stop::OutOfOrder("text of a table outside of its cells"));
        }
    }

    /// "Clear the stack back to a table context" and the like.
    fn clear_to(&mut self, is_context: impl Fn(Name) -> bool) {
        let at = self.stack.0.iter().rposition(|open| open.space == Space::Html && is_context(open.name));
        self.pop_to(at.map_or(0, |at| at + 1));
    }

    fn clear_to_table(&mut self) {
        self.clear_to(|name| name.is(TABLE_SCOPE));
    }

    fn clear_to_table_body(&mut self) {
        self.clear_to(|name| matches!(name, Name::TBody | Name::TFoot | Name::THead | Name::Template | Name::Html));
    }

    fn clear_to_row(&mut self) {
        self.clear_to(|name| matches!(name, Name::Tr | Name::Template | Name::Html));
    }

    /// Reads content that is no part of the table as if it stood before it.
    fn foster_start(&mut self, tag: &Tag<'a>) -> Step {
        self.foster = true;
        let step = self.start_in_body(tag);
        self.foster = false;
        step
    }

    pub(super) fn start_in_table(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Caption => {
                self.clear_to_table();
                self.push_marker();
                self.insert(tag);
                self.mode = Mode::InCaption;
            }
            Name::ColGroup => {
                self.clear_to_table();
                self.insert(tag);
                self.mode = Mode::InColumnGroup;
            }
            Name::Col => {
                self.clear_to_table();
                self.insert_implied(Name::ColGroup);
                return Step::Again(Mode::InColumnGroup);
            }
            Name::TBody | Name::TFoot | Name::THead => {
                self.clear_to_table();
                self.insert(tag);
                self.mode = Mode::InTableBody;
            }
            Name::Td | Name::Th | Name::Tr => {
                self.clear_to_table();
                self.insert_implied(Name::TBody);
                return Step::Again(Mode::InTableBody);
            }
            Name::Table => {
                if self.stack.in_table_scope(Name::Table) {
                    self.pop_until(Name::Table);
                    return Step::Again(self.mode_by_stack());
                }
            }
            Name::Style | Name::Script | Name::Template => return self.start_in_head(tag),
            Name::Input if is_hidden_input(tag) => self.insert_empty(tag, Space::Html),
            Name::Form => {
                if self.form.is_none() && !self.stack.holds(Name::Template) {
                    self.insert_empty(tag, Space::Html);
                    self.form = Some(self.next_id);
                }
            }
            _ => return self.foster_start(tag),
        }
        Step::Done
    }

    pub(super) fn end_in_table(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Table => {
                if self.stack.in_table_scope(Name::Table) {
                    self.pop_until(Name::Table);
                    self.mode = self.mode_by_stack();
                }
            }
            Name::Body | Name::Html => {}
            name if name.is_part_of_table() => {}
            Name::Template => return self.end_in_head(tag),
            _ => {
                self.foster = true;
                let step = self.end_in_body(tag);
                self.foster = false;
                return step;
            }
        }
        Step::Done
    }

    /// Closes the caption; returns whether one was open.
    fn close_caption(&mut self) -> bool {
        let is_open = self.stack.in_table_scope(Name::Caption);
        if is_open {
            self.pop_implied(false, Name::Other);
            self.pop_until(Name::Caption);
            self.clear_to_marker();
            self.mode = Mode::InTable;
        }
        is_open
    }

    pub(super) fn start_in_caption(&mut self, tag: &Tag<'a>) -> Step {
        if !tag.name.is_part_of_table() {
            return self.start_in_body(tag);
        }
        if self.close_caption() { Step::Again(Mode::InTable) } else { Step::Done }
    }

    pub(super) fn end_in_caption(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Caption => {
                self.close_caption();
            }
            Name::Table if self.close_caption() => return Step::Again(Mode::InTable),
            Name::Table | Name::Body | Name::Html => {}
            name if name.is_part_of_table() => {}
            _ => return self.end_in_body(tag),
        }
        Step::Done
    }

    pub(super) fn start_in_column_group(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Html => self.start_in_body(tag),
            Name::Template => self.start_in_head(tag),
            Name::Col => {
                self.insert_empty(tag, Space::Html);
                Step::Done
            }
            _ => self.leave_column_group(),
        }
    }

    pub(super) fn end_in_column_group(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::ColGroup => {
                if let Step::Again(mode) = self.leave_column_group() {
                    self.mode = mode;
                }
                Step::Done
            }
            Name::Col => Step::Done,
            Name::Template => self.end_in_head(tag),
            _ => self.leave_column_group(),
        }
    }

    fn leave_column_group(&mut self) -> Step {
        if !self.stack.top_named(Name::ColGroup) {
            return Step::Done;
        }
        self.pop();
        Step::Again(Mode::InTable)
    }

    pub(super) fn start_in_table_body(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Tr => {
                self.clear_to_table_body();
                self.insert(tag);
                self.mode = Mode::InRow;
                Step::Done
            }
            Name::Th | Name::Td => {
                self.clear_to_table_body();
                self.insert_implied(Name::Tr);
                Step::Again(Mode::InRow)
            }
            name if name.is_part_of_table() => self.leave_table_body(),
            _ => self.start_in_table(tag),
        }
    }

    pub(super) fn end_in_table_body(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::TBody | Name::TFoot | Name::THead => {
                if self.stack.in_table_scope(tag.name) {
                    self.clear_to_table_body();
                    self.pop();
                    self.mode = Mode::InTable;
                }
                Step::Done
            }
            Name::Table => self.leave_table_body(),
            Name::Body | Name::Html => Step::Done,
            name if name.is_part_of_table() => Step::Done,
            _ => self.end_in_table(tag),
        }
    }

    fn leave_table_body(&mut self) -> Step {
        let is_outer = |name| matches!(name, Name::Table | Name::TBody | Name::TFoot);
        if !self.stack.is_in(TABLE_SCOPE, |open| open.space == Space::Html && is_outer(open.name)) {
            return Step::Done;
        }
        self.clear_to_table_body();
        self.pop();
        Step::Again(Mode::InTable)
    }

    pub(super) fn start_in_row(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Th | Name::Td => {
                self.clear_to_row();
                self.insert(tag);
                self.mode = Mode::InCell;
                self.push_marker();
                Step::Done
            }
            name if name.is_part_of_table() => self.leave_row(),
            _ => self.start_in_table(tag),
        }
    }

    pub(super) fn end_in_row(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Tr => {
                if let Step::Again(mode) = self.leave_row() {
                    self.mode = mode;
                }
                Step::Done
            }
            Name::Table => self.leave_row(),
            Name::TBody | Name::TFoot | Name::THead => {
                if self.stack.in_table_scope(tag.name) {
                    self.leave_row()
                } else {
                    Step::Done
                }
            }
            Name::Body | Name::Html => Step::Done,
            name if name.is_part_of_table() => Step::Done,
            _ => self.end_in_table(tag),
        }
    }

    fn leave_row(&mut self) -> Step {
        if !self.stack.in_table_scope(Name::Tr) {
            return Step::Done;
        }
        self.clear_to_row();
        self.pop();
        Step::Again(Mode::InTableBody)
    }

    pub(super) fn start_in_cell(&mut self, tag: &Tag<'a>) -> Step {
        if !tag.name.is_part_of_table() {
            return self.start_in_body(tag);
        }
        self.leave_cell()
    }

    pub(super) fn end_in_cell(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Td | Name::Th => {
                if self.stack.in_table_scope(tag.name) {
                    self.pop_implied(false, Name::Other);
                    self.pop_until(tag.name);
                    self.clear_to_marker();
                    self.mode = Mode::InRow;
                }
                Step::Done
            }
            Name::Body | Name::Caption | Name::Col | Name::ColGroup | Name::Html => Step::Done,
            Name::Table | Name::TBody | Name::TFoot | Name::THead | Name::Tr => {
                if self.stack.in_table_scope(tag.name) {
                    self.leave_cell()
                } else {
                    Step::Done
                }
            }
            _ => self.end_in_body(tag),
        }
    }

    fn leave_cell(&mut self) -> Step {
        let is_cell = |name| matches!(name, Name::Td | Name::Th);
        if !self.stack.is_in(TABLE_SCOPE, |open| open.space == Space::Html && is_cell(open.name)) {
            return Step::Done;
        }
        self.pop_implied(false, Name::Other);
        self.pop_until_any(|open| open.space == Space::Html && is_cell(open.name));
        self.clear_to_marker();
        Step::Again(Mode::InRow)
    }
}
