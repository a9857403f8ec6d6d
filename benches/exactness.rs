//! Holds a finished crawl against brute force, and measures what exactness costs.
//!
//! `cargo bench --bench exactness -- OUT [--thresholds 0.5,0.7,0.8,0.9]`
//!
//! The first row is the crawl's own decisions as they stand in its log. For each other row the
//! same pages are decided over again, in the same order, by a decider with an index in memory. Every verdict
//! is compared with that of brute force: stored or not, the page it names, the score. `index` is
//! the time of a decision by the index (terms looked up, digests, filter, verification), `brute
//! force` that of comparing the page with all stored ones, by one thread; both are means over all
//! pages, exact copies too. Numbers per probe are means over the pages for which the index is asked.
//! The last columns are the filter as published on the same pages: the near-duplicates that it does
//! not find among the pages that it has stored, which is a figure and no failure.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ndcrawl::detect::{Audit, DeciderStats, Difference, Options};
use ndcrawl::filter::FilterKind;
use ndcrawl::record::{Sequence, Threshold, Verdict};

use crate::judged::{Log, Replay};

#[path = "../tests/it/judged.rs"]
mod judged;

const HOW: &str = "\
To hold a crawl against brute force, give the folder of one that has finished:

    ndcrawl https://example.com/ -o OUT
    cargo bench --bench exactness -- OUT [--thresholds 0.5,0.7,0.8,0.9]

A crawl with --duplicate-links follow sees more near-duplicates.";
const THRESHOLDS: &str = "0.5,0.7,0.8,0.9";
const THREADS: usize = 2;
/// As many pages as the crawler hands to its decider at once.
const BATCH: usize = 32;
/// So many differences are told one by one.
const TOLD: usize = 10;

fn main() -> ExitCode {
    // `cargo bench` adds a flag of its own.
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
    let log = Log::read(Path::new(out));
    print_head();
    let mut differences = crawl_row(&log);
    for threshold in thresholds {
        differences += replay_row(&log, threshold);
    }
    println!("\n{differences} differences from brute force");
    if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The crawl's own decisions. Gives the number of differences.
fn crawl_row(log: &Log) -> usize {
    let verdicts = log.verdicts();
    let checked = check(log, &log.options, &verdicts);
    let name = format!("{} (crawl)", log.options.threshold);
    print_row(&name, &verdicts, &checked, None, None);
    tell(&checked.differences)
}

/// The same pages at a threshold. Gives the number of differences.
fn replay_row(log: &Log, threshold: Threshold) -> usize {
    let options = |filter| Options { threshold, filter, ..log.options.clone() };
    let replay = log.replay(&options(FilterKind::Exact), BATCH);
    let verdicts = replay.verdicts();
    let checked = check(log, &options(FilterKind::Exact), &verdicts);
    let paper = log.replay(&options(FilterKind::Paper), BATCH);
    let missed = missed(&check(log, &options(FilterKind::Paper), &paper.verdicts()).differences);
    print_row(&threshold.to_string(), &verdicts, &checked, Some(&replay), Some((&paper, missed)));
    tell(&checked.differences)
}

/// What brute force says of verdicts.
struct Checked {
    differences: Vec<Difference>,
    /// The time of all threads together.
    took: Duration,
}

fn check(log: &Log, options: &Options, verdicts: &[Verdict]) -> Checked {
    let audit = &Audit::new(options.clone(), &log.pages, verdicts);
    let share = |first: usize| {
        let began = Instant::now();
        let pages = (first..verdicts.len()).step_by(THREADS).map(|page| Sequence(page as u32));
        let differences: Vec<Difference> = pages.filter_map(|page| audit.difference(page)).collect();
        (differences, began.elapsed())
    };
    let shares: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || share(first))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let took = shares.iter().map(|(_, took)| *took).sum();
    let mut differences: Vec<Difference> = shares.into_iter().flat_map(|(differences, _)| differences).collect();
    differences.sort_unstable_by_key(|difference| difference.page);
    Checked { differences, took }
}

/// Near-duplicates that were stored as if there were nothing like them.
fn missed(differences: &[Difference]) -> usize {
    differences.iter().filter(|difference| difference.said.is_unique() && !difference.expected.is_unique()).count()
}

fn tell(differences: &[Difference]) -> usize {
    for Difference { page, said, expected } in differences.iter().take(TOLD) {
        println!("    page {page}: {said:?}, but brute force says {expected:?}");
    }
    differences.len()
}

fn print_head() {
    println!(
        "threshold     |  pages  stored    near   exact | differences | index µs  brute µs  ratio | postings  \
         sketches  verified | paper: missed  of near      µs"
    );
}

fn print_row(
    name: &str,
    verdicts: &[Verdict],
    checked: &Checked,
    replay: Option<&Replay>,
    paper: Option<(&Replay, usize)>,
) {
    let pages = verdicts.len();
    let micros = |took: Duration| took.as_secs_f64() * 1e6 / pages.max(1) as f64;
    let near = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::NearDuplicate { .. })).count();
    let stored = verdicts.iter().filter(|verdict| verdict.is_unique()).count();
    let exact = pages - near - stored;
    let brute = micros(checked.took);
    let dash = || "-".to_owned();
    let index = replay.map_or_else(dash, |replay| format!("{:.1}", micros(replay.took)));
    let ratio = replay.map_or_else(dash, |replay| format!("{:.1}", brute / micros(replay.took)));
    let [postings, sketches, verified] =
        replay.map_or_else(|| [dash(), dash(), dash()], |replay| per_probe(&replay.stats));
    let [missed, of, paper_micros] = paper.map_or_else(
        || [dash(), dash(), dash()],
        |(replay, missed)| {
            [missed.to_string(), (similar(replay) + missed).to_string(), format!("{:.1}", micros(replay.took))]
        },
    );
    println!(
        "{name:<13} | {pages:>6} {stored:>7} {near:>7} {exact:>7} | {:>11} | {index:>8} {brute:>9.1} {ratio:>6} | \
         {postings:>8} {sketches:>9} {verified:>9} | {missed:>13} {of:>8} {paper_micros:>7}",
        checked.differences.len()
    );
}

/// Pages that were found to be near-duplicates by comparison.
fn similar(replay: &Replay) -> usize {
    use ndcrawl::record::DecidedBy::Similarity;
    let is_similar = |verdict: &Verdict| matches!(verdict, Verdict::NearDuplicate { decided_by: Similarity, .. });
    replay.verdicts().iter().filter(|verdict| is_similar(verdict)).count()
}

fn per_probe(stats: &DeciderStats) -> [String; 3] {
    let counters = [stats.counters.postings, stats.counters.sketches, stats.counters.verifications];
    counters.map(|counter| format!("{:.1}", counter as f64 / stats.probes.max(1) as f64))
}
