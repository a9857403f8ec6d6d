//! What is left after SIGKILL, at any moment, again and again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::graph::{Graph, Options, path};
use crate::invariants::{
    Lines, assert_as_expected, assert_duplicates_name_stored_pages, assert_folder_is_sound, assert_planted_copies_meet,
    lines, with_outcome,
};
use crate::program::{Place, Run};
use crate::web::Web;
use crate::words::Random;

const KILLS: usize = 25;
const CONCURRENCY: usize = 16;
const BATCH: usize = 256;
/// Kills come at a random moment between these after the start.
const MOMENTS: (u64, u64) = (60, 1000);

/// Slow pages make the crawl last longer than all moments together.
fn options(slowest: u64) -> Options {
    let delay = (Duration::from_millis(slowest / 2), Duration::from_millis(slowest));
    Options { seed: 25, pages: 500, oddities: false, delay, ..Options::default() }
}

fn planned_web(slowest: u64) -> (Web, Arc<Graph>) {
    let mut graph = None;
    let web = Web::start(1, |origins| {
        let planned = Arc::new(Graph::new(origins, options(slowest)));
        graph = Some(Arc::clone(&planned));
        planned
    });
    (web, graph.unwrap())
}

fn crawl(place: &Place, graph: &Graph) -> Run {
    place.crawl(&graph.seeds()).args(["-c", &CONCURRENCY.to_string()])
}

/// Runs the crawl to its end and tells how often it was killed on the way.
fn crawl_under_fire(place: &Place, graph: &Graph) -> usize {
    let mut moments = Random::new(9, "moments of death");
    for kills in 0..KILLS {
        let mut running = crawl(place, graph).start();
        let moment = MOMENTS.0 + moments.next() % (MOMENTS.1 - MOMENTS.0);
        std::thread::sleep(Duration::from_millis(moment));
        if running.has_ended() {
            running.finish().expect_code(0);
            return kills;
        }
        running.kill();
    }
    crawl(place, graph).finish().expect_code(0);
    KILLS
}

fn stored_paths(lines: &Lines) -> BTreeSet<&str> {
    with_outcome(lines, "stored").into_iter().map(path).collect()
}

fn assert_little_was_fetched_twice(web: &Web, kills: usize) {
    let asked = web.asked();
    for (url, &times) in &asked {
        assert!(times <= 1 + kills, "{url} was fetched {times} times with {kills} kills");
    }
    let again: usize = asked.values().map(|times| times - 1).sum();
    assert!(again <= kills * (CONCURRENCY + BATCH), "{again} pages were fetched again with {kills} kills");
    println!("{kills} kills, {} pages, {again} fetched again", asked.len());
}

#[test]
fn a_crawl_that_is_killed_again_and_again_loses_nothing_and_stores_nothing_twice() {
    let (web, graph) = planned_web(120);
    let place = Place::new();
    let kills = crawl_under_fire(&place, &graph);
    assert!(kills > KILLS / 2, "the crawl ended after {kills} kills: it is too short to be a test");

    let lines = lines(&place.path("out"));
    assert_as_expected(&lines, &graph.expected(false));
    assert_duplicates_name_stored_pages(&lines);
    assert_planted_copies_meet(&lines, &graph);
    assert_little_was_fetched_twice(&web, kills);
    assert_folder_is_sound(&place);

    let (_calm_web, calm_graph) = planned_web(0);
    let calm_place = Place::new();
    crawl(&calm_place, &calm_graph).finish().expect_code(0);
    assert_eq!(stored_paths(&lines), stored_paths(&self::lines(&calm_place.path("out"))));
}
