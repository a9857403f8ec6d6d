//! The collected results of an evaluation, for JSON, HTML and text output.

use super::clusters::ClusterFigures;
use super::host_pages::HostPages;
use super::labels::{ClusterLabels, PairLabels};
use super::levels::{EditLevel, levels};
use super::pages::{MissingPage, Pages, RenderingCost};
use super::pairs::{Borderline, KindCounts, PairScores, SweepPoint, best};
use super::stream::{DecisionCost, DecisionStream};
use ndcrawl_model::Threshold;
use neardup::detect::{DetectError, Options};

/// Number of borderline pairs per threshold: wrong ones, right ones.
const BORDERLINES: [usize; 2] = [10, 5];

/// The evaluated label file and its pages.
#[derive(Clone, Debug, Default)]
pub struct EvalInput {
    /// The label file.
    pub file: String,
    /// Number of pages in the label file.
    pub pages: usize,
    /// The missing pages.
    pub missing: Vec<MissingPage>,
    /// Cost of rendering the other pages.
    pub rendering: RenderingCost,
}

/// Results of detectors on labeled pairs.
#[derive(Clone, Debug)]
pub struct PairReport {
    /// The label file and its pages.
    pub input: EvalInput,
    /// The pairs.
    pub labels: PairLabels,
    /// Edits and levels of generated pairs; else empty.
    pub levels: Vec<EditLevel>,
    /// One entry for each detector.
    pub runs: Vec<PairRun>,
}

/// Results of one detector on labeled pairs.
#[derive(Clone, Debug)]
pub struct PairRun {
    /// Score of each pair.
    pub scores: PairScores,
    /// Counts at many thresholds.
    pub sweep: Vec<SweepPoint>,
    /// The threshold with the best F1.
    pub best: Option<SweepPoint>,
    /// Counts at the given thresholds.
    pub judged: Vec<JudgedPairs>,
}

/// Results of one detector on labeled pairs at one threshold.
#[derive(Clone, Debug)]
pub struct JudgedPairs {
    /// The threshold: pairs at least this similar are called duplicates.
    pub threshold: Threshold,
    /// Counts of all pairs, then by kind.
    pub kinds: Vec<KindCounts>,
    /// The pairs closest to the threshold.
    pub borderlines: Vec<Borderline>,
    /// Cost of deciding all pages one by one, if measured.
    pub cost: Option<DecisionCost>,
}

/// Results of detectors on labeled clusters.
#[derive(Clone, Debug)]
pub struct ClusterReport {
    /// The label file and its pages.
    pub input: EvalInput,
    /// The clusters.
    pub labels: ClusterLabels,
    /// One entry for each detector and threshold.
    pub figures: Vec<ClusterFigures>,
}

impl EvalInput {
    /// Describes the pages of a label file.
    pub fn new(file: &std::path::Path, pages: &Pages) -> Self {
        let (missing, rendering) = (pages.missing.clone(), pages.cost);
        Self { file: file.display().to_string(), pages: pages.pages.len(), missing, rendering }
    }
}

impl PairReport {
    /// Returns a report without detectors.
    pub fn new(labels: PairLabels, pages: &Pages) -> Self {
        Self { input: EvalInput::new(&labels.file, pages), levels: levels(&labels), labels, runs: Vec::new() }
    }

    /// Runs a detector at each of these thresholds. `others` are further pages of the hosts.
    ///
    /// # Errors
    /// If the detector fails.
    pub fn add(
        &mut self,
        pages: &Pages,
        others: &HostPages<'_>,
        options: &Options,
        thresholds: &[Threshold],
        advance: &(dyn Fn() + Sync),
    ) -> Result<(), DetectError> {
        let scores = PairScores::compare(&self.labels, pages, others, options, advance)?;
        self.add_scores(scores, thresholds);
        let Some(run) = self.runs.last_mut() else { return Ok(()) };
        for judged in &mut run.judged {
            let options = Options { threshold: judged.threshold, ..options.clone() };
            let stream = DecisionStream::decide(pages.pages.iter().map(Option::as_ref), &options, advance)?;
            judged.cost = Some(stream.cost);
        }
        Ok(())
    }

    /// Adds scores computed elsewhere.
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
    /// Returns a report without detectors.
    pub fn new(labels: ClusterLabels, pages: &Pages) -> Self {
        Self { input: EvalInput::new(&labels.file, pages), labels, figures: Vec::new() }
    }

    /// Runs a detector at each of these thresholds.
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

    /// Returns the URL of a member.
    pub fn url(&self, member: usize) -> &str {
        self.labels.pages[self.labels.members[member].page].url.as_str()
    }
}
