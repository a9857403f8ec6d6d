//! Evaluation results as JSON, one object per line.
//!
//! Pairs: one line per detector, threshold and kind; the line of kind `all` has more fields. Clusters: one line per
//! detector and threshold. A share without data is `null`.

use std::time::Duration;

use serde::Serialize;

use super::clusters::ClusterFigures;
use super::labels::Label;
use super::metrics::{Counts, Estimate};
use super::pairs::{ALL, SweepPoint};
use super::report::{ClusterReport, EvalInput, JudgedPairs, PairReport, PairRun};
use super::stream::DecisionCost;

#[derive(Serialize)]
struct KindLine<'a> {
    detector: &'a str,
    threshold: f64,
    kind: &'a str,
    #[serde(flatten)]
    counts: Counts,
    #[serde(flatten)]
    measures: Measures,
    #[serde(flatten)]
    more: Option<PairDetails<'a>>,
}

#[derive(Serialize)]
struct Measures {
    precision: Option<f64>,
    precision_interval: Option<(f64, f64)>,
    recall: Option<f64>,
    recall_interval: Option<(f64, f64)>,
    f1: Option<f64>,
    f1_interval: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct PairDetails<'a> {
    file: &'a str,
    pages: usize,
    pages_missing: usize,
    pairs: usize,
    pairs_compared: usize,
    pairs_grey: usize,
    best: Option<SweepEntry>,
    sweep: Vec<SweepEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelEntry<'a>>,
    borderlines: Vec<BorderlineEntry<'a>>,
    cost: CostEntry,
}

#[derive(Serialize)]
struct SweepEntry {
    threshold: f64,
    #[serde(flatten)]
    counts: Counts,
    precision: Option<f64>,
    recall: Option<f64>,
    f1: Option<f64>,
}

#[derive(Serialize)]
struct LevelEntry<'a> {
    mutation: &'a str,
    level: &'a str,
    label: Label,
    called: usize,
    compared: usize,
}

#[derive(Serialize)]
struct BorderlineEntry<'a> {
    url_a: &'a str,
    url_b: &'a str,
    label: Label,
    kind: &'a str,
    score: f64,
    right: bool,
}

#[derive(Serialize)]
struct ClusterLine<'a> {
    detector: &'a str,
    threshold: f64,
    clusters: usize,
    missed: usize,
    extra: usize,
    extra_rate: f64,
    kept: usize,
    unseen: usize,
    stored: usize,
    grey_stored: usize,
    paths: usize,
    decided: usize,
    thin: usize,
    file: &'a str,
    pages_missing: usize,
    missed_pages: Vec<MissedEntry<'a>>,
    extra_pages: Vec<ExtraEntry<'a>>,
    cost: CostEntry,
}

#[derive(Serialize)]
struct MissedEntry<'a> {
    cluster: &'a str,
    url: &'a str,
    of: Option<&'a str>,
    score: Option<f64>,
    decided_by: Option<&'a str>,
}

#[derive(Serialize)]
struct ExtraEntry<'a> {
    cluster: &'a str,
    url: &'a str,
    first: &'a str,
}

/// Costs: CPU times, as means per page, pair or probe.
#[derive(Serialize)]
struct CostEntry {
    render_us_per_page: Option<f64>,
    render_pages_per_second: Option<f64>,
    compare_us_per_pair: Option<f64>,
    decide_us_per_page: Option<f64>,
    decide_pages_per_second: Option<f64>,
    probes: Option<u64>,
    records_per_probe: Option<f64>,
    candidates_per_probe: Option<f64>,
    mezzanine_per_probe: Option<f64>,
    verifications_per_probe: Option<f64>,
}

/// Returns the lines of a report on pairs.
pub fn pairs(report: &PairReport) -> String {
    let mut text = String::new();
    for run in &report.runs {
        for judged in &run.judged {
            for kind in &judged.kinds {
                let more = (kind.kind == ALL).then(|| more(report, run, judged));
                let (detector, threshold) = (run.scores.detector.as_str(), f64::from(judged.threshold));
                let (counts, measures) = (kind.counts, Measures::of(&kind.counts));
                push(&mut text, &KindLine { detector, threshold, kind: &kind.kind, counts, measures, more });
            }
        }
    }
    text
}

/// Returns the lines of a report on clusters.
pub fn clusters(report: &ClusterReport) -> String {
    let mut text = String::new();
    report.figures.iter().for_each(|figures| push(&mut text, &cluster_line(report, figures)));
    text
}

fn push(text: &mut String, line: &impl Serialize) {
    // Serializing numbers and strings cannot fail.
    text.push_str(&serde_json::to_string(line).unwrap_or_default());
    text.push('\n');
}

