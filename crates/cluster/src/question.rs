//! The question at the end of a crawl, and of a manifest: which decisions are to be made again?
//!
//! When nobody has anything to do, one run sends a question as an arrival, so that it has a place in the order of turns.
//! Whoever decides that turn answers as of the end of the turn before, as a process alone does, and the turn has the
//! answer.
//!
//! Stored pages that gave their place away come first, alone: what is compared next must know whether they are stored.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use ndcrawl_model::Sequence;
use neardup::detect::{Decider, DetectError, RecordSource};

/// Which decisions a question is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The first page that the question before was not about. Earlier ones count if the page that they name was withdrawn.
    pub from: Sequence,
    /// The decisions on pages below this one stand.
    pub settled: Sequence,
}

impl Question {
    /// Answers for a decider. Nothing changes.
    ///
    /// Cost: see [`Decider::outdated_duplicates`].
    pub(super) fn answer<S: RecordSource>(self, decider: &mut Decider<S>) -> Result<Found, DetectError> {
        let displaced = decider.displaced();
        if !displaced.is_empty() {
            return Ok(Found::Displaced(displaced));
        }
        let mut found: BTreeSet<Sequence> = decider.outdated_duplicates(self.from)?.into_iter().collect();
        // A page of an earlier manifest gives its place to none.
        let gives_place = |page: &Sequence| {
            decider.verdict(*page).and_then(|verdict| verdict.duplicate_of()).is_some_and(|of| of >= self.settled)
        };
        found.extend(decider.outranking(self.from).into_iter().filter(gives_place));
        Ok(Found::Revisions(found.into_iter().filter(|page| *page >= self.settled).collect()))
    }
}

/// What a turn has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// Duplicates that are to be fetched and decided again.
    Revisions(Vec<Sequence>),
    /// Stored pages that have left for a better one, to be decided again as they are.
    Displaced(Vec<Sequence>),
}

impl Found {
    /// Returns the pages.
    pub fn pages(&self) -> &[Sequence] {
        let (Self::Revisions(pages) | Self::Displaced(pages)) = self;
        pages
    }

    /// Returns what ends the round.
    pub(super) fn conclusion(&self) -> Conclusion {
        match self {
            Self::Revisions(pages) | Self::Displaced(pages) if pages.is_empty() => Conclusion::Nothing,
            Self::Revisions(_) => Conclusion::Revisions,
            Self::Displaced(_) => Conclusion::Displaced,
        }
    }
}

/// How a round of questions ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conclusion {
    /// Nothing is to be decided again.
    Nothing,
    /// Pages are to be decided again.
    Revisions,
    /// Pages that gave their place away are. Who names them is not looked at yet: the next questions begin where these did.
    Displaced,
}
