//! Samples of the counters since the run started, as many as fit into a plot.

use std::time::Duration;

use serde::Serialize;

use crate::cli::status_file::StatusFile;
use crate::model::OutcomeKind;

/// At this number of samples every other one is dropped, and the sampling interval doubles.
const MOST: usize = 240;

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Sample {
    /// Time since the start of this run.
    pub elapsed_seconds: f64,
    pub pages_per_second: f64,
    pub queued: u64,
    /// Pages compared with those stored before.
    pub compared: u64,
    /// Of these, near-duplicates and exact duplicates.
    pub duplicates: u64,
    pub memory_bytes: u64,
}

/// Samples at roughly equal intervals, oldest first.
#[derive(Clone, Debug)]
pub(super) struct History {
    samples: Vec<Sample>,
    /// One of this many samples is kept.
    every: u32,
    /// Samples since the last one kept.
    passed: u32,
}

impl Default for History {
    fn default() -> Self {
        Self { samples: Vec::new(), every: 1, passed: 0 }
    }
}

impl History {
    /// Adds the current counters.
    pub fn add(&mut self, status: &StatusFile, elapsed: Duration) {
        self.passed += 1;
        if self.passed < self.every && !self.samples.is_empty() {
            return;
        }
        self.passed = 0;
        if self.samples.len() == MOST {
            let mut place = 0;
            self.samples.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every *= 2;
        }
        self.samples.push(sample(status, elapsed));
    }

    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

impl Sample {
    /// Returns `None` before any page was compared.
    pub fn duplicate_rate(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.duplicates as f64 / self.compared as f64)
    }
}

fn sample(status: &StatusFile, elapsed: Duration) -> Sample {
    let outcome = |kind: OutcomeKind| status.outcomes.get(kind.name()).copied().unwrap_or(0);
    let duplicates = outcome(OutcomeKind::NearDuplicate) + outcome(OutcomeKind::ExactDuplicate);
    Sample {
        elapsed_seconds: elapsed.as_millis() as f64 / 1000.0,
        pages_per_second: status.pages_per_second,
        queued: status.queued,
        compared: outcome(OutcomeKind::Stored) + outcome(OutcomeKind::NotModified) + duplicates,
        duplicates,
        memory_bytes: status.memory_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(stored: u64, near: u64) -> StatusFile {
        let outcomes = [("stored", stored), ("near-duplicate", near)];
        StatusFile { outcomes: outcomes.map(|(name, count)| (name.to_owned(), count)).into(), ..StatusFile::default() }
    }

    #[test]
    fn a_long_crawl_has_no_more_samples_than_fit_and_they_are_even() {
        let mut history = History::default();
        for second in 0..100_000 {
            history.add(&status(second, 0), Duration::from_secs(second));
        }
        let times: Vec<f64> = history.samples().iter().map(|sample| sample.elapsed_seconds).collect();
        assert!((MOST / 2..=MOST).contains(&times.len()), "{}", times.len());
        assert_eq!(times[0], 0.0);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
        assert!(times[times.len() - 1] > 99_000.0);
    }

    #[test]
    fn a_rate_is_of_the_pages_compared() {
        let rates = [(0, 0), (4, 0), (4, 4)]
            .map(|(stored, near)| sample(&status(stored, near), Duration::ZERO).duplicate_rate());
        assert_eq!(rates, [None, Some(0.0), Some(0.5)]);
    }
}
