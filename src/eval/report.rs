//! Everything that is known in the end, for whoever tells it.

use super::clusters::ClusterFigures;
use super::labels::{ClusterLabels, PairLabels};
use super::levels::{Level, levels};
use super::pages::{Missing, Pages, RenderingCost};
use super::pairs::{Borderline, KindCounts, PairScores, SweepPoint, best};
use super::stream::{DecisionCost, Stream};
use crate::detect::{DetectError, Options};
use crate::model::Threshold;

/// Pairs to read at each threshold: on the wrong side of it, and on the right one.
const BORDERLINES: [usize; 2] = [10, 5];

/// What was looked at.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The file of labels.
    pub file: String,
    /// Pages that it names.
    pub pages: usize,
    /// Those that are not there.
    pub missing: Vec<Missing>,
    /// What rendering the others cost.
    pub rendering: RenderingCost,
}

/// Detectors on labelled pairs.
#[derive(Clone, Debug)]
pub struct PairReport {
    /// What was looked at.
    pub input: Input,
    /// The pairs.
    pub labels: PairLabels,
    /// For pairs that were made: what was done. Else empty.
    pub levels: Vec<Level>,
    /// One entry for each detector.
    pub runs: Vec<PairRun>,
}

/// A detector on labelled pairs.
#[derive(Clone, Debug)]
pub struct PairRun {
    /// What it says of each pair.
    pub scores: PairScores,
    /// Counts at many thresholds.
    pub sweep: Vec<SweepPoint>,
    /// The best of these.
    pub best: Option<SweepPoint>,
    /// Counts at the thresholds that were asked for.
    pub judged: Vec<JudgedPairs>,
}

/// A detector on labelled pairs, at one threshold.
#[derive(Clone, Debug)]
pub struct JudgedPairs {
    /// From which similarity on a pair is called a duplicate.
    pub threshold: Threshold,
    /// All pairs first, then by kind.
    pub kinds: Vec<KindCounts>,
    /// The pairs that lie closest to the threshold.
    pub borderlines: Vec<Borderline>,
    /// What it costs to decide all pages of the file one by one, if that was measured.
    pub cost: Option<DecisionCost>,
}

/// Detectors on labelled clusters.
#[derive(Clone, Debug)]
pub struct ClusterReport {
    /// What was looked at.
    pub input: Input,
    /// The clusters.
    pub labels: ClusterLabels,
    /// One entry for each detector and threshold.
    pub figures: Vec<ClusterFigures>,
}

impl Input {
    /// What was looked at, without the pages themselves.
    pub fn new(file: &std::path::Path, pages: &Pages) -> Self {
        let (missing, rendering) = (pages.missing.clone(), pages.cost);
        Self { file: file.display().to_string(), pages: pages.pages.len(), missing, rendering }
    }
}

impl PairReport {
    /// A report without detectors.
    pub fn new(labels: PairLabels, pages: &Pages) -> Self {
        Self { input: Input::new(&labels.file, pages), levels: levels(&labels), labels, runs: Vec::new() }
    }

    /// Asks a detector, at each of these thresholds.
    ///
    /// # Errors
    /// If the detector fails.
    pub fn add(
        &mut self,
        pages: &Pages,
        options: &Options,
        thresholds: &[Threshold],
        advance: &dyn Fn(),
    ) -> Result<(), DetectError> {
        let scores = PairScores::compare(&self.labels, pages, options, advance)?;
        self.add_scores(scores, thresholds);
        let Some(run) = self.runs.last_mut() else { return Ok(()) };
        for judged in &mut run.judged {
            let options = Options { threshold: judged.threshold, ..options.clone() };
            let stream = Stream::decide(pages.pages.iter().map(Option::as_ref), &options, advance)?;
            judged.cost = Some(stream.cost);
        }
        Ok(())
    }

    /// Adds what somebody else says of the pairs.
    pub fn add_scores(&mut self, scores: PairScores, thresholds: &[Threshold]) {
        let judge = |&threshold: &Threshold| JudgedPairs {
            threshold,
            kinds: scores.count(&self.labels, threshold),
            borderlines: scores.borderlines(&self.labels, threshold, BORDERLINES),
            cost: None,
        };
        let judged = thresholds.iter().map(judge).collect();
        let sweep = scores.sweep(&self.labels);
        self.runs.push(PairRun { best: best(&sweep), sweep, judged, scores });
    }
}

impl ClusterReport {
    /// A report without detectors.
    pub fn new(labels: ClusterLabels, pages: &Pages) -> Self {
        Self { input: Input::new(&labels.file, pages), labels, figures: Vec::new() }
    }

    /// Asks a detector, at each of these thresholds.
    ///
    /// # Errors
    /// If the detector fails.
    pub fn add(
        &mut self,
        pages: &Pages,
        options: &Options,
        thresholds: &[Threshold],
        advance: &dyn Fn(),
    ) -> Result<(), DetectError> {
        for &threshold in thresholds {
            let options = Options { threshold, ..options.clone() };
            self.figures.push(ClusterFigures::decide(&self.labels, pages, &options, advance)?);
        }
        Ok(())
    }

    /// The URL of a member of the clusters.
    pub fn url(&self, member: usize) -> &str {
        self.labels.pages[self.labels.members[member].page].url.as_str()
    }
}
