//! Turns candidates into matches by exact comparison.

use std::ops::ControlFlow;
use std::sync::Mutex;

use super::DetectError;
use super::detectors::{Measure, PreparedText};
use super::page_match::{Match, Mode, Page, Similarity};
use super::records::{RecordSource, Records};
use crate::index::Candidate;
use crate::model::{Score, Sequence, Threshold};

/// An additional filter on matches. It gets the probe, the stored page, and the match, and returns whether to keep
/// it.
pub type MatchFilter<'a> = dyn Fn(&Page, &Page, &Match) -> bool + Sync + 'a;

/// What to search for.
#[derive(Clone, Copy)]
pub(super) struct MatchQuery<'a> {
    pub(super) measure: &'a dyn Measure,
    pub(super) mode: Mode,
    pub(super) threshold: Threshold,
    pub(super) condition: &'a MatchFilter<'a>,
}

impl MatchQuery<'_> {
    /// Returns an empty collection of matches.
    pub(super) fn collector(&self) -> MatchCollector {
        MatchCollector::new(self.threshold)
    }
}

/// The matches found so far, and the score that later ones need.
#[derive(Clone, Debug)]
pub(super) struct MatchCollector {
    matches: Vec<Match>,
    /// A candidate must reach this score; with [`Mode::Best`] the best so far.
    bar: Threshold,
    pub(super) verifications: u64,
}

impl MatchCollector {
    /// Creates an empty collection of the matches that reach a score.
    pub(super) fn new(bar: Threshold) -> Self {
        Self { matches: Vec::new(), bar, verifications: 0 }
    }

    /// Returns the score that later candidates must reach.
    pub(super) fn bar(&self) -> Threshold {
        self.bar
    }

    /// Returns whether the search can end.
    pub(super) fn is_complete(&self, query: &MatchQuery<'_>) -> bool {
        let is_found = query.mode == Mode::Any && !self.matches.is_empty();
        is_found || self.verifications >= query.measure.most_compared() as u64
    }

    /// Returns the matches by rank.
    pub(super) fn into_matches(mut self) -> Vec<Match> {
        self.matches.sort_unstable_by_key(rank);
        self.matches
    }

    /// Compares a candidate, and returns how the index goes on: see [`Visit`](crate::index::Visit).
    pub(super) fn compare<S: RecordSource>(
        &mut self,
        query: &MatchQuery<'_>,
        probe: &Page,
        candidate: Candidate,
        records: &Mutex<Records<S>>,
        prepared: &PreparedText,
    ) -> Result<ControlFlow<(), Threshold>, DetectError> {
        if self.cannot_be_better(query, candidate) {
            return Ok(ControlFlow::Continue(self.bar));
        }
        if query.measure.rules_out(probe, candidate.id) {
            return Ok(ControlFlow::Continue(self.bar));
        }
        self.verifications += 1;
        let stored = super::records::get(records, candidate.id)?;
        if let Some(Similarity { score, second, difference }) =
            query.measure.compare_prepared(probe, prepared, &stored, self.bar)
        {
            let found = Match { of: candidate.id, score, second, difference };
            if (query.condition)(probe, &stored, &found) {
                self.add(query.mode, found);
            }
        }
        Ok(if self.is_complete(query) { ControlFlow::Break(()) } else { ControlFlow::Continue(self.bar) })
    }

    /// Returns whether the index's bound rules the candidate out, with [`Mode::Best`].
    ///
    /// Bounds are bounds of scores only if the index sees pages as the detector compares them.
    fn cannot_be_better(&self, query: &MatchQuery<'_>, candidate: Candidate) -> bool {
        let best = self.matches.first().filter(|_| query.mode == Mode::Best && query.measure.bounds_are_scores());
        best.is_some_and(|best| {
            (candidate.at_most, std::cmp::Reverse(candidate.id)) < (best.score, std::cmp::Reverse(best.of))
        })
    }

    fn add(&mut self, mode: Mode, found: Match) {
        match (mode, self.matches.first()) {
            (Mode::Best, Some(best)) if rank(best) < rank(&found) => {}
            (Mode::Best, _) => {
                self.matches = vec![found];
                self.bar = Threshold::from_millionths(found.score.0).map_or(self.bar, |score| self.bar.max(score));
            }
            (Mode::Any | Mode::All, _) => self.matches.push(found),
        }
    }
}

