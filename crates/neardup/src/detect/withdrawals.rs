//! Which stored pages of a log were no longer compared, and from when on?

use std::collections::HashMap;

use crate::model::{JudgedPage, Sequence};

/// The stored pages that left the index while a log was written: see [`Judged::displaced`](crate::model::Judged).
///
/// Memory: 12 bytes a page of the log.
#[derive(Clone, Debug, Default)]
pub struct Withdrawals {
    /// The page that each page of the log repeats, and its rank.
    pages: Vec<(Option<Sequence>, u8)>,
    /// Each page that left, with the first page that was not compared with it.
    first_without: HashMap<Sequence, Sequence>,
    /// Pages that were decided again after they had left: nothing displaces them any more.
    settled: Vec<Sequence>,
}

impl Withdrawals {
    /// Adds the next page of the log. Returns the page that leaves for it.
    pub fn add(&mut self, row: &JudgedPage<'_>) -> Option<Sequence> {
        let number = Sequence(self.pages.len() as u32);
        let left = row.renews.and_then(|earlier| self.displaced(row.rank, earlier));
        if row.renews.is_some_and(|earlier| self.first_without.contains_key(&earlier)) {
            self.settled.push(number);
        }
        if let Some(page) = left {
            self.first_without.insert(page, number);
        }
        self.pages.push((row.verdict.duplicate_of(), row.rank));
        left
    }

    fn displaced(&self, rank: u8, earlier: Sequence) -> Option<Sequence> {
        let leaves = match self.pages.get(earlier.index())? {
            (Some(of), _) => {
                let is_outranked = self.pages.get(of.index()).is_some_and(|(_, other)| *other < rank);
                Some(*of).filter(|of| is_outranked && self.settled.binary_search(of).is_err())
            }
            (None, _) => Some(earlier),
        };
        leaves.filter(|page| !self.first_without.contains_key(page))
    }

    /// Returns whether a page had left before page `number` was decided.
    pub fn is_withdrawn(&self, page: Sequence, number: Sequence) -> bool {
        self.first_without.get(&page).is_some_and(|first| *first <= number)
    }
}
