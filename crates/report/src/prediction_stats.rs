//! Savings and losses of skipping predicted duplicates.
//!
//! The crawl fetches a random sample of the URLs that URL rules predict to be duplicates. The line of each sampled URL
//! records the sampling rate. The estimate weights each sampled page by the inverse of its rate (Horvitz and Thompson
//! 1952), so it is unbiased even though the rate changes during the crawl.
//!
//! Unique pages that the crawl fetched are not lost: sampled ones, and ones requeued after their rule proved wrong. The
//! remaining unique pages are. The interval is that of [`gain_share`]; each sampled URL is a sampling unit of its own.
//!
//! A killed crawl forgets which URLs it skipped and may fetch some of them later without the mark. The estimate then
//! counts these as lost, so it is somewhat too high.

use std::collections::BTreeMap;
use std::path::Path;

use super::ReportError;
use super::sampling_estimate::{Gate, gain_share};
use ndcrawl_eval::Estimate;
use ndcrawl_model::{OutcomeKind, PageLine};
use ndcrawl_store::PageLines;

/// Counters of the URLs that rules predicted to be duplicates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictionStats {
    /// Sampled URLs: fetched although predicted.
    pub sampled: u64,
    /// Unique pages among the sampled URLs.
    pub sampled_unique: u64,
    /// URLs skipped at first and fetched later: their rule proved wrong, or two rules disagreed.
    pub requeued: u64,
    /// Unique pages among the requeued URLs.
    pub requeued_unique: u64,
    /// URLs not fetched, which are requests saved.
    pub skipped: u64,
    /// Number of sampled URLs by (weight in units of 1 / `PARTS`, is unique).
    by_weight: BTreeMap<(u64, bool), u64>,
}

/// Resolution of weights: millionths.
const PARTS: f64 = 1e6;

/// Whether a number can be the share of a sample.
pub(super) fn is_share(share: f64) -> bool {
    share > 0.0 && share <= 1.0
}

