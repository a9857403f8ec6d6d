//! What is lost with the near-duplicates of a run.

use super::PageLine;

/// Words of near-duplicates, where own words were compared. Exact duplicates lose nothing, and are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostWords {
    /// All their words.
    pub words: u64,
    /// Those that stand in no run of words that the page kept in their place has.
    pub lost: u64,
}

impl LostWords {
    /// Adds the words of a page, if it is a near-duplicate.
    pub fn add(&mut self, line: &PageLine) {
        self.words += u64::from(line.words.unwrap_or(0));
        self.lost += u64::from(line.loses_words.unwrap_or(0));
    }

    /// Returns which share of the words is lost; `None` if there are none.
    pub fn share(self) -> Option<f64> {
        (self.words > 0).then(|| self.lost as f64 / self.words as f64)
    }
}
