//! Outcomes, limits, resuming and signals, on a synthetic web.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ndcrawl::demo::{DemoSite, PlantedKind};

use crate::endless::Endless;
use crate::graph::{Graph, Options, Truth, planned_web};
use crate::invariants::{
    Lines, assert_as_expected, assert_duplicates_name_stored_pages, assert_folder_is_sound, assert_planted_copies_meet,
    lines, outcome, text, with_outcome,
};
use crate::program::{Place, UNSPARING};
use crate::web::Web;

const HOST_CONCURRENCY: usize = 8;

/// Slow enough to be interrupted midway.
fn slow() -> Options {
    let delay = (Duration::from_millis(30), Duration::from_millis(60));
    Options { pages: 120, oddities: false, delay, ..Options::default() }
}

fn assert_sound(lines: &Lines, graph: &Graph) {
    assert_duplicates_name_stored_pages(lines);
    assert_planted_copies_meet(lines, graph);
}

#[test]
fn every_url_has_one_line_that_says_what_was_planted() {
    let (web, graph) = planned_web(3, Options { pages: 90, ..Options::default() });
    let place = Place::new();
    place.crawl(&graph.seeds()).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert_as_expected(&lines, &graph.expected(false));
    assert_sound(&lines, &graph);
    assert_redirects_name_the_next_hop(&lines, &graph);
    assert_requests_are_counted(&lines, &web);
    assert_nothing_forbidden_was_asked(&lines, &web);
    assert!(web.peak() <= 3 * HOST_CONCURRENCY, "{}", web.peak());
    assert_folder_is_sound(&place);
}

fn assert_redirects_name_the_next_hop(lines: &Lines, graph: &Graph) {
    for (url, truth) in graph.truths() {
        let Truth::Redirect { to } = truth else { continue };
        if outcome(&lines[url]) == "redirected" {
            assert_eq!(text(&lines[url], "final_url"), to, "{}", lines[url]);
            assert_eq!(lines[url]["status"], 301);
        }
    }
}

/// Checks that `requests` of each line is the server's count, and that only flaky pages have two.
fn assert_requests_are_counted(lines: &Lines, web: &Web) {
    let asked = web.asked();
    for (url, line) in lines {
        let times = asked.get(url).copied().unwrap_or_default();
        assert_eq!(line["requests"].as_u64(), Some(times as u64), "the server was asked {times} times: {line}");
    }
}

fn assert_nothing_forbidden_was_asked(lines: &Lines, web: &Web) {
    for (url, line) in lines {
        if ["robots", "scope", "duplicate-link"].contains(&text(line, "reason")) {
            assert!(!web.asked().contains_key(url), "asked for {url}");
        }
    }
    for origin in web.origins() {
        let first = web.requests().into_iter().find(|request| request.url.starts_with(origin.as_str())).unwrap();
        assert_eq!(first.url, format!("{origin}/robots.txt"));
    }
}

#[test]
fn flaky_pages_are_retried_and_stored() {
    let (web, graph) = planned_web(1, Options::default());
    let place = Place::new();
    place.crawl(&graph.seeds()).finish().expect_code(0);
    let asked = web.asked();
    let lines = lines(&place.path("out"));
    for (url, _) in graph.truths() {
        let times = asked.get(url).copied().unwrap_or_default();
        assert!(times <= if graph.is_flaky(url) { 2 } else { 1 }, "{url} was asked for {times} times");
        if graph.is_flaky(url) {
            assert_eq!(outcome(&lines[url]), "stored", "{}", lines[url]);
        }
    }
}

#[test]
fn links_of_duplicates_are_followed_if_asked() {
    let (web, graph) = planned_web(1, Options::default());
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["--duplicate-links", "follow"]).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert_as_expected(&lines, &graph.expected(true));
    assert_sound(&lines, &graph);
    assert!(web.asked().keys().any(|url| url.contains("/hidden/")));
}

#[test]
fn without_a_detector_only_exact_copies_are_left_out() {
    let (_web, graph) = planned_web(1, Options::default());
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["--detector", "none"]).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert!(with_outcome(&lines, "near-duplicate").is_empty());
    assert!(!with_outcome(&lines, "exact-duplicate").is_empty());
    assert_duplicates_name_stored_pages(&lines);
}

