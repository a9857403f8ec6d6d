//! The selected lines of a crawl.

use std::path::Path;

use crate::model::PageLine;
use crate::store::PageLines;

use super::error::Result;
use super::output::Tally;
use super::selection::{Choice, Selection};

/// What is exported, and who is told how it comes along.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The output folder of a crawl. No crawl may be at work there.
    pub folder: &'a Path,
    /// Which pages.
    pub selection: &'a Selection,
    /// Told, for every line, how many bytes of how many have been read.
    pub watch: &'a dyn Fn(u64, u64),
}

impl Source<'_> {
    /// Hands out the selected lines in the order of the file, and counts those that are held back.
    pub(super) fn each(
        self,
        tally: &mut Tally,
        mut take: impl FnMut(PageLine, &mut Tally) -> Result<()>,
    ) -> Result<()> {
        let mut lines = PageLines::open(self.folder)?;
        while let Some(line) = lines.next() {
            let line = line?;
            (self.watch)(lines.bytes(), lines.length());
            match self.selection.choose(&line) {
                Choice::Taken => {
                    tally.pages += 1;
                    take(line, tally)?;
                }
                Choice::HeldBack => tally.held_back += 1,
                Choice::Left => {}
            }
        }
        Ok(())
    }
}
