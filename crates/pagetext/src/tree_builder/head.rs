//! The insertion modes before the body, and templates: WHATWG HTML, sections 13.2.6.4.1 to 13.2.6.4.6
//! and 13.2.6.4.22.

use crate::names::Name;
use crate::tokenizer::{RawText, Tag};

use super::{Builder, Mode, Step};

impl<'a> Builder<'a, '_> {
    /// Begins the root, whether the source names it or not.
    fn begin_root(&mut self, tag: Option<&Tag<'a>>) {
        match tag {
            Some(tag) => {
                self.insert(tag);
                self.add_languages(tag);
            }
            None => self.insert_implied(Name::Html),
        }
        self.mode = Mode::BeforeHead;
    }

    /// Adds attributes that the root does not have yet.
    pub(super) fn add_languages(&mut self, tag: &Tag<'a>) {
        for (language, name) in self.languages.iter_mut().zip(["lang", "xml:lang"]) {
            if language.is_none() {
                *language = tag.get(name);
            }
        }
    }

    fn begin_head(&mut self) {
        self.insert_implied(Name::Head);
        self.has_head = true;
        self.mode = Mode::InHead;
    }

    fn end_head(&mut self) {
        self.pop();
        self.mode = Mode::AfterHead;
    }

    /// Moves from any mode before the body into the body.
    pub(super) fn begin_body(&mut self, mut mode: Mode) {
        loop {
            match mode {
                Mode::Initial => self.quirks = true,
                Mode::BeforeHtml => self.begin_root(None),
                Mode::BeforeHead => self.begin_head(),
                Mode::InHead => self.end_head(),
                Mode::AfterHead => {
                    self.insert_implied(Name::Body);
                    self.mode = Mode::InBody;
                }
                _ => return,
            }
            mode = if mode == Mode::Initial { Mode::BeforeHtml } else { self.mode };
        }
    }

    pub(super) fn start_before_body(&mut self, mode: Mode, tag: &Tag<'a>) -> Step {
        match (mode, tag.name) {
            (Mode::Initial, _) => {
                self.quirks = true;
                return Step::Again(Mode::BeforeHtml);
            }
            (Mode::BeforeHtml, Name::Html) => self.begin_root(Some(tag)),
            (Mode::BeforeHtml, _) => {
                self.begin_root(None);
                return Step::Again(Mode::BeforeHead);
            }
            (_, Name::Html) => return self.start_in_body(tag),
            (Mode::BeforeHead, Name::Head) => {
                self.insert(tag);
                self.has_head = true;
                self.mode = Mode::InHead;
            }
            (Mode::BeforeHead, _) => {
                self.begin_head();
                return Step::Again(Mode::InHead);
            }
            (Mode::InHead, _) => return self.start_in_head(tag),
            _ => return self.start_after_head(tag),
        }
        Step::Done
    }

    pub(super) fn start_in_head(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Base | Name::BaseFont | Name::BgSound | Name::Link | Name::Meta => {
                let space = super::Space::Html;
                self.insert_empty(tag, space);
            }
            Name::Title => self.start_raw(tag, RawText::References),
            Name::NoFrames | Name::Style | Name::NoScript => self.start_raw(tag, RawText::Plain),
            Name::Script => self.start_raw(tag, RawText::Script),
            Name::Template => {
                self.push_marker();
                self.frameset_ok = false;
                self.mode = Mode::InTemplate;
                self.template_modes.push(Mode::InTemplate);
                self.insert(tag);
            }
            Name::Head => {}
            _ => {
                self.pop();
                return Step::Again(Mode::AfterHead);
            }
        }
        Step::Done
    }

    fn start_after_head(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Body => {
                self.insert(tag);
                self.frameset_ok = false;
                self.mode = Mode::InBody;
            }
            Name::FrameSet => {
                self.insert(tag);
                self.mode = Mode::InFrameset;
            }
            // They belong to the closed head; only the order of white space depends on it.
            name if name.is_of_head() => return self.start_in_head(tag),
            Name::Head => {}
            _ => {
                self.insert_implied(Name::Body);
                return Step::Again(Mode::InBody);
            }
        }
        Step::Done
    }

    /// Opens an element that holds only text.
    pub(super) fn start_raw(&mut self, tag: &Tag<'a>, kind: RawText) {
        self.insert(tag);
        self.raw = Some(kind);
    }

    pub(super) fn end_before_body(&mut self, mode: Mode, tag: &Tag<'a>) -> Step {
        let goes_on = matches!(tag.name, Name::Head | Name::Body | Name::Html | Name::Br);
        match mode {
            Mode::Initial => {
                self.quirks = true;
                Step::Again(Mode::BeforeHtml)
            }
            Mode::BeforeHtml if goes_on => {
                self.begin_root(None);
                Step::Again(Mode::BeforeHead)
            }
            Mode::BeforeHead if goes_on => {
                self.begin_head();
                Step::Again(Mode::InHead)
            }
            Mode::InHead => self.end_in_head(tag),
            Mode::AfterHead if tag.name == Name::Template => self.end_in_head(tag),
            Mode::AfterHead if goes_on && tag.name != Name::Head => {
                self.insert_implied(Name::Body);
                Step::Again(Mode::InBody)
            }
            _ => Step::Done,
        }
    }

    pub(super) fn end_in_head(&mut self, tag: &Tag<'a>) -> Step {
        match tag.name {
            Name::Head => self.end_head(),
            Name::Body | Name::Html | Name::Br => {
                self.pop();
                return Step::Again(Mode::AfterHead);
            }
            Name::Template if self.stack.holds(Name::Template) => {
                self.pop_implied(true, Name::Other);
                self.pop_until(Name::Template);
                self.clear_to_marker();
                self.template_modes.pop();
                self.mode = self.mode_by_stack();
            }
            _ => {}
        }
        Step::Done
    }

    pub(super) fn start_in_template(&mut self, tag: &Tag<'a>) -> Step {
        let mode = match tag.name {
            name if name.is_of_head() => return self.start_in_head(tag),
            Name::Caption | Name::ColGroup | Name::TBody | Name::TFoot | Name::THead => Mode::InTable,
            Name::Col => Mode::InColumnGroup,
            Name::Tr => Mode::InTableBody,
            Name::Td | Name::Th => Mode::InRow,
            _ => Mode::InBody,
        };
        self.template_modes.pop();
        self.template_modes.push(mode);
        Step::Again(mode)
    }

    /// "Reset the insertion mode appropriately".
    pub(super) fn mode_by_stack(&self) -> Mode {
        for (at, open) in self.stack.0.iter().enumerate().rev().filter(|(_, open)| open.space == super::Space::Html) {
            match open.name {
                Name::Td | Name::Th if at > 0 => return Mode::InCell,
                Name::Tr => return Mode::InRow,
                Name::TBody | Name::THead | Name::TFoot => return Mode::InTableBody,
                Name::Caption => return Mode::InCaption,
                Name::ColGroup => return Mode::InColumnGroup,
                Name::Table => return Mode::InTable,
                Name::Template => return self.template_modes.last().copied().unwrap_or(Mode::InBody),
                Name::Head if at > 0 => return Mode::InHead,
                Name::Body => return Mode::InBody,
                Name::FrameSet => return Mode::InFrameset,
                Name::Html if self.has_head => return Mode::AfterHead,
                Name::Html => return Mode::BeforeHead,
                _ => {}
            }
        }
        Mode::InBody
    }
}