#[test]
fn urls_beyond_the_depth_limit_are_deferred() {
    let (web, graph) = planned_web(1, Options { oddities: false, ..Options::default() });
    let place = Place::new();
    place
        .run(graph.seeds())
        .args(["-o", "out", "-d", "1"])
        .args(&UNSPARING[..UNSPARING.len() - 1])
        .finish()
        .expect_code(0);
    let lines = lines(&place.path("out"));
    let deep: Vec<_> = lines.values().filter(|line| line["depth"].as_u64() > Some(1)).collect();
    assert!(!deep.is_empty());
    for line in deep {
        assert_eq!((outcome(line), text(line, "reason")), ("deferred", "depth"), "{line}");
        assert!(!web.asked().contains_key(text(line, "url")), "{line}");
    }
}

#[test]
fn max_pages_is_never_exceeded() {
    let mut seed = String::new();
    let web = Web::start(1, |origins| {
        let endless = Endless::new(&origins[0], 40);
        seed = endless.seed();
        Arc::new(endless)
    });
    let place = Place::new();
    let finished = place.crawl(&[&seed]).args(["--max-pages", "30", "--json"]).finish().expect_code(0);
    let probes = finished.json()["probes"].as_u64().unwrap() as usize;
    assert_eq!(web.pages_asked() - probes, 30);
    assert!(finished.json()["stopped"].is_string(), "{}", finished.stdout);
    let lines = lines(&place.path("out"));
    assert_eq!(with_outcome(&lines, "stored").len(), 30);
    for url in with_outcome(&lines, "deferred") {
        assert_eq!(text(&lines[url], "reason"), "budget");
    }
}

#[test]
fn running_a_finished_crawl_again_requests_nothing_and_says_so() {
    let (web, graph) = planned_web(1, Options { pages: 20, oddities: false, ..Options::default() });
    let place = Place::new();
    place.crawl(&graph.seeds()).finish().expect_code(0);
    let (before, pages) = (web.pages_asked(), place.pages());
    let again = place.crawl(&graph.seeds()).finish().expect_code(0);
    assert!(again.stderr.contains("hint:"), "{}", again.stderr);
    assert_eq!(web.pages_asked(), before);
    assert_eq!(place.pages(), pages);
}

#[test]
fn a_folder_serves_one_run_at_a_time() {
    let (web, graph) = planned_web(1, slow());
    let place = Place::new();
    let mut first = place.crawl(&graph.seeds()).start();
    assert!(first.wait_until(|| web.pages_asked() > 3));
    let second = place.crawl(&graph.seeds()).finish().expect_code(6);
    assert_eq!(second.errors().len(), 1, "{}", second.stderr);
    place.run(["status", "out", "--json"]).finish().expect_code(0).json();
    first.kill();
}

#[test]
fn a_fresh_crawl_does_not_overwrite_unless_forced() {
    let (web, graph) = planned_web(1, Options { pages: 20, oddities: false, ..Options::default() });
    let place = Place::new();
    place.crawl(&graph.seeds()).finish().expect_code(0);
    let pages = place.pages();
    place.crawl(&graph.seeds()).args(["--fresh"]).finish().expect_code(5);
    assert_eq!(place.pages(), pages);
    let asked = web.pages_asked();
    place.crawl(&graph.seeds()).args(["--fresh", "--force"]).finish().expect_code(0);
    assert_eq!(web.pages_asked(), 2 * asked);
}

#[test]
fn there_is_nothing_to_resume_in_an_empty_folder() {
    Place::new().crawl(&["http://127.0.0.1:9/"]).args(["--resume"]).finish().expect_code(5);
}

#[test]
fn a_limit_may_change_on_resume_and_the_threshold_may_not() {
    let (_web, graph) = planned_web(1, Options::default());
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["--max-pages", "5"]).finish().expect_code(0);
    let changed = place.crawl(&graph.seeds()).args(["--max-pages", "9", "-t", "0.9"]).finish().expect_code(5);
    assert!(changed.stderr.contains("threshold"), "{}", changed.stderr);
    place.crawl(&graph.seeds()).finish().expect_code(0);
    assert_as_expected(&lines(&place.path("out")), &graph.expected(false));
}

#[test]
fn an_interrupted_crawl_ends_soon_and_resumes_where_it_was() {
    let (web, graph) = planned_web(1, slow());
    let place = Place::new();
    let mut running = place.crawl(&graph.seeds()).start();
    assert!(running.wait_until(|| web.pages_asked() > 40));
    running.signal("INT");
    let interrupted = Instant::now();
    running.finish().expect_code(130);
    assert!(interrupted.elapsed() < Duration::from_secs(12), "{:?}", interrupted.elapsed());
    assert_folder_is_sound(&place);
    place.crawl(&graph.seeds()).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    assert_as_expected(&lines, &graph.expected(false));
    assert_sound(&lines, &graph);
    assert_folder_is_sound(&place);
    let repeated: usize = web.asked().values().map(|times| times - 1).sum();
    assert!(repeated <= HOST_CONCURRENCY, "{repeated} requests were made twice");
}

