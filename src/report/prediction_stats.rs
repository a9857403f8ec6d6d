//! What leaving out what rules foretell saves and loses.
//!
//! Of the URLs that rules foretell to be duplicates a share is drawn by lot and fetched all the same, and each such
//! line says how large the share was. A page stands for as many as the inverse of its share, so that the unique ones
//! among those drawn, each counted so often, are as many as there are unique pages among all that was foretold: not
//! more and not less on average, however the shares have changed on the way and whatever the crawl has learned from
//! what it saw. The unique pages that were fetched are not lost: those drawn, and those that were left out and brought
//! back when their rule had proved wrong. The rest is. The interval is that of [`unique_share`], each URL drawn being a
//! gate behind which it lies alone.
//!
//! A crawl that was killed has forgotten what it had left out, and looks at it again: what it fetches of that, no
//! longer foretold, it does not know to have been brought back, so that somewhat too much is taken for lost.

use std::collections::BTreeMap;
use std::path::Path;

use super::ReportError;
use super::sampling_estimate::{Gate, unique_share};
use crate::eval::Estimate;
use crate::model::{OutcomeKind, PageLine};
use crate::store::PageLines;

/// What is known of the URLs that rules foretold to be duplicates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// URLs that were drawn and fetched.
    pub drawn: u64,
    /// Of these, unique pages.
    pub unique: u64,
    /// URLs that were left out first, and fetched later since a rule had proved wrong or two contradicted each other.
    pub brought_back: u64,
    /// Of these, unique pages.
    pub found: u64,
    /// URLs that were not fetched: requests saved.
    pub left_out: u64,
    /// The URLs drawn by what each stands for, in millionths of one, and whether it is unique: how many.
    by_weight: BTreeMap<(u64, bool), u64>,
}

/// What is kept of a page's weight.
const PARTS: f64 = 1e6;

impl Predictions {
    /// Reads the lines of an output folder.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let mut predictions = Self::default();
        for line in PageLines::open(folder)? {
            predictions.add(&line?);
        }
        Ok(predictions)
    }

    /// Takes in the next line.
    pub fn add(&mut self, line: &PageLine) {
        let is_unique = line.is_kept();
        match &line.prediction {
            Some(foretold) if foretold.was_left_out => {
                self.brought_back += 1;
                self.found += u64::from(is_unique);
            }
            // A line that says otherwise is damaged.
            Some(foretold) if foretold.share > 0.0 && foretold.share <= 1.0 => {
                self.drawn += 1;
                self.unique += u64::from(is_unique);
                let weight = (PARTS / foretold.share).round() as u64;
                *self.by_weight.entry((weight, is_unique)).or_default() += 1;
            }
            _ => self.left_out += u64::from(line.outcome == OutcomeKind::PredictedDuplicate.name()),
        }
    }

    /// Unique pages lost for each request saved; nothing if none was saved, or nothing drawn.
    pub fn lost(&self) -> Estimate {
        if self.left_out == 0 {
            return Estimate::default();
        }
        let all = self.drawn + self.brought_back + self.left_out;
        let gate = |weight: u64, is_unique: bool| {
            let requests = weight as f64 / PARTS;
            Gate { requests, unique: if is_unique { requests } else { 0.0 } }
        };
        let drawn: Vec<Gate> = self
            .by_weight
            .iter()
            .flat_map(|(&(weight, is_unique), &count)| std::iter::repeat_n(gate(weight, is_unique), count as usize))
            .collect();
        let sum = |power| drawn.iter().map(|gate| gate.requests.powi(power)).sum::<f64>();
        // Of a page that stands for itself alone nothing is left to chance, of one that stands for many nearly all.
        let share = unique_share(&drawn, self.drawn, sum(1) / sum(2));
        let known = (self.unique + self.found) as f64;
        let lost = |share: f64| ((share * all as f64 - known) / self.left_out as f64).clamp(0.0, 1.0);
        Estimate { value: share.value.map(lost), interval: share.interval.map(|(low, high)| (lost(low), lost(high))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SampledPrediction;
    use crate::seeded::SeededRng;

    fn line(outcome: OutcomeKind, share: Option<f64>, was_left_out: bool) -> PageLine {
        let prediction = share.map(|share| SampledPrediction { share, was_left_out, ..SampledPrediction::default() });
        PageLine { outcome: outcome.name().to_owned(), prediction, ..PageLine::default() }
    }

    fn predictions(lines: &[(u64, PageLine)]) -> Predictions {
        let mut predictions = Predictions::default();
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
        assert_eq!((predictions.drawn, predictions.unique, predictions.left_out), (20, 2, 60));
        let lost = predictions.lost();
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
        assert!((lines(0).lost().value.unwrap() - 6.0 / 40.0).abs() < 1e-9);
        assert!((lines(4).lost().value.unwrap() - 2.0 / 40.0).abs() < 1e-9);
        assert_eq!(lines(15).lost().value, Some(0.0));
    }

    #[test]
    fn nothing_is_said_of_what_was_not_drawn() {
        let of = |lines: &[(u64, PageLine)]| predictions(lines).lost();
        assert_eq!(of(&[(9, line(PredictedDuplicate, None, false))]), Estimate::default());
        assert_eq!(of(&[(9, line(Stored, Some(0.25), false))]), Estimate::default());
        assert_eq!(of(&[(9, line(PredictedDuplicate, None, false)), (9, line(Stored, Some(0.0), false))]).value, None);
    }

    /// A rule as the crawl has it: the share falls as it proves right, and a unique page that is drawn brings back what
    /// was left out before.
    #[test]
    fn nineteen_of_twenty_intervals_hold_what_is_really_lost() {
        let mut random = SeededRng::new(5, "predictions");
        let (mut held, mut trials, mut estimated, mut lost) = (0, 0, 0.0, 0.0);
        for unique in [0.002, 0.01, 0.05] {
            for _ in 0..300 {
                let (mut predictions, mut waiting, mut run) = (Predictions::default(), Vec::new(), 0);
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
                let estimate = predictions.lost();
                let (low, high) = estimate.interval.unwrap();
                held += u32::from((low - 1e-9..=high + 1e-9).contains(&truth));
                trials += 1;
                estimated += estimate.value.unwrap() * waiting.len() as f64;
                lost += missing;
            }
        }
        let coverage = f64::from(held) / f64::from(trials);
        println!("{held} of {trials} intervals; {lost} pages lost, {estimated:.0} by the estimates");
        assert!(coverage > 0.93, "{coverage}");
    }
}
