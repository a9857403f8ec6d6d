//! Which decisions a piece would make otherwise by now, and which duplicates are a better place for their text.
//!
//! The answers of all pieces together are those of one [`Decider`](crate::detect::Decider):
//!
//! 1. *Suspects.* Each piece compares near-duplicates that name a page of its own with that page:
//!    [`is_suspect`](Piece::is_suspect). They come from the log, since no piece keeps the records of duplicates.
//! 2. *Second look.* Each piece says of all suspects whether it has a match, and which of its pages have inherited the
//!    verdict: [`look_again`](Piece::look_again). [`outdated`] unites the answers.
//! 3. *Ranks.* Each piece names its best duplicate of each stored page: [`outranking`](Piece::outranking), united by
//!    [`best_outranking`].
//!
//! The stored pages that left and are to be decided again are known to all: [`Learnt::displaced`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::{Piece, verdict_query};
use crate::detect::decision_log::Suspicion;
use crate::detect::learnt::Learnt;
use crate::detect::page_match::Page;
use crate::detect::records::RecordSource;
use crate::detect::search::QueryPage;
use crate::detect::{DecidedPage, DetectError};
use crate::model::{Digest, Sequence};
use crate::similarity::Record;

/// What a piece says of a suspect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondLook {
    /// Whether a stored page of the piece is like it.
    pub is_matched: bool,
    /// Pages of the piece that inherited a verdict by its body or text.
    pub inheritors: Vec<Sequence>,
}

/// A duplicate that outranks the stored page that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outranking {
    /// The stored page.
    pub of: Sequence,
    /// See [`PageInput::rank`](crate::model::PageInput::rank).
    pub rank: u8,
    /// The duplicate.
    pub page: Sequence,
}

impl<S: RecordSource> Piece<S> {
    /// Returns which decisions are to be looked at again, the earlier ones aside that are below page `from`. None if
    /// verdicts are stable.
    pub fn suspicion(&self, from: Sequence, learnt: &Learnt) -> Option<Suspicion> {
        learnt.stats.measure().is_unstable().then(|| self.log.suspicion(from))
    }

    /// Returns whether a decided page is this piece's.
    pub fn has(&self, page: Sequence) -> bool {
        self.numbers.find(page).is_some()
    }

    /// Returns whether this piece has the stored page that a near-duplicate names and finds it unlike by now.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub fn is_suspect(&mut self, page: &DecidedPage, learnt: &Learnt) -> Result<bool, DetectError> {
        let Some(of) = page.verdict.duplicate_of().and_then(|of| self.numbers.find(of)) else { return Ok(false) };
        if self.log.is_withdrawn(of) {
            return Ok(true);
        }
        let (query, page) = (verdict_query(learnt), self.as_stored(page, learnt));
        let stored = self.search.records().get(of)?;
        Ok(query.measure.compare(&page, &stored, query.threshold).is_none())
    }

    /// Says of suspects whether a stored page of this piece is like them, and who inherited their verdicts.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub fn look_again(&mut self, suspects: &[DecidedPage], learnt: &Learnt) -> Result<Vec<SecondLook>, DetectError> {
        self.search.file_again(learnt.stats.measure())?;
        let mut looks = vec![SecondLook::default(); suspects.len()];
        let mut by_digest = HashMap::<(u32, Digest), Vec<usize>>::new();
        for (place, (suspect, look)) in suspects.iter().zip(&mut looks).enumerate() {
            let group = learnt.group(suspect.input.group);
            let page = self.as_stored(suspect, learnt);
            let query = verdict_query(learnt);
            let needed = QueryPage { group, page: &page, prepared: &query.measure.prepare(&page) };
            let matches = self.search.find_matches(&query, needed, &self.log)?;
            look.is_matched = !matches.is_empty();
            for digest in [Some(suspect.input.body_digest), suspect.input.text_digest].into_iter().flatten() {
                by_digest.entry((group, digest)).or_default().push(place);
            }
        }
        let (digests, places): (Vec<_>, Vec<_>) = by_digest.into_iter().unzip();
        let numbered = digests.into_iter().enumerate().map(|(number, digest)| (digest, number)).collect();
        for (page, number) in self.log.inheritors(&numbered) {
            places[number].iter().for_each(|place| looks[*place].inheritors.push(page));
        }
        Ok(looks)
    }

    /// Returns this piece's best duplicates from page `from` on, of stored pages that they outrank.
    pub fn outranking(&self, from: Sequence, learnt: &Learnt) -> Vec<Outranking> {
        if !learnt.stats.measure().is_unstable() {
            return Vec::new();
        }
        let best = self.log.outranking(from, |page| learnt.standings.pages.get(page).map(|(_, rank)| rank));
        best.into_iter().map(|(of, (rank, page))| Outranking { of, rank, page }).collect()
    }

    /// Returns a decided page as the detector saw it. Terms that the piece does not know stay unknown.
    fn as_stored(&self, decided: &DecidedPage, learnt: &Learnt) -> Page {
        let DecidedPage { input, least_weight, .. } = decided;
        let terms = self.vocabulary.look_up_page(&input.terms);
        let record = Record::from_counts(&terms, &learnt.options.weights).without_lighter(*least_weight);
        Page { group: input.group, record, order: input.order.clone() }
    }
}

impl Learnt {
    /// Returns the stored pages that left the index for a page that outranks them, and were not decided again since:
    /// ascending.
    pub fn displaced(&self) -> Vec<Sequence> {
        self.standings.displaced()
    }
}

/// Returns the suspects that no piece has a match for, with all that inherited their verdicts: ascending. `looks` has
/// the answers of all pieces, each with one for every suspect.
pub fn outdated(suspects: &[Sequence], looks: &[Vec<SecondLook>]) -> Vec<Sequence> {
    let mut found = BTreeSet::new();
    for (place, suspect) in suspects.iter().enumerate() {
        let mut answers = looks.iter().filter_map(|piece| piece.get(place));
        if answers.any(|look| look.is_matched) {
            continue;
        }
        found.insert(*suspect);
        found
            .extend(looks.iter().filter_map(|piece| piece.get(place)).flat_map(|look| look.inheritors.iter().copied()));
    }
    found.into_iter().collect()
}

/// Returns the best duplicate of each stored page, of those that all pieces name: ascending.
pub fn best_outranking(named: impl IntoIterator<Item = Outranking>) -> Vec<Sequence> {
    let mut best = BTreeMap::<Sequence, (u8, Sequence)>::new();
    for Outranking { of, rank, page } in named {
        let known = best.entry(of).or_insert((rank, page));
        if (known.0, std::cmp::Reverse(known.1)) < (rank, std::cmp::Reverse(page)) {
            *known = (rank, page);
        }
    }
    let mut pages: Vec<Sequence> = best.into_values().map(|(_, page)| page).collect();
    pages.sort_unstable();
    pages
}
