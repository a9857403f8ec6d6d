//! End tags in the body: WHATWG HTML, section 13.2.6.4.7 ("The "in body" insertion mode").

use crate::names::{BLOCK, FORMATTING, HEADING, Name, SCOPE};
use crate::tokenizer::Tag;

use super::{Builder, Mode, Step};

impl<'a> Builder<'a, '_> {
    pub(super) fn end_in_body(&mut self, tag: &Tag<'a>) -> Step {
        let name = tag.name;
        match name {
            Name::Other | Name::Span => self.any_other_end(tag),
            _ if name.is(FORMATTING) => self.adopt(tag),
            Name::P => {
                if !self.stack.p_in_button_scope() {
                    self.insert_implied(Name::P);
                }
                self.close_p();
            }
            _ if name.is(BLOCK) || matches!(name, Name::Button | Name::Listing | Name::Pre | Name::Select) => {
                if self.stack.in_scope(name) {
                    self.pop_implied(false, Name::Other);
                    self.pop_until(name);
                }
            }
            Name::Li | Name::Dd | Name::Dt => {
                let is_open = if name == Name::Li { self.stack.in_list_scope(name) } else { self.stack.in_scope(name) };
                if is_open {
                    self.pop_implied(false, name);
                    self.pop_until(name);
                }
            }
            _ if name.is(HEADING) => {
                if self.stack.is_in(SCOPE, |open| open.is(HEADING)) {
                    self.pop_implied(false, Name::Other);
                    self.pop_until_any(|open| open.is(HEADING));
                }
            }
            Name::Body | Name::Html => {
                if self.stack.in_scope(Name::Body) {
                    self.mode = Mode::AfterBody;
                    if name == Name::Html {
                        return Step::Again(Mode::AfterBody);
                    }
                }
            }
            Name::Form => self.end_form(),
            Name::Applet | Name::Marquee | Name::Object => {
                if self.stack.in_scope(name) {
                    self.pop_implied(false, Name::Other);
                    self.pop_until(name);
                    self.clear_to_marker();
                }
            }
            Name::Br => self.start_void(&Tag { name: Name::Br, ..Tag::default() }),
            Name::Template => return self.end_in_head(tag),
            _ => self.any_other_end(tag),
        }
        Step::Done
    }

    /// "Any other end tag".
    pub(super) fn any_other_end(&mut self, tag: &Tag<'a>) {
        if let Some(at) = self.stack.closed_by(tag.name, tag.written) {
            self.pop_to(at);
        }
    }

    fn end_form(&mut self) {
        if self.stack.holds(Name::Template) {
            if self.stack.in_scope(Name::Form) {
                self.pop_until(Name::Form);
            }
            return;
        }
        let Some(form) = self.form.take() else { return };
        if !self.stack.is_in(SCOPE, |open| open.id == form) {
            return;
        }
        self.pop_implied(false, Name::Other);
        if let Some(at) = self.stack.position(form) {
            self.remove_at(at);
        }
    }
}
