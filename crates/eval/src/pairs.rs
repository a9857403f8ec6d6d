//! Scores of a detector on labeled pairs, and counts at thresholds.

use std::time::Duration;

use super::clock::ThreadClock;
use super::host_pages::HostPages;
use super::labels::{Label, LabeledPair, PairLabels};
use super::metrics::Counts;
use super::pages::Pages;
use ndcrawl_model::{Score, Threshold};
use neardup::detect::{Comparer, Comparison, DetectError, Options};

/// Name of the pseudo-kind of all pairs.
pub const ALL: &str = "all";

/// Thresholds of a sweep, in hundredths.
const SWEEP: std::ops::RangeInclusive<u32> = 50..=95;
const HUNDREDTH: u32 = Threshold::ONE / 100;

/// The comparison of each pair by a detector, before any threshold.
#[derive(Clone, Debug)]
pub struct PairScores {
    /// The detector's name.
    pub detector: String,
    /// In the order of the pairs; `None` if a page is missing.
    pub comparisons: Vec<Option<Comparison>>,
    /// CPU time of all comparisons.
    pub comparing: Duration,
}

/// Counts of one kind at one threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindCounts {
    /// The kind, or [`ALL`].
    pub kind: String,
    /// Counts without grey pairs.
    pub counts: Counts,
}

/// Counts of all pairs at one threshold of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepPoint {
    /// The threshold.
    pub threshold: Threshold,
    /// Counts of all pairs.
    pub counts: Counts,
}

/// A pair close to the threshold, worth reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Borderline {
    /// Index into [`PairLabels::pairs`].
    pub pair: usize,
    /// The similarity.
    pub score: Score,
    /// Whether the detector is right.
    pub is_right: bool,
}

impl PairScores {
    /// Compares all pairs with a detector. If it knows hosts, it learns them from `others` too, as a crawl would.
    ///
    /// # Errors
    /// If the detector rejects a page.
    pub fn compare(
        labels: &PairLabels,
        pages: &Pages,
        others: &HostPages<'_>,
        options: &Options,
        advance: &(dyn Fn() + Sync),
    ) -> Result<Self, DetectError> {
        let mut comparer = Comparer::new(options.clone());
        let mut handles = Vec::with_capacity(pages.pages.len());
        for page in &pages.pages {
            handles.push(match page {
                Some(page) => Some(comparer.learn(page.candidate.clone())?),
                None => None,
            });
        }
        if options.order().text {
            others.each(advance, |page| comparer.learn_from(page))?;
        }
        let started = ThreadClock::now();
        let compare = |pair: &LabeledPair| {
            advance();
            Some(comparer.compare(handles[pair.a]?, handles[pair.b]?))
        };
        let comparisons = labels.pairs.iter().map(compare).collect();
        Ok(Self { detector: options.detector.name().to_owned(), comparisons, comparing: started.elapsed() })
    }

    /// Returns the number of pairs compared.
    pub fn compared(&self) -> usize {
        self.comparisons.iter().flatten().count()
    }

    /// Counts at a threshold: all pairs, then each kind in order of appearance.
    ///
    /// A kind that has only grey pairs is left out.
    pub fn count(&self, labels: &PairLabels, threshold: Threshold) -> Vec<KindCounts> {
        let mut kinds = vec![KindCounts { kind: ALL.to_owned(), counts: Counts::default() }];
        for (pair, expected, comparison) in self.expected(labels) {
            let called = comparison.is_match_at(threshold);
            kinds[0].counts.add(expected, called);
            let place = kinds[1..].iter().position(|counts| counts.kind == pair.kind).map(|place| place + 1);
            let place = place.unwrap_or_else(|| {
                kinds.push(KindCounts { kind: pair.kind.clone(), counts: Counts::default() });
                kinds.len() - 1
            });
            kinds[place].counts.add(expected, called);
        }
        kinds
    }

    /// Counts all pairs at one threshold.
    pub fn count_all(&self, labels: &PairLabels, threshold: Threshold) -> Counts {
        let mut counts = Counts::default();
        self.expected(labels).for_each(|(_, expected, found)| counts.add(expected, found.is_match_at(threshold)));
        counts
    }

    /// Counts all pairs at 0.50, 0.51, … 0.95.
    pub fn sweep(&self, labels: &PairLabels) -> Vec<SweepPoint> {
        let thresholds = SWEEP.filter_map(|hundredths| Threshold::from_millionths(hundredths * HUNDREDTH));
        self.sweep_over(labels, thresholds)
    }

    /// Counts all pairs at these thresholds.
    pub fn sweep_over(&self, labels: &PairLabels, thresholds: impl Iterator<Item = Threshold>) -> Vec<SweepPoint> {
        thresholds.map(|threshold| SweepPoint { threshold, counts: self.count_all(labels, threshold) }).collect()
    }