fn rank(found: &Match) -> (std::cmp::Reverse<Score>, Sequence) {
    (std::cmp::Reverse(found.score), found.of)
}

#[cfg(test)]
mod tests {
    use super::super::records::InMemory;
    use super::*;
    use std::sync::Arc;

    use crate::detect::Options;
    use crate::detect::detectors;
    use crate::model::{FieldWeights, TermId, TermOrder};
    use crate::similarity::Record;

    fn page(terms: Vec<(TermId, u32)>) -> Arc<Page> {
        Arc::new(Page { group: 0, record: Record::new(terms), order: TermOrder::default() })
    }

    /// Pages that share 70, 90, 80, 90 of 100 hundredths with the probe; and bounds.
    fn setting() -> (Arc<Page>, Mutex<Records<InMemory>>, Vec<Candidate>) {
        let mut records = Records::new(InMemory, FieldWeights::default());
        for (id, shared) in (0..).zip([70, 90, 80, 90]) {
            records.insert(Sequence(id), page(vec![(TermId(0), shared), (TermId(1), 100 - shared)]), true);
        }
        let candidate = |(id, at_most)| Candidate { id: Sequence(id), at_most: Score(at_most) };
        let candidates = [(2, 980_000), (0, 950_000), (3, 900_000), (1, 900_000)].map(candidate);
        (page(vec![(TermId(0), 100)]), Mutex::new(records), candidates.to_vec())
    }

    fn threshold(millionths: u32) -> Threshold {
        Threshold::from_millionths(millionths).unwrap()
    }

    fn find(
        mode: Mode,
        threshold: Threshold,
        candidates: &[Candidate],
        condition: &MatchFilter<'_>,
    ) -> (Vec<(u32, u32)>, u64) {
        let (probe, records, _) = setting();
        let measure = detectors::build(&Options::default()).unwrap();
        let query = MatchQuery { measure: &*measure, mode, threshold, condition };
        let mut findings = MatchCollector::new(threshold);
        for &candidate in candidates {
            if findings.compare(&query, &probe, candidate, &records, &PreparedText::default()).unwrap().is_break() {
                break;
            }
        }
        let verifications = findings.verifications;
        (findings.into_matches().iter().map(|found| (found.of.0, found.score.0)).collect(), verifications)
    }

    fn found(mode: Mode) -> (Vec<(u32, u32)>, u64) {
        find(mode, threshold(750_000), &setting().2, &|_, _, _| true)
    }

    #[test]
    fn any_stops_at_the_first_match() {
        assert_eq!(found(Mode::Any), (vec![(2, 800_000)], 1));
    }

    #[test]
    fn any_goes_on_until_a_match_meets_the_condition_too() {
        let odd = |_: &Page, _: &Page, found: &Match| found.of.0 % 2 == 1;
        assert_eq!(find(Mode::Any, threshold(750_000), &setting().2, &odd), (vec![(3, 900_000)], 3));
    }

    #[test]
    fn best_finds_the_highest_score_and_of_equals_the_first_page() {
        assert_eq!(found(Mode::Best), (vec![(1, 900_000)], 4));
    }

    #[test]
    fn best_passes_over_better_matches_that_do_not_meet_the_condition() {
        let even = |_: &Page, _: &Page, found: &Match| found.of.0.is_multiple_of(2);
        assert_eq!(find(Mode::Best, threshold(750_000), &setting().2, &even).0, [(2, 800_000)]);
    }

    #[test]
    fn all_finds_every_match_ranked() {
        assert_eq!(found(Mode::All).0, [(1, 900_000), (3, 900_000), (2, 800_000)]);
    }

    #[test]
    fn best_does_not_compare_what_cannot_be_better() {
        let mut candidates = setting().2;
        candidates.rotate_right(1);
        candidates[0].at_most = Score(1_000_000);
        candidates[3].at_most = Score(899_999);
        let (matches, verifications) = find(Mode::Best, threshold(0), &candidates, &|_, _, _| true);
        assert_eq!(matches, [(1, 900_000)]);
        assert_eq!(verifications, 3, "the last one's bound is below the best score");
    }
}
