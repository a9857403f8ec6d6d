//! Repeats one decision of a crawl, for explanations.
//!
//! The log holds the earlier pages in order and their verdicts. From these the detector learns again what it knew
//! when a page was decided. Then any page stored by that time can be compared with it, without an index. So `explain`
//! tells not only which page the verdict names, but how close the others came.
//!
//! Cost: reading the log up to the page twice, once to learn and once to compare.

use std::sync::Arc;

use super::corpus_stats::{CorpusStats, is_subject};
use super::detectors::OwnWords;
use super::page_match::Page;
use super::records::LoggedPage;
use super::{Options, Within};
use crate::model::{Difference, JudgedPage, PageInput, Score, Sequence};

/// A detector as it was when a page of the log was decided.
pub struct Replay {
    options: Options,
    /// `None` for the detector that compares nothing.
    corpus_stats: Option<CorpusStats>,
}

/// The detector's view of two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedComparison {
    /// The first score.
    pub score: Score,
    /// What the pages say for themselves, if the detector looks at that.
    pub own_words: Option<OwnWords>,
    /// What a verdict tells of it, if they match.
    pub difference: Option<Difference>,
    /// Whether the first score is high enough.
    pub reaches: bool,
    /// Whether all checks pass.
    pub is_match: bool,
}

impl Replay {
    /// Creates a detector before the first page. The options must be those of the crawl.
    pub fn new(options: Options) -> Self {
        let corpus_stats = CorpusStats::new(&options);
        Self { options, corpus_stats }
    }

    /// Adds the next page of the log, up to the last before the page to explain.
    pub fn learn(&mut self, number: Sequence, row: &JudgedPage<'_>) {
        self.update_before(number, row.rank);
        let page = Arc::new(self.page(row));
        let is_compared = row.verdict.is_unique() && self.is_compared(&page);
        if let Some(corpus_stats) = &mut self.corpus_stats {
            let is_subject = is_subject(&row.verdict, row.renews, row.rank);
            corpus_stats.add(number, &page, is_subject, is_compared);
        }
    }

    /// Updates the statistics before page `number` of this rank, if it is due. Call it after all earlier pages were added.
    pub fn update_before(&mut self, number: Sequence, rank: u8) {
        let is_due = self.options.settling.is_due(number.0) || rank == PageInput::CHOSEN;
        if let Some(corpus_stats) = self.corpus_stats.as_mut().filter(|_| is_due) {
            corpus_stats.apply_pending();
        }
    }

    /// Returns a page of the log as the detector sees it.
    pub fn page(&self, row: &JudgedPage<'_>) -> Page {
        let JudgedPage { group, terms, least_weight, order, .. } = *row;
        let logged = LoggedPage { group, terms: terms.clone(), least_weight, order: order.clone() };
        logged.weighed(&self.options.weights)
    }

    /// Returns whether a page has enough terms to be compared at all.
    pub fn is_compared(&self, page: &Page) -> bool {
        self.corpus_stats.is_some() && !page.record.is_empty() && page.record.len() >= self.options.min_terms
    }

    /// Compares a page with a page stored before it; `None` if they have nothing in common or are not compared.
    pub fn compare(&self, probe: &Page, stored: &Page) -> Option<ReplayedComparison> {
        let measure = self.corpus_stats.as_ref()?.measure();
        let is_apart = self.options.within == Within::Host && probe.group != stored.group;
        if is_apart || !self.is_compared(probe) || !self.is_compared(stored) {
            return None;
        }
        let score = measure.first_score(probe, stored)?;
        let own_words = measure.own_words(probe, stored);
        let bar = self.options.bar();
        let reaches = score.0 >= bar.millionths().max(1);
        let matched = measure.compare(probe, stored, bar);
        let difference = matched.and_then(|similarity| similarity.difference);
        Some(ReplayedComparison { score, own_words, difference, reaches, is_match: matched.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::detect::test_rows::log_of;
    use crate::detect::{Decider, Mode};
    use crate::model::{
        DecidedBy, Detector, Digest, FieldCounts, PageId, PageInput, RunningText, TermCounts, TermOrder, Verdict,
    };

    fn candidate(number: usize, words: &[u32], group: u32) -> PageInput {
        let mut counts = HashMap::<u32, u32>::new();
        words.iter().for_each(|word| *counts.entry(*word).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable();
        let term = |(word, count): (u32, u32)| TermCounts {
            term: format!("w{word}").into(),
            counts: FieldCounts([0, 0, 0, 0, 0, 0, 0, count]),
        };
        let text = RunningText { words: words.iter().map(|word| word * 2).collect(), name: Vec::new() };
        PageInput {
            page: PageId::new("test", "", u32::try_from(number).unwrap()),
            group,
            body_digest: Digest::of(&number.to_le_bytes()),
            text_digest: None,
            terms: counts.into_iter().map(term).collect(),
            order: TermOrder { text, ..TermOrder::default() },
            renews: None,
            rank: 0,
        }
    }

    /// Detectors of which every decision can be replayed.
    fn replayed() -> Vec<Detector> {
        let is_replayed = |detector: &Detector| matches!(detector.name(), "mwo" | "extended-tdw");
        Detector::ALL.into_iter().filter(is_replayed).collect()
    }

    proptest! {
        /// Of every page: unique if nothing stored before matches in hindsight, else a near-duplicate of the best.
        #[test]
        fn every_decision_is_understood_in_hindsight(
            drafts in prop::collection::vec((prop::collection::vec(0u32..14, 3..12), 0u32..2), 1..50),
            detector in prop::sample::select(replayed()),
        ) {
            let options = Options { min_terms: 2, mode: Mode::Best, ..Options::of(detector) };
            let candidates: Vec<PageInput> =
                drafts.iter().enumerate().map(|(number, (words, group))| candidate(number, words, *group)).collect();
            let judged = Decider::in_memory(options.clone()).decide(candidates.clone()).unwrap();
            let rows = log_of(&candidates, &judged);
            let mut hindsight = Replay::new(options);
            for (number, probe) in (0..).map(Sequence).zip(&rows) {
                hindsight.update_before(number, probe.judged().rank);
                let page = hindsight.page(&probe.judged());
                let stored = (0..).map(Sequence).zip(&rows[..number.index()]).filter(|(_, row)| row.verdict.is_unique());
                let matches = stored.filter_map(|(of, row)| {
                    let opinion = hindsight.compare(&page, &hindsight.page(&row.judged()))?;
                    opinion.is_match.then_some((std::cmp::Reverse(opinion.score), of, opinion.difference))
                });
                let expected = matches.min_by_key(|(score, of, _)| (*score, *of)).map_or(Verdict::Unique, |(std::cmp::Reverse(score), of, difference)| {
                    Verdict::NearDuplicate { of, score, second: None, difference, detector, decided_by: DecidedBy::Similarity }
                });
                prop_assert_eq!(probe.verdict, expected, "page {}", number);
                hindsight.learn(number, &probe.judged());
            }
        }
    }
}