    /// Returns the pairs closest to the threshold: `most[0]` wrong ones, then `most[1]` right ones.
    ///
    /// Leaves out exact copies and pairs that no threshold can make a match.
    pub fn borderlines(&self, labels: &PairLabels, threshold: Threshold, most: [usize; 2]) -> Vec<Borderline> {
        let found = labels.pairs.iter().zip(&self.comparisons).enumerate();
        let mut all: Vec<Borderline> = found
            .filter_map(|(pair, (labelled, comparison))| {
                let comparison = comparison.filter(|found| found.copied.is_none() && found.is_eligible)?;
                let is_right = labelled.label.expected()? == comparison.is_match_at(threshold);
                Some(Borderline { pair, score: comparison.score, is_right })
            })
            .collect();
        all.sort_by_key(|line| (line.is_right, line.score.0.abs_diff(threshold.millionths())));
        let right = all.partition_point(|line| !line.is_right);
        let [wrong, right] = [&all[..right], &all[right..]].map(<[_]>::iter);
        wrong.take(most[0]).chain(right.take(most[1])).copied().collect()
    }

    /// Returns the pairs that count, each with the expected answer.
    fn expected<'a>(&'a self, labels: &'a PairLabels) -> impl Iterator<Item = (&'a LabeledPair, bool, Comparison)> {
        let found = labels.pairs.iter().zip(&self.comparisons);
        found.filter_map(|(pair, comparison)| Some((pair, pair.label.expected()?, (*comparison)?)))
    }
}

/// Returns the point of the highest F1; on a tie the highest threshold, which drops the fewest pages.
pub fn best(points: &[SweepPoint]) -> Option<SweepPoint> {
    let f1 = |point: &SweepPoint| point.counts.f1().value.unwrap_or(0.0);
    points.iter().copied().max_by(|a, b| f1(a).total_cmp(&f1(b)))
}

/// Counts the pairs by label, in the order of [`Label::ALL`].
pub fn label_counts<'a>(pairs: impl Iterator<Item = &'a LabeledPair>) -> [usize; 4] {
    pairs.fold([0; 4], |mut counts, pair| {
        let place = Label::ALL.iter().position(|label| *label == pair.label);
        counts[place.unwrap_or_default()] += 1;
        counts
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Label, kind and score of pairs, by hand.
    const PAIRS: [(Label, &str, u32); 7] = [
        (Label::Dup, "copy", 1_000_000),
        (Label::Near, "version", 860_000),
        (Label::Near, "version", 790_000),
        (Label::Distinct, "sibling", 810_000),
        (Label::Distinct, "sibling", 300_000),
        (Label::Grey, "sibling", 900_000),
        (Label::Grey, "grey", 700_000),
    ];

    fn threshold(hundredths: u32) -> Threshold {
        Threshold::from_millionths(hundredths * HUNDREDTH).unwrap()
    }

    fn example() -> (PairLabels, PairScores) {
        let pair = |(label, kind, _): (Label, &str, u32)| LabeledPair {
            a: 0,
            b: 1,
            label,
            kind: kind.to_owned(),
            level: None,
        };
        let labels = PairLabels { file: PathBuf::new(), pages: Vec::new(), pairs: PAIRS.map(pair).to_vec() };
        let comparison = |(_, _, score)| Some(Comparison::by_score(Score(score), threshold(80)));
        let comparisons = PAIRS.map(comparison).to_vec();
        (labels, PairScores { detector: "test".to_owned(), comparisons, comparing: Duration::ZERO })
    }

    #[test]
    fn kinds_are_counted_apart_and_grey_pairs_never() {
        let (labels, scores) = example();
        let kinds = scores.count(&labels, threshold(80));
        let named: Vec<_> = kinds.iter().map(|kind| kind.kind.as_str()).collect();
        assert_eq!(named, ["all", "copy", "version", "sibling"]);
        let counts: Vec<_> = kinds.iter().map(|kind| kind.counts).collect();
        let count = |tp, fp, missed, tn| Counts { tp, fp, missed, tn };
        assert_eq!(counts, [count(2, 1, 1, 1), count(1, 0, 0, 0), count(1, 0, 1, 0), count(0, 1, 0, 1)]);
        assert_eq!(label_counts(labels.pairs.iter()), [1, 2, 2, 2]);
    }

    #[test]
    fn the_best_of_a_sweep_throws_least_away() {
        let (labels, scores) = example();
        let sweep = scores.sweep(&labels);
        assert_eq!((sweep.len(), sweep[0].threshold, sweep[45].threshold), (46, threshold(50), threshold(95)));
        // From 0.31 to 0.79 all but one of five are right: F1 is 6/7; at 0.82 to 0.86 it is 4/5.
        assert_eq!(best(&sweep).unwrap().threshold, threshold(79));
    }

    #[test]
    fn pairs_to_read_are_the_closest_the_wrong_ones_first() {
        let (labels, scores) = example();
        let lines = scores.borderlines(&labels, threshold(80), [5, 1]);
        let read: Vec<_> = lines.iter().map(|line| (line.pair, line.is_right)).collect();
        assert_eq!(read, [(2, false), (3, false), (1, true)]);
    }

    #[test]
    fn pairs_without_pages_are_not_counted() {
        let (labels, mut scores) = example();
        scores.comparisons[0] = None;
        assert_eq!((scores.compared(), scores.count_all(&labels, threshold(80)).total()), (6, 4));
    }
}