#[test]
fn a_terminated_crawl_says_so() {
    let (web, graph) = planned_web(1, slow());
    let place = Place::new();
    let mut running = place.crawl(&graph.seeds()).start();
    assert!(running.wait_until(|| web.pages_asked() > 10));
    running.signal("TERM");
    running.finish().expect_code(143);
}

#[test]
fn a_second_interrupt_does_not_wait_for_responses() {
    let delay = (Duration::from_secs(8), Duration::from_secs(8));
    let (web, graph) = planned_web(1, Options { pages: 20, delay, ..Options::default() });
    let place = Place::new();
    let mut running = place.crawl(&graph.seeds()).start();
    assert!(running.wait_until(|| web.pages_asked() > 0));
    running.signal("INT");
    std::thread::sleep(Duration::from_millis(300));
    running.signal("INT");
    let interrupted = Instant::now();
    running.finish().expect_code(130);
    assert!(interrupted.elapsed() < Duration::from_secs(4), "{:?}", interrupted.elapsed());
}

#[test]
fn unreachable_seeds_are_reported_one_by_one() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // The system accepts the connections, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let seeds = [format!("http://{closed}/"), format!("http://{}/", silent.local_addr().unwrap())];
    let place = Place::new();
    let finished = place.crawl(&seeds).args(["--timeout", "2s", "--retries", "0"]).finish().expect_code(1);
    assert!(finished.elapsed < Duration::from_secs(20), "{:?}", finished.elapsed);
    for seed in &seeds {
        let origin = seed.trim_end_matches('/');
        assert!(finished.stderr.lines().any(|line| line.contains(origin)), "{seed}: {}", finished.stderr);
    }
    let lines = lines(&place.path("out"));
    assert!(seeds.iter().all(|seed| lines.contains_key(seed)), "{lines:?}");
}

#[test]
fn private_addresses_are_not_contacted_unless_allowed() {
    let (web, graph) = planned_web(1, Options { pages: 20, ..Options::default() });
    let place = Place::new();
    place.run(graph.seeds()).args(["-o", "out", "--delay", "0"]).finish().expect_code(1);
    assert!(web.requests().is_empty());
}

/// Accepts connections and never answers; counts the open ones and their peak.
fn listen_silently(address: &str, open: Arc<AtomicUsize>, most: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind(address).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let open = open.clone();
            std::thread::spawn(move || {
                let _ = connection.read_to_end(&mut Vec::new());
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    url
}

#[test]
fn unresponsive_seeds_are_tried_together_at_any_concurrency() {
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seeds: Vec<String> =
        (1..=12).map(|host| listen_silently(&format!("127.0.3.{host}:0"), open.clone(), most.clone())).collect();
    let place = Place::new();
    let flags = ["-o", "out", "--allow-private", "-c", "2", "--timeout", "5s"];
    place.run(&seeds).args(flags).finish().expect_code(1);
    assert_eq!(most.load(Ordering::SeqCst), 12);
}

#[test]
fn the_demo_needs_no_network_and_keeps_each_page_once() {
    let place = Place::new();
    place.run(["demo"]).finish().expect_code(0);
    let out = ["demo-out", "ndcrawl-out"].map(|name| place.path(name)).into_iter().find(|out| out.exists());
    let lines = lines(&out.expect("no output folder"));
    assert_duplicates_name_stored_pages(&lines);
    assert_demo_is_told_apart(&by_path(&lines));
}

fn by_path(lines: &Lines) -> BTreeMap<&str, &str> {
    lines.iter().map(|(url, line)| (crate::graph::path(url), outcome(line))).collect()
}

fn assert_demo_is_told_apart(outcomes: &BTreeMap<&str, &str>) {
    for page in DemoSite::new(0).pages() {
        let outcome = outcomes.get(page.path.as_str()).copied();
        let expected: &[Option<&str>] = match page.kind {
            PlantedKind::Unique if page.behind_duplicates => &[Some("stored"), Some("deferred")],
            PlantedKind::Unique => &[Some("stored")],
            PlantedKind::NearDuplicate { .. } => &[Some("near-duplicate")],
            PlantedKind::ExactDuplicate { .. } => &[Some("exact-duplicate")],
            PlantedKind::Redirect { .. } => &[Some("redirected")],
            PlantedKind::Missing => &[Some("failed")],
            PlantedKind::Forbidden | PlantedKind::NoIndex => &[Some("excluded")],
        };
        assert!(expected.contains(&outcome), "{page:?}: {outcome:?}");
    }
}
