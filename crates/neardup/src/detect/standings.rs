//! What renewals need to know of each page, whichever piece of an index has it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::turn::DecidedTurn;
use super::withdrawals::{RankedPage, WithdrawnPages};
use crate::model::{Sequence, Verdict};

/// The number of no page.
const NONE: u32 = u32::MAX;

/// The stored page that each page of a log repeats, its rank, and which pages left the index.
///
/// Memory: 5 bytes a page of the whole log, in every process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Standings {
    pub(super) pages: RankedPages,
    pub(super) withdrawn: WithdrawnPages,
    /// Pages that were decided again.
    renewed: HashSet<Sequence>,
}

/// The stored page that each page of a log repeats, and its rank.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct RankedPages {
    repeated: Vec<u32>,
    ranks: Vec<u8>,
}

impl Standings {
    /// Adds the pages of a turn, the next one of the log.
    pub(super) fn add_turn(&mut self, turn: &DecidedTurn) {
        let Self { pages, withdrawn, renewed } = self;
        for page in &turn.withdrawn {
            withdrawn.withdraw(*page, turn.first);
        }
        for decided in &turn.pages {
            let number = decided.sequence;
            if let Some(earlier) = decided.input.renews {
                withdrawn.renew(number, decided.input.rank, earlier, |page| pages.get(page));
                renewed.insert(earlier);
            }
            pages.add(number, &decided.verdict, decided.input.rank);
        }
    }
}

impl Standings {
    /// Returns the stored pages that left for one of higher rank and were not decided again, ascending.
    pub(super) fn displaced(&self) -> Vec<Sequence> {
        let mut displaced = self.withdrawn.displaced().to_vec();
        displaced.retain(|page| !self.renewed.contains(page));
        displaced.sort_unstable();
        displaced
    }
}

impl RankedPages {
    /// Returns the number of the next page.
    pub(super) fn next(&self) -> Sequence {
        Sequence(u32::try_from(self.ranks.len()).unwrap_or(u32::MAX))
    }

    /// Returns the page that a decided page repeats, and its rank.
    pub(super) fn get(&self, page: Sequence) -> Option<RankedPage> {
        let (of, rank) = (*self.repeated.get(page.index())?, *self.ranks.get(page.index())?);
        Some((Some(Sequence(of)).filter(|of| of.0 != NONE), rank))
    }

    fn add(&mut self, number: Sequence, verdict: &Verdict, rank: u8) {
        self.repeated.resize(number.index(), NONE);
        self.ranks.resize(number.index(), 0);
        self.repeated.push(verdict.duplicate_of().map_or(NONE, |of| of.0));
        self.ranks.push(rank);
    }
}
