//! Compares a finished crawl with brute force, and measures the cost of exactness.
//!
//! `cargo bench --bench exactness -- OUT [--thresholds 0.5,0.7,0.8,0.9]`
//!
//! The first row holds the crawl's own decisions from its log. Each other row replays the same pages in the same order,
//! by a decider with an index in memory. The bench compares every verdict with that of brute force: stored or not, the
//! page it names, the score.
//!
//! Times are wall-clock means over all pages, with exact copies; other work on the machine lengthens them.
//!
//! | column | measures |
//! |---|---|
//! | `index` | a decision by the index, from looking up the terms to inserting the record |
//! | `copies` | the same for exact copies only, without index and verification |
//! | `brute` | the comparison with all stored pages, by one thread |
//! | postings, verified | means over the pages that query the index |
//!
//! The last columns are the filter as published, on the same pages: the near-duplicates that it loses, among all near
//! to a page it stored. That is a figure, not a failure.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ndcrawl::detect::{Audit, AuditDifference, DeciderStats, Options, SecondCheck};
use ndcrawl::index::FilterKind;
use ndcrawl::model::{DecidedBy, Detector, Sequence, Threshold, Verdict};

use crate::judged::{Log, Replay};

#[path = "../tests/it/judged.rs"]
mod judged;

const HOW: &str = "\
Usage, with the output folder of a finished crawl:

    ndcrawl https://example.com/ -o OUT
    cargo bench --bench exactness -- OUT [--thresholds 0.5,0.7,0.8,0.9]

A crawl with --duplicate-links follow meets more near-duplicates.";
const THRESHOLDS: &str = "0.5,0.7,0.8,0.9";
const THREADS: usize = 2;
/// Pages per batch, as in the crawler.
const BATCH: usize = 32;
/// Replays per figure.
const ROUNDS: u32 = 3;
/// Maximum differences printed.
const TOLD: usize = 10;

