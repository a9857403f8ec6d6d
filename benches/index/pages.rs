//! Real pages in crawl order: each is looked up and, if unique, inserted.
//!
//! A decision lasts from the page's numbered and weighted terms to the end of insertion. Any match counts, so a
//! contender may stop at the first. Pages without terms are left out. Exact copies and short pages take part, though the
//! crawler would not query its index for them.

use std::path::Path;

use ndcrawl::model::{Sequence, Threshold};
use ndcrawl::seeded::SeededRng;
use ndcrawl::similarity::{Record, reaches};
use ndcrawl::store::Result;

use crate::brute;
use crate::clock::{Moment, Spread};
use crate::contender::{Cost, Kind};
use crate::judged::Log;
use crate::settings::Settings;
use crate::table::{Printer, Row, grouped};

/// Reads the records of all judged pages of a finished crawl, in order, with the crawl's weights.
pub fn read(out: &Path) -> Result<Vec<Record>> {
    let log = Log::read(out)?;
    let records = log.pages.iter().map(|page| Record::from_counts(&page.terms, &log.options.weights));
    Ok(records.filter(|record| !record.is_empty()).collect())
}

/// Results of one contender at one threshold.
struct Run {
    kind: Kind,
    threshold: Threshold,
    /// For each page, the stored page that it matched.
    decisions: Vec<Option<Sequence>>,
    spread: Spread,
    cost: Cost,
    bytes: usize,
    /// Decisions audited, and wrong ones among them.
    audited: (usize, usize),
}

pub fn run(settings: &Settings, printer: Printer, records: &[Record]) {
    let mut rows = Vec::new();
    let mut figures = Vec::new();
    for &threshold in &settings.thresholds {
        let runs: Vec<Run> = contenders(settings, threshold)
            .map(|kind| {
                let mut run = stream(kind, threshold, records);
                audit(&mut run, records, settings);
                run
            })
            .collect();
        let mean_of = |kind| runs.iter().find(|run| run.kind == kind).map(|run| run.spread.mean);
        let ours = mean_of(Kind::Ours);
        rows.extend(runs.iter().map(|run| run.row(ours)));
        let exact = runs.iter().find(|run| run.kind == Kind::Ours);
        if let Some(run) = exact.filter(|_| settings.takes_part(Kind::Early, true)) {
            rows.push(brute_row(run, records, settings));
        }
        if let Some(ours) = exact {
            figures.push((format!("real pages, t = {threshold}: p99 / mean"), ours.spread.p99 / ours.spread.mean));
            for run in runs.iter().filter(|run| run.kind.is_lsh()) {
                let name = format!("real pages, t = {threshold}: time of ndcrawl / {} + check", run.kind.name());
                figures.push((name, ours.spread.mean / run.spread.mean));
            }
        }
    }
    let pages = grouped(&records.len().to_string());
    printer.table(&format!("{pages} real pages in crawl order: look up, and insert if unique"), &rows);
    printer.note("");
    for (name, number) in figures {
        printer.figure(&name, number, "");
    }
}

/// Returns whether a contender takes part.
///
/// Brute force and prefixes at low thresholds would take hours. The former runs on a sample, the latter on request.
fn contenders(settings: &Settings, threshold: Threshold) -> impl Iterator<Item = Kind> {
    let by_default = move |kind: Kind| match kind {
        Kind::Lsh16x8 | Kind::Lsh21x6 => threshold.millionths() == 800_000,
        Kind::Ours => true,
        Kind::PrefixSketch => threshold.millionths() >= 700_000,
        Kind::Prefix | Kind::Early | Kind::Plain => false,
    };
    Kind::ALL.into_iter().filter(move |&kind| !kind.is_brute() && settings.takes_part(kind, by_default(kind)))
}

fn stream(kind: Kind, threshold: Threshold, records: &[Record]) -> Run {
    let mut contender = kind.build(records, threshold);
    let (mut decisions, mut times) = (Vec::with_capacity(records.len()), Vec::with_capacity(records.len()));
    let mut total = Cost::default();
    for id in (0..records.len() as u32).map(Sequence) {
        let began = Moment::now();
        let (found, cost) = contender.admit(id, threshold);
        times.push(began.micros());
        total.add(cost);
        decisions.push(found);
    }
    let spread = Spread::of(times);
    Run { kind, threshold, decisions, spread, cost: total, bytes: contender.bytes(), audited: (0, 0) }
}

/// Checks some decisions by brute force over the pages that the contender had stored by then.
fn audit(run: &mut Run, records: &[Record], settings: &Settings) {
    let stored = |id: &usize| run.decisions[*id].is_none();
    let sample = SeededRng::new(settings.seed, "index").sample(settings.audits, records.len());
    let wrong = sample.iter().filter(|&&page| {
        let reaches = |id: usize| brute::matches(&records[page], &records[id], run.threshold);
        match run.decisions[page] {
            None => (0..page).filter(stored).any(reaches),
            Some(of) => of.index() >= page || !stored(&of.index()) || !reaches(of.index()),
        }
    });
    run.audited = (sample.len(), wrong.count());
}

/// Measures brute force with early termination on a sample of the same decisions.
fn brute_row(run: &Run, records: &[Record], settings: &Settings) -> Row {
    let stored: Vec<usize> = (0..records.len()).filter(|&id| run.decisions[id].is_none()).collect();
    let sample = SeededRng::new(settings.seed, "index").sample(settings.audits, records.len());
    let mut compared = 0;
    let times = sample.iter().map(|&page| {
        let before = stored.partition_point(|&id| id < page);
        let began = Moment::now();
        let found = stored[..before].iter().position(|&id| reaches(&records[page], &records[id], run.threshold));
        let took = began.micros();
        compared += found.map_or(before, |place| place + 1);
        took
    });
    let spread = Spread::of(times.collect());
    let mut row = Row::default();
    row.text("t", run.threshold.to_string());
    row.text("contender", format!("{} (sample)", Kind::Early.name()));
    row.number_if("kept", None);
    row.number_if("near %", None);
    spread_cells(&mut row, spread, Some(run.spread.mean));
    ["postings", "candidates", "sketches"].into_iter().for_each(|head| row.number_if(head, None));
    row.number("verified", compared as f64 / sample.len().max(1) as f64);
    row.number_if("B/record", None);
    row.text("wrong", "");
    row
}

fn spread_cells(row: &mut Row, spread: Spread, ours: Option<f64>) {
    row.number("µs/page", spread.mean);
    row.number("p50", spread.p50);
    row.number("p99", spread.p99);
    row.number("max µs", spread.max);
    row.number("p99/mean", spread.p99 / spread.mean);
    row.number_if("x ours", ours.map(|ours| spread.mean / ours));
}

impl Run {
    fn row(&self, ours: Option<f64>) -> Row {
        let pages = self.decisions.len().max(1) as f64;
        let kept = self.decisions.iter().filter(|found| found.is_none()).count();
        let mut row = Row::default();
        row.text("t", self.threshold.to_string());
        row.text("contender", self.kind.name());
        row.count("kept", kept);
        row.number("near %", 100.0 * (pages - kept as f64) / pages);
        spread_cells(&mut row, self.spread, ours);
        row.number("postings", self.cost.postings as f64 / pages);
        row.number("candidates", self.cost.candidates as f64 / pages);
        row.number("sketches", self.cost.sketches as f64 / pages);
        row.number("verified", self.cost.verifications as f64 / pages);
        row.number("B/record", self.bytes as f64 / kept.max(1) as f64);
        row.text("wrong", format!("{}/{}", self.audited.1, self.audited.0));
        row
    }
}
