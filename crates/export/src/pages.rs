//! Iterates over the selected page lines of a crawl.

use std::path::Path;

use ndcrawl_model::PageLine;
use ndcrawl_store::PageLines;

use super::error::Result;
use super::output::ExportCounts;
use super::selection::{Selection, SelectionResult};

/// The pages to export, with a progress callback.
#[derive(Clone, Copy)]
pub struct ExportSource<'a> {
    /// The output folder of a crawl that is not running.
    pub folder: &'a Path,
    /// The selection of pages.
    pub selection: &'a Selection,
    /// Progress callback, called for every line with the bytes read and the total.
    pub watch: &'a dyn Fn(u64, u64),
}

impl ExportSource<'_> {
    /// Calls `take` for each selected line, in the order of the file, and counts the pages held back.
    pub(super) fn each(
        self,
        counts: &mut ExportCounts,
        mut take: impl FnMut(PageLine, &mut ExportCounts) -> Result<()>,
    ) -> Result<()> {
        let mut lines = PageLines::open(self.folder)?;
        while let Some(line) = lines.next() {
            let line = line?;
            (self.watch)(lines.bytes(), lines.length());
            match self.selection.choose(&line) {
                SelectionResult::Taken => {
                    counts.pages += 1;
                    take(line, counts)?;
                }
                SelectionResult::HeldBack => counts.held_back += 1,
                SelectionResult::OtherUse(said) => counts.other_use[said as usize] += 1,
                SelectionResult::Left => {}
            }
        }
        Ok(())
    }
}
