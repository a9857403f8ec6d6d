//! Decisions of crawls, compared with brute force and with replays of their logs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ndcrawl::detect::{Audit, AuditDifference, BruteForce, Mode, Options, SecondCheck};
use ndcrawl::model::{DecidedBy, Judged, Sequence, TermRow, Threshold, Verdict};

use crate::graph::{Graph, Options as Plan};
use crate::invariants::{lines, with_outcome};
use crate::judged::Log;
use crate::program::Place;
use crate::web::Web;

/// In millionths.
const THRESHOLDS: [u32; 4] = [500_000, 700_000, 800_000, 900_000];

/// The crawl's decisions, and those of replays at each threshold, are what brute force decides. Of a
/// crawl with a second condition, those of replays without it.
#[track_caller]
pub fn assert_exact(out: &Path) {
    let mut log = Log::read(out).unwrap();
    let verdicts = log.verdicts();
    if std::mem::replace(&mut log.options.second, SecondCheck::None) == SecondCheck::None {
        assert_eq!(differences(&log, &log.options, &verdicts), []);
    }
    for millionths in THRESHOLDS.into_iter().chain(borderlines(&verdicts)) {
        let threshold = Threshold::from_millionths(millionths).unwrap();
        let replay = |mode| {
            let options = Options { threshold, mode, ..log.options.clone() };
            let replayed = log.replay(&options, log.pages.len()).verdicts();
            assert_eq!(differences(&log, &options, &replayed), [], "t = {threshold}, {mode:?}");
            replayed
        };
        let (any, best) = (replay(Mode::Any), replay(Mode::Best));
        let options = Options { threshold, mode: Mode::Best, ..log.options.clone() };
        assert_eq!(brute_force(&log, &options), best, "t = {threshold}");
        let stored = |verdicts: &[Verdict]| verdicts.iter().map(|verdict| verdict.is_unique()).collect::<Vec<_>>();
        assert_eq!(stored(&any), stored(&best), "t = {threshold}");
    }
}

/// Thresholds that the score of a near-duplicate just reaches, and just misses: for the lowest, the
/// middle and the highest score.
#[track_caller]
fn borderlines(verdicts: &[Verdict]) -> Vec<u32> {
    let score = |verdict: &Verdict| match verdict {
        Verdict::NearDuplicate { score, decided_by: DecidedBy::Similarity, .. } => Some(score.0),
        _ => None,
    };
    let scores: BTreeSet<u32> = verdicts.iter().filter_map(score).filter(|&score| score < Threshold::ONE).collect();
    let scores: Vec<u32> = scores.into_iter().collect();
    assert!(!scores.is_empty(), "a crawl without near-duplicates shows nothing");
    [0, scores.len() / 2, scores.len() - 1].into_iter().flat_map(|place| [scores[place], scores[place] + 1]).collect()
}

/// Where these verdicts differ from brute force.
fn differences(log: &Log, options: &Options, verdicts: &[Verdict]) -> Vec<AuditDifference> {
    Audit::new(options.clone(), log.pages.iter().map(|page| page.judged()).collect(), verdicts).differences()
}

/// The verdicts of brute force on the whole stream.
fn brute_force(log: &Log, options: &Options) -> Vec<Verdict> {
    let mut oracle = BruteForce::new(options.clone());
    log.pages.iter().map(|page| oracle.decide(log.candidate(page))).collect()
}

/// Pages with random delays of up to 40 ms, so that they arrive out of order.
fn unsteady_web(hosts: usize) -> (Web, Arc<Graph>) {
    let mut graph = None;
    let web = Web::start(hosts, |origins| {
        let delay = (Duration::ZERO, Duration::from_millis(40));
        let planned = Arc::new(Graph::new(origins, Plan { pages: 90, delay, ..Plan::default() }));
        graph = Some(Arc::clone(&planned));
        planned
    });
    (web, graph.unwrap())
}

/// Runs a crawl with so many workers.
fn crawled(graph: &Graph, workers: &str) -> Place {
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["-c", workers]).finish().expect_code(0);
    place
}

/// A decider to which the pages come in the order of the log decides as the crawl did, and numbers
/// pages and terms as the crawl did.
#[track_caller]
fn assert_replays_alike(log: &Log, batch: usize) {
    let judged = log.replay(&log.options, batch).judged;
    assert_eq!(judged.len(), log.pages.len());
    for (number, (page, Judged { sequence, verdict, terms, redelivered, .. })) in
        (0..).zip(log.pages.iter().zip(&judged))
    {
        assert_eq!((*sequence, *verdict), (Sequence(number), page.verdict), "in batches of {batch}");
        assert_eq!((terms, *redelivered), (&page.terms, false), "in batches of {batch}");
    }
    let new_terms: Vec<&TermRow> = judged.iter().flat_map(|judged| &judged.new_terms).collect();
    assert!(new_terms.into_iter().eq(&log.terms), "in batches of {batch}");
}

#[test]
fn every_decision_on_a_synthetic_web_is_that_of_brute_force() {
    let (_web, graph) = unsteady_web(3);
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["--duplicate-links", "follow"]).finish().expect_code(0);
    assert_exact(&place.path("out"));
}

#[test]
fn every_decision_on_the_demo_is_that_of_brute_force() {
    let place = Place::new();
    place.run(["demo", "-o", "out"]).finish().expect_code(0);
    assert_exact(&place.path("out"));
}

#[test]
fn every_decision_of_a_crawl_at_another_threshold_is_that_of_brute_force() {
    let (_web, graph) = unsteady_web(1);
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["-t", "0.93"]).finish().expect_code(0);
    let log = Log::read(&place.path("out")).unwrap();
    assert_eq!(log.options.threshold, "0.93".parse().unwrap());
    assert_exact(&place.path("out"));
}

#[test]
fn every_decision_of_a_crawl_with_other_field_weights_is_that_of_brute_force() {
    let (_web, graph) = unsteady_web(1);
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["--field-weights", "url=0,heading=6,body=0.25"]).finish().expect_code(0);
    let log = Log::read(&place.path("out")).unwrap();
    assert_eq!(log.options.weights.0, [0, 600, 200, 100, 50, 300, 300, 25]);
    assert_exact(&place.path("out"));
}

#[test]
fn the_same_order_of_arrival_gives_the_same_verdicts_whatever_the_batches() {
    let (_web, graph) = unsteady_web(2);
    let log = Log::read(&crawled(&graph, "8").path("out")).unwrap();
    for batch in [1, 7, 32] {
        assert_replays_alike(&log, batch);
    }
}

#[test]
fn one_worker_and_eight_store_the_same_pages_where_order_does_not_matter() {
    let (_web, graph) = unsteady_web(2);
    let [one, eight] = ["1", "8"].map(|workers| crawled(&graph, workers));
    let [stored_by_one, stored_by_eight]: [BTreeSet<String>; 2] = [&one, &eight].map(|place| {
        let lines = lines(&place.path("out"));
        with_outcome(&lines, "stored").into_iter().map(str::to_owned).collect()
    });
    assert_eq!(stored_by_one, stored_by_eight);
    let [log_of_one, log_of_eight] = [&one, &eight].map(|place| Log::read(&place.path("out")).unwrap());
    let texts = |log: &Log| log.pages.iter().map(|page| page.body_digest).collect::<Vec<_>>();
    assert_ne!(texts(&log_of_one), texts(&log_of_eight), "they arrived in the same order, which shows nothing");
    for log in [log_of_one, log_of_eight] {
        assert_replays_alike(&log, 32);
    }
}
