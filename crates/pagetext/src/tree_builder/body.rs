//! Start tags in the body: WHATWG HTML, section 13.2.6.4.7 ("The "in body" insertion mode").

use crate::names::{BLOCK, FORMATTING, HEADING, Name, SPECIAL};
use crate::tokenizer::{RawText, Tag};

use super::{Builder, Mode, Space, Step, Stop};

impl<'a> Builder<'a, '_> {
    pub(super) fn start_in_body(&mut self, tag: &Tag<'a>) -> Step {
        let name = tag.name;
        match name {
            Name::A => {
                self.close_open_anchor(tag);
                self.reconstruct_formatting();
                self.insert_formatting(tag);
            }
            Name::Other | Name::Span => self.start_other(tag),
            _ if name.is(BLOCK) => {
                self.close_p();
                self.insert(tag);
            }
            Name::NoBr => self.start_nobr(tag),
            _ if name.is(FORMATTING) => {
                self.reconstruct_formatting();
                self.insert_formatting(tag);
            }
            Name::Li | Name::Dd | Name::Dt => self.start_item(tag),
            _ if name.is(HEADING) => {
                self.close_p();
                if self.stack.top_is(HEADING) {
                    self.pop();
                }
                self.insert(tag);
            }
            Name::Pre | Name::Listing => {
                self.close_p();
                self.insert(tag);
                self.ignore_line_feed = true;
                self.frameset_ok = false;
            }
            Name::Area | Name::Br | Name::Embed | Name::Img | Name::Image | Name::KeyGen | Name::Wbr => {
                self.start_void(tag)
            }
            name if name.is_of_head() => return self.start_in_head(tag),
            _ => return self.start_in_body_rarely(tag),
        }
        Step::Done
    }

    /// Tags that are rare.
    fn start_in_body_rarely(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Table => {
                if !self.quirks {
                    self.close_p();
                }
                self.insert(tag);
                self.frameset_ok = false;
                self.mode = Mode::InTable;
            }
            Name::Html => {
                if !self.stack.holds(Name::Template) {
                    self.add_languages(tag);
                }
            }
            Name::Body => {
                if self.has_body() && !self.stack.holds(Name::Template) {
                    self.frameset_ok = false;
                }
            }
            Name::FrameSet => {
                if self.frameset_ok && self.has_body() {
                    self.stop(Stop::OutOfOrder("a frameset in the place of the body"));
                }
            }
            Name::Form => self.start_form(tag),
            Name::PlainText => {
                self.close_p();
                self.start_raw(tag, RawText::All);
            }
            Name::Button => {
                if self.stack.in_scope(Name::Button) {
                    self.pop_implied(false, Name::Other);
                    self.pop_until(Name::Button);
                }
                self.start_other(tag);
                self.frameset_ok = false;
            }
            Name::Applet | Name::Marquee | Name::Object => {
                self.start_other(tag);
                self.push_marker();
                self.frameset_ok = false;
            }
            Name::Input => {
                self.close_select();
                self.reconstruct_formatting();
                self.insert_empty(tag, Space::Html);
                self.frameset_ok &= is_hidden_input(tag);
            }
            Name::Param | Name::Source | Name::Track => self.insert_empty(tag, Space::Html),
            Name::Hr => {
                self.close_p();
                if self.stack.in_scope(Name::Select) {
                    self.pop_implied(false, Name::Other);
                }
                self.insert_empty(tag, Space::Html);
                self.frameset_ok = false;
            }
            Name::TextArea => {
                self.start_raw(tag, RawText::References);
                self.ignore_line_feed = true;
                self.frameset_ok = false;
            }
            Name::Xmp => {
                self.close_p();
                self.reconstruct_formatting();
                self.frameset_ok = false;
                self.start_raw(tag, RawText::Plain);
            }
            Name::Iframe => {
                self.frameset_ok = false;
                self.start_raw(tag, RawText::Plain);
            }
            Name::NoEmbed | Name::NoScript => self.start_raw(tag, RawText::Plain),
            Name::Select => {
                if !self.close_select() {
                    self.start_other(tag);
                    self.frameset_ok = false;
                }
            }
            Name::Option | Name::OptGroup => self.start_option(tag),
            Name::Rb | Name::Rtc | Name::Rp | Name::Rt => self.start_ruby_part(tag),
            Name::Math => {
                self.reconstruct_formatting();
                self.insert_foreign(tag, Space::MathMl);
            }
            Name::Svg => {
                self.reconstruct_formatting();
                self.insert_foreign(tag, Space::Svg);
            }
            // The frames of a frameset that takes the place of the body.
            Name::Frame if self.in_source_order => self.insert_empty(tag, Space::Html),
            Name::Frame => {}
            Name::Head => {}
            name if name.is_part_of_table() => {}
            _ => self.start_other(tag),
        }
        Step::Done
    }

    /// "Any other start tag".
    fn start_other(&mut self, tag: &Tag<'a>) {
        self.reconstruct_formatting();
        self.insert(tag);
    }

    pub(super) fn start_void(&mut self, tag: &Tag<'a>) {
        self.reconstruct_formatting();
        self.insert_empty(tag, Space::Html);
        self.frameset_ok = false;
    }

    fn has_body(&self) -> bool {
        self.stack.0.get(1).is_some_and(|open| open.named(Name::Body))
    }

    fn start_nobr(&mut self, tag: &Tag<'a>) {
        self.reconstruct_formatting();
        if self.stack.in_scope(Name::NoBr) {
            self.adopt(tag);
            self.reconstruct_formatting();
        }
        self.insert_formatting(tag);
    }

    fn start_form(&mut self, tag: &Tag<'a>) {
        let in_template = self.stack.holds(Name::Template);
        if self.form.is_some() && !in_template {
            return;
        }
        self.close_p();
        self.insert(tag);
        if !in_template {
            self.form = self.stack.top().map(|open| open.id);
        }
    }

    /// Closes the open `li`, or `dd` or `dt`, for the next one.
    fn start_item(&mut self, tag: &Tag<'a>) {
        self.frameset_ok = false;
        let closes = |name: Name| match tag.name {
            Name::Li => name == Name::Li,
            _ => matches!(name, Name::Dd | Name::Dt),
        };
        let mut found = None;
        for open in self.stack.0.iter().rev() {
            if open.space == Space::Html && closes(open.name) {
                found = Some(open.name);
                break;
            }
            if open.is(SPECIAL) && !matches!(open.name, Name::Address | Name::Div | Name::P) {
                break;
            }
        }
        if let Some(name) = found {
            self.pop_implied(false, name);
            self.pop_until(name);
        }
        self.close_p();
        self.insert(tag);
    }

    /// Closes the open select, if any.
    fn close_select(&mut self) -> bool {
        let is_open = self.stack.in_scope(Name::Select);
        if is_open {
            self.pop_until(Name::Select);
        }
        is_open
    }

    fn start_option(&mut self, tag: &Tag<'a>) {
        if self.stack.in_scope(Name::Select) {
            let except = if tag.name == Name::Option { Name::OptGroup } else { Name::Other };
            self.pop_implied(false, except);
        } else if self.stack.top_named(Name::Option) {
            self.pop();
        }
        self.start_other(tag);
    }

    fn start_ruby_part(&mut self, tag: &Tag<'a>) {
        if self.stack.in_scope(Name::Ruby) {
            let except = if matches!(tag.name, Name::Rp | Name::Rt) { Name::Rtc } else { Name::Other };
            self.pop_implied(false, except);
        }
        self.insert(tag);
    }
}

/// Whether an `input` is of the type "hidden".
pub(super) fn is_hidden_input(tag: &Tag) -> bool {
    tag.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"))
}
