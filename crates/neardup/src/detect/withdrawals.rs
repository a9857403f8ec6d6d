//! Which stored pages left the index, page by page of a log.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::model::{JudgedPage, PageInput, Sequence};

/// The stored pages that left the index while a log was written: see [`Judged::displaced`](crate::model::Judged).
///
/// Memory: 12 bytes a page of the log.
#[derive(Clone, Debug, Default)]
pub struct Withdrawals {
    /// The page that each page of the log repeats, and its rank.
    pages: Vec<RankedPage>,
    withdrawn: WithdrawnPages,
}

/// The stored page that a page repeats, if any, and the page's rank.
pub(super) type RankedPage = (Option<Sequence>, u8);

impl Withdrawals {
    /// Adds the next page of the log. Returns the page that leaves for it.
    pub fn add(&mut self, row: &JudgedPage<'_>) -> Option<Sequence> {
        let number = Sequence(self.pages.len() as u32);
        let Self { pages, withdrawn } = self;
        let known = |page: Sequence| pages.get(page.index()).copied();
        let left = row.renews.and_then(|earlier| withdrawn.renew(number, row.rank, earlier, known));
        pages.push((row.verdict.duplicate_of(), row.rank));
        left
    }

    /// Returns whether a page had left before page `number` was decided.
    pub fn is_withdrawn(&self, page: Sequence, number: Sequence) -> bool {
        self.withdrawn.first_without.get(&page).is_some_and(|first| *first <= number)
    }
}

/// The stored pages that left the index, and the rule by which they leave.
///
/// A page that is decided again takes the place of its earlier verdict. If that was *unique*, the earlier page leaves.
/// If it names a stored page of lower rank, that one leaves, but no page gives its place up twice, except to a
/// [chosen](PageInput::CHOSEN) one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct WithdrawnPages {
    /// Each page that left, with the first page that was not compared with it.
    first_without: HashMap<Sequence, Sequence>,
    /// Pages that were decided again after they had left, ascending.
    settled: Vec<Sequence>,
    /// Pages that left for one of higher rank, in the order in which they left.
    displaced: Vec<Sequence>,
    /// Whether a page has left by a turn, not for another one.
    is_any_by_turn: bool,
}

impl WithdrawnPages {
    /// Adds page `number` of this rank, which decides `earlier` again. Returns the page that leaves now.
    ///
    /// `known` returns the facts about a decided page.
    pub(super) fn renew(
        &mut self,
        number: Sequence,
        rank: u8,
        earlier: Sequence,
        known: impl Fn(Sequence) -> Option<RankedPage>,
    ) -> Option<Sequence> {
        let (repeats, _) = known(earlier)?;
        let leaves = match repeats {
            Some(of) => {
                let is_chosen = rank == PageInput::CHOSEN;
                let is_outranked = known(of).is_some_and(|(_, stored)| stored < rank || is_chosen && stored == rank);
                let may_leave = if is_chosen { !self.is_withdrawn(of) } else { self.may_be_displaced(of) };
                Some(of).filter(|_| is_outranked && may_leave)
            }
            None => Some(earlier).filter(|page| !self.is_withdrawn(*page)),
        };
        if let Some(page) = leaves {
            self.first_without.insert(page, number);
            self.displaced.extend(Some(page).filter(|page| *page != earlier));
        }
        if self.is_withdrawn(earlier) {
            self.settled.push(number);
        }
        leaves
    }

    /// Has a page leave before page `number` is decided. Returns whether it was there.
    pub(super) fn withdraw(&mut self, page: Sequence, number: Sequence) -> bool {
        let is_new = !self.is_withdrawn(page);
        if is_new {
            self.first_without.insert(page, number);
            self.is_any_by_turn = true;
        }
        is_new
    }

    /// Returns the pages that left for one of higher rank.
    pub(super) fn displaced(&self) -> &[Sequence] {
        &self.displaced
    }

    /// Returns whether any page has left.
    pub(super) fn is_any(&self) -> bool {
        !self.first_without.is_empty()
    }

    /// Returns whether a page has left by a turn.
    pub(super) fn is_any_by_turn(&self) -> bool {
        self.is_any_by_turn
    }

    /// Returns whether a stored page may leave the index for another one.
    pub(super) fn may_be_displaced(&self, page: Sequence) -> bool {
        !self.is_withdrawn(page) && self.settled.binary_search(&page).is_err()
    }

    /// Returns whether a page has left.
    pub(super) fn is_withdrawn(&self, page: Sequence) -> bool {
        self.is_any() && self.first_without.contains_key(&page)
    }

    /// Returns whether a page has left since page `from` was decided.
    pub(super) fn is_any_since(&self, from: Sequence) -> bool {
        self.first_without.values().any(|by| *by >= from)
    }
}