impl Measures {
    fn of(counts: &Counts) -> Self {
        let [precision, recall, f1] = [counts.precision(), counts.recall(), counts.f1()];
        let ends = |estimate: Estimate| estimate.interval.map(|(low, high)| (rounded(low), rounded(high)));
        Self {
            precision: precision.value.map(rounded),
            precision_interval: ends(precision),
            recall: recall.value.map(rounded),
            recall_interval: ends(recall),
            f1: f1.value.map(rounded),
            f1_interval: ends(f1),
        }
    }
}

/// Rounds to six places; more would be noise.
fn rounded(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}

fn more<'a>(report: &'a PairReport, run: &'a PairRun, judged: &'a JudgedPairs) -> PairDetails<'a> {
    let (labels, scores) = (&report.labels, &run.scores);
    let levels = report.levels.iter().map(|level| {
        let called = scores.called(level, judged.threshold);
        let (mutation, label) = (level.kind.as_str(), level.label);
        LevelEntry { mutation, level: &level.level, label, called: called.called, compared: called.of }
    });
    let borderlines = judged.borderlines.iter().map(|line| {
        let pair = &labels.pairs[line.pair];
        let url = |page: usize| labels.pages[page].url.as_str();
        let (label, kind, score) = (pair.label, pair.kind.as_str(), line.score.as_f64());
        BorderlineEntry { url_a: url(pair.a), url_b: url(pair.b), label, kind, score, right: line.is_right }
    });
    let comparing = per(scores.comparing, scores.compared() as u64);
    PairDetails {
        file: &report.input.file,
        pages: report.input.pages,
        pages_missing: report.input.missing.len(),
        pairs: labels.pairs.len(),
        pairs_compared: scores.compared(),
        pairs_grey: labels.pairs.iter().filter(|pair| pair.label == Label::Grey).count(),
        best: run.best.as_ref().map(point),
        sweep: run.sweep.iter().map(point).collect(),
        levels: levels.collect(),
        borderlines: borderlines.collect(),
        cost: CostEntry { compare_us_per_pair: comparing, ..cost(&report.input, judged.cost.as_ref()) },
    }
}

fn point(point: &SweepPoint) -> SweepEntry {
    let Measures { precision, recall, f1, .. } = Measures::of(&point.counts);
    SweepEntry { threshold: f64::from(point.threshold), counts: point.counts, precision, recall, f1 }
}

fn cluster_line<'a>(report: &'a ClusterReport, figures: &'a ClusterFigures) -> ClusterLine<'a> {
    let cluster = |member: usize| report.labels.names[report.labels.members[member].cluster].as_str();
    let missed = figures.missed_pages.iter().map(|missed| MissedEntry {
        cluster: cluster(missed.member),
        url: report.url(missed.member),
        of: missed.repeats.map(|repeated| report.url(repeated.of)),
        score: missed.repeats.map(|repeated| repeated.score.as_f64()),
        decided_by: missed.repeats.map(|repeated| repeated.decided_by.name()),
    });
    let extra = figures.extra_pages.iter().map(|extra| ExtraEntry {
        cluster: cluster(extra.member),
        url: report.url(extra.member),
        first: report.url(extra.first),
    });
    ClusterLine {
        detector: &figures.detector,
        threshold: f64::from(figures.threshold),
        clusters: figures.clusters,
        missed: figures.missed,
        extra: figures.extra,
        extra_rate: rounded(figures.extra_rate()),
        kept: figures.kept,
        unseen: figures.unseen,
        stored: figures.stored,
        grey_stored: figures.grey_stored,
        paths: figures.paths,
        decided: figures.decided,
        thin: report.labels.thin,
        file: &report.input.file,
        pages_missing: report.input.missing.len(),
        missed_pages: missed.collect(),
        extra_pages: extra.collect(),
        cost: cost(&report.input, Some(&figures.cost)),
    }
}

fn cost(input: &EvalInput, decision: Option<&DecisionCost>) -> CostEntry {
    let rendering = per(input.rendering.thread_time, input.rendering.pages as u64);
    let deciding = decision.and_then(|cost| per(cost.thread_time, cost.pages as u64));
    let per_probe =
        |count: fn(&DecisionCost) -> u64| decision.and_then(|cost| cost.per_probe(count(cost))).map(rounded);
    CostEntry {
        render_us_per_page: rendering,
        render_pages_per_second: rendering.map(|micros| rounded(1e6 / micros)),
        compare_us_per_pair: None,
        decide_us_per_page: deciding,
        decide_pages_per_second: deciding.map(|micros| rounded(1e6 / micros)),
        probes: decision.map(|cost| cost.probes),
        records_per_probe: per_probe(|cost| cost.records),
        candidates_per_probe: per_probe(|cost| cost.counters.candidates),
        mezzanine_per_probe: per_probe(|cost| cost.counters.mezzanine),
        verifications_per_probe: per_probe(|cost| cost.counters.verifications),
    }
}

/// Returns microseconds per item.
fn per(time: Duration, count: u64) -> Option<f64> {
    (count > 0).then(|| (time.as_secs_f64() * 1e9 / count as f64).round() / 1e3)
}