fn main() -> ExitCode {
    // `cargo bench` adds a flag.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (out, thresholds) = match arguments[..] {
        [out] if !out.starts_with('-') => (out, THRESHOLDS),
        [out, "--thresholds", thresholds] | ["--thresholds", thresholds, out] => (out, thresholds),
        _ => {
            println!("{HOW}");
            return ExitCode::SUCCESS;
        }
    };
    let thresholds: Vec<Threshold> = match thresholds.split(',').map(str::parse).collect() {
        Ok(thresholds) => thresholds,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let mut log = match Log::read(Path::new(out)) {
        Ok(log) => log,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    print_head();
    // The audit covers the first check only. Unit tests cover the second check with an oracle.
    let is_plain = std::mem::replace(&mut log.options.second, SecondCheck::None) == SecondCheck::None;
    let mut differences = if is_plain { crawl_row(&log) } else { 0 };
    for threshold in thresholds {
        differences += replay_row(&log, threshold);
    }
    println!("\n{differences} differences from brute force");
    if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Checks the crawl's own decisions. Returns the number of differences.
fn crawl_row(log: &Log) -> usize {
    let verdicts = log.verdicts();
    let checked = check(log, &log.options, &verdicts);
    print_row(&format!("{} (crawl)", log.options.threshold), &verdicts, &checked, None);
    tell(&checked.differences)
}

/// Checks a replay at a threshold. Returns the number of differences.
fn replay_row(log: &Log, threshold: Threshold) -> usize {
    let options = Options { threshold, filter: FilterKind::Exact, ..log.options.clone() };
    let by_paper = Options { filter: FilterKind::Paper, ..options.clone() };
    let copies_only = Options { detector: Detector::None, ..options.clone() };
    let replays = Replays {
        exact: replay(log, &options),
        copies: replay(log, &copies_only),
        paper: log.replay(&by_paper, BATCH),
    };
    let verdicts = replays.exact.verdicts();
    let checked = check(log, &options, &verdicts);
    let missed = missed(&check(log, &by_paper, &replays.paper.verdicts()).differences);
    print_row(&threshold.to_string(), &verdicts, &checked, Some((&replays, missed)));
    tell(&checked.differences)
}

/// Replays of the same pages in three ways.
struct Replays {
    exact: Replay,
    /// With exact copies only.
    copies: Replay,
    paper: Replay,
}

/// A replay with its mean time.
fn replay(log: &Log, options: &Options) -> Replay {
    let mut replay = log.replay(options, BATCH);
    for _ in 1..ROUNDS {
        replay.took += log.replay(options, BATCH).took;
    }
    Replay { took: replay.took / ROUNDS, ..replay }
}

/// The comparison of verdicts with brute force.
struct Checked {
    differences: Vec<AuditDifference>,
    /// CPU time of all threads.
    took: Duration,
}

fn check(log: &Log, options: &Options, verdicts: &[Verdict]) -> Checked {
    let audit = &Audit::new(options.clone(), log.pages.iter().map(|page| page.judged()).collect(), verdicts);
    let share = |first: usize| {
        let began = Instant::now();
        let pages = (first..verdicts.len()).step_by(THREADS).map(|page| Sequence(page as u32));
        let differences: Vec<AuditDifference> = pages.filter_map(|page| audit.difference(page)).collect();
        (differences, began.elapsed())
    };
    let shares: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || share(first))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let took = shares.iter().map(|(_, took)| *took).sum();
    let mut differences: Vec<AuditDifference> = shares.into_iter().flat_map(|(differences, _)| differences).collect();
    differences.sort_unstable_by_key(|difference| difference.page);
    Checked { differences, took }
}

/// Counts the near-duplicates stored as unique.
fn missed(differences: &[AuditDifference]) -> usize {
    differences.iter().filter(|difference| difference.said.is_unique() && !difference.expected.is_unique()).count()
}

fn tell(differences: &[AuditDifference]) -> usize {
    for AuditDifference { page, said, expected } in differences.iter().take(TOLD) {
        println!("    page {page}: {said:?}, but brute force finds {expected:?}");
    }
    differences.len()
}

fn print_head() {
    println!(
        "{:<13} | {:>6} {:>7} {:>7} {:>7} | {:>11} | {:>8} {:>9} {:>8} {:>6} | {:>8} {:>8} | {:>13} {:>8} {:>8}",
        "threshold",
        "pages",
        "stored",
        "near",
        "exact",
        "differences",
        "index µs",
        "copies µs",
        "brute µs",
        "ratio",
        "postings",
        "verified",
        "paper: missed",
        "of near",
        "µs"
    );
}

fn print_row(name: &str, verdicts: &[Verdict], checked: &Checked, replays: Option<(&Replays, usize)>) {
    let pages = verdicts.len();
    let micros = |took: Duration| took.as_secs_f64() * 1e6 / pages.max(1) as f64;
    let near = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::NearDuplicate { .. })).count();
    let stored = verdicts.iter().filter(|verdict| verdict.is_unique()).count();
    let (exact, differences, brute) = (pages - near - stored, checked.differences.len(), micros(checked.took));
    print!("{name:<13} | {pages:>6} {stored:>7} {near:>7} {exact:>7} | {differences:>11} | ");
    let Some((replays, missed)) = replays else {
        println!("{:>8} {:>9} {brute:>8.1}", "", "");
        return;
    };
    let (index, copies) = (micros(replays.exact.took), micros(replays.copies.took));
    let [postings, verified] = per_probe(&replays.exact.stats);
    print!("{index:>8.1} {copies:>9.1} {brute:>8.1} {:>6.1} | ", brute / index);
    print!("{postings:>8.1} {verified:>8.1} | ");
    println!("{missed:>13} {:>8} {:>8.1}", similar(&replays.paper) + missed, micros(replays.paper.took));
}

/// Counts the near-duplicates found by comparison.
fn similar(replay: &Replay) -> usize {
    let is_similar =
        |verdict: &&Verdict| matches!(verdict, Verdict::NearDuplicate { decided_by: DecidedBy::Similarity, .. });
    replay.verdicts().iter().filter(is_similar).count()
}

fn per_probe(stats: &DeciderStats) -> [f64; 2] {
    let counters = [stats.counters.postings, stats.counters.verifications];
    counters.map(|counter| counter as f64 / stats.probes.max(1) as f64)
}
