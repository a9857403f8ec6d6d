//! Framesets: WHATWG HTML, sections 13.2.6.4.18 to 13.2.6.4.20 and 13.2.6.4.22.

use crate::names::Name;
use crate::tokenizer::Tag;

use super::{Builder, Mode, Space, Step};

impl<'a> Builder<'a, '_> {
    pub(super) fn start_in_frames(&mut self, mode: Mode, tag: &Tag<'a>) -> Step {
        match (tag.name, mode) {
            (Name::Html, _) => return self.start_in_body(tag),
            (Name::NoFrames, _) => return self.start_in_head(tag),
            (Name::FrameSet, Mode::InFrameset) => self.insert(tag),
            (Name::Frame, Mode::InFrameset) => self.insert_empty(tag, Space::Html),
            _ => {}
        }
        Step::Done
    }

    pub(super) fn end_in_frames(&mut self, mode: Mode, tag: &Tag<'a>) -> Step {
        match (tag.name, mode) {
            (Name::FrameSet, Mode::InFrameset) if self.stack.0.len() > 1 => {
                self.pop();
                if !self.stack.top_named(Name::FrameSet) {
                    self.mode = Mode::AfterFrameset;
                }
            }
            (Name::Html, Mode::AfterFrameset) => self.mode = Mode::AfterAfterFrameset,
            _ => {}
        }
        Step::Done
    }
}