impl PredictionStats {
    /// Reads the page lines of an output folder.
    ///
    /// # Errors
    /// If the lines cannot be read.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let mut predictions = Self::default();
        for line in PageLines::open(folder)? {
            predictions.add(&line?);
        }
        Ok(predictions)
    }

    /// Counts the next line.
    pub fn add(&mut self, line: &PageLine) {
        let is_unique = line.is_kept();
        match &line.prediction {
            Some(prediction) if prediction.was_left_out => {
                self.requeued += 1;
                self.requeued_unique += u64::from(is_unique);
            }
            // Any other rate is damage.
            Some(prediction) if is_share(prediction.share) => self.add_sampled(prediction.share, is_unique),
            _ => self.skipped += u64::from(line.outcome == OutcomeKind::PredictedDuplicate),
        }
    }

    /// Counts a URL that was sampled at this rate. `is_unique`: leaving it out would have lost a page.
    pub(super) fn add_sampled(&mut self, share: f64, is_unique: bool) {
        self.sampled += 1;
        self.sampled_unique += u64::from(is_unique);
        let weight = (PARTS / share).round() as u64;
        *self.by_weight.entry((weight, is_unique)).or_default() += 1;
    }

    /// Estimates the unique pages lost per request saved. Empty if nothing was skipped or sampled.
    pub fn loss(&self) -> Estimate {
        if self.skipped == 0 {
            return Estimate::default();
        }
        let all = self.sampled + self.requeued + self.skipped;
        let gate = |weight: u64, is_unique: bool| {
            let requests = weight as f64 / PARTS;
            Gate { requests, gain: if is_unique { requests } else { 0.0 } }
        };
        let drawn: Vec<Gate> = self
            .by_weight
            .iter()
            .flat_map(|(&(weight, is_unique), &count)| std::iter::repeat_n(gate(weight, is_unique), count as usize))
            .collect();
        let sum = |power| drawn.iter().map(|gate| gate.requests.powi(power)).sum::<f64>();
        // A page of weight 1 leaves nothing to chance; a page of large weight nearly all.
        let share = gain_share(&drawn, self.sampled, sum(1) / sum(2));
        let known = (self.sampled_unique + self.requeued_unique) as f64;
        let lost = |share: f64| ((share * all as f64 - known) / self.skipped as f64).clamp(0.0, 1.0);
        Estimate { value: share.value.map(lost), interval: share.interval.map(|(low, high)| (lost(low), lost(high))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::SampledPrediction;
    use ndcrawl_model::seeded::SeededRng;

    fn line(outcome: OutcomeKind, share: Option<f64>, was_left_out: bool) -> PageLine {
        let prediction = share.map(|share| SampledPrediction { share, was_left_out, ..SampledPrediction::default() });
        PageLine { outcome, prediction, ..PageLine::default() }
    }

    fn predictions(lines: &[(u64, PageLine)]) -> PredictionStats {
        let mut predictions = PredictionStats::default();
        for (count, line) in lines {
            (0..*count).for_each(|_| predictions.add(line));
        }
        predictions
    }

    use OutcomeKind::{ExactDuplicate, PredictedDuplicate, Stored};

    #[test]
    fn each_unique_page_drawn_stands_for_the_others_that_were_not() {
        let predictions = predictions(&[
            (18, line(ExactDuplicate, Some(0.25), false)),
            (2, line(Stored, Some(0.25), false)),
            (60, line(PredictedDuplicate, None, false)),
            (9, line(Stored, None, false)),
        ]);
        assert_eq!((predictions.sampled, predictions.sampled_unique, predictions.skipped), (20, 2, 60));
        let lost = predictions.loss();
        // 2 (4 - 1) of 60.
        assert!((lost.value.unwrap() - 0.1).abs() < 1e-9, "{lost:?}");
        let (low, high) = lost.interval.unwrap();
        assert!(low < 0.05 && (0.2..0.5).contains(&high), "{low} {high}");
    }

    #[test]
    fn what_was_brought_back_is_not_lost() {
        let lines = |found| {
            predictions(&[
                (18, line(ExactDuplicate, Some(0.25), false)),
                (2, line(Stored, Some(0.25), false)),
                (found, line(Stored, Some(0.25), true)),
                (20 - found, line(ExactDuplicate, Some(0.25), true)),
                (40, line(PredictedDuplicate, None, false)),
            ])
        };
        assert!((lines(0).loss().value.unwrap() - 6.0 / 40.0).abs() < 1e-9);
        assert!((lines(4).loss().value.unwrap() - 2.0 / 40.0).abs() < 1e-9);
        assert_eq!(lines(15).loss().value, Some(0.0));
    }

    #[test]
    fn nothing_is_said_of_what_was_not_drawn() {
        let of = |lines: &[(u64, PageLine)]| predictions(lines).loss();
        assert_eq!(of(&[(9, line(PredictedDuplicate, None, false))]), Estimate::default());
        assert_eq!(of(&[(9, line(Stored, Some(0.25), false))]), Estimate::default());
        assert_eq!(of(&[(9, line(PredictedDuplicate, None, false)), (9, line(Stored, Some(0.0), false))]).value, None);
    }

    /// A rule as in a crawl: the sampling rate falls as the rule proves right, and a sampled unique page requeues the
    /// URLs skipped before.
    #[test]
    fn nineteen_of_twenty_intervals_hold_what_is_really_lost() {
        let mut random = SeededRng::new(5, "predictions");
        let (mut held, mut trials, mut estimated, mut lost) = (0, 0, 0.0, 0.0);
        for unique in [0.002, 0.01, 0.05] {
            for _ in 0..300 {
                let (mut predictions, mut waiting, mut run) = (PredictionStats::default(), Vec::new(), 0);
                for _ in 0..600 {
                    let share = [0.25, 0.25, 0.125, 0.125, 0.0625][(run / 10).min(4)];
                    let outcome = if random.share() < unique { Stored } else { ExactDuplicate };
                    if random.share() >= share {
                        waiting.push((outcome, share));
                        continue;
                    }
                    predictions.add(&line(outcome, Some(share), false));
                    run = if outcome == Stored { 0 } else { run + 1 };
                    if outcome == Stored {
                        waiting
                            .drain(..)
                            .for_each(|(outcome, share)| predictions.add(&line(outcome, Some(share), true)));
                    }
                }
                waiting.iter().for_each(|_| predictions.add(&line(PredictedDuplicate, None, false)));
                if waiting.is_empty() {
                    continue;
                }
                let missing = waiting.iter().filter(|(outcome, _)| *outcome == Stored).count() as f64;
                let truth = missing / waiting.len() as f64;
                let estimate = predictions.loss();
                let (low, high) = estimate.interval.unwrap();
                held += u32::from((low - 1e-9..=high + 1e-9).contains(&truth));
                trials += 1;
                estimated += estimate.value.unwrap() * waiting.len() as f64;
                lost += missing;
            }
        }
        let coverage = f64::from(held) / f64::from(trials);
        println!("{held} of {trials} intervals hold the truth; {lost} pages lost, {estimated:.0} estimated");
        assert!(coverage > 0.93, "{coverage}");
    }
}
