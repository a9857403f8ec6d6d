//! The report on a crawl: its figures are right, and hostile pages do it no harm.

use std::fs;
use std::sync::Arc;

use ndcrawl::crawl::DuplicateLinks;
use ndcrawl::detect::{BruteForce, Mode, Options};
use ndcrawl::model::Verdict;
use ndcrawl::report::{VerdictCounts, list_judged, measure_skip_cost, replay_verdicts, threshold_curve};
use ndcrawl::store::StoreReader;
use scraper::{Html, Selector};
use serde_json::Value;

use crate::graph::{Graph, Options as Plan};
use crate::judged::Log;
use crate::needs::{Axe, data, has_all, run};
use crate::program::Place;
use crate::web::{Answer, Content, Web};

fn graph(hosts: usize) -> (Web, Arc<Graph>) {
    let mut graph = None;
    let web = Web::start(hosts, |origins| {
        let planned = Arc::new(Graph::new(origins, Plan { pages: 70, ..Plan::default() }));
        graph = Some(Arc::clone(&planned));
        planned
    });
    (web, graph.unwrap())
}

fn stored(verdicts: &[Verdict]) -> Vec<bool> {
    verdicts.iter().map(Verdict::is_unique).collect()
}

#[test]
fn the_threshold_curve_equals_brute_force() {
    let (_web, graph) = graph(2);
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["--duplicate-links", "follow"]).finish().expect_code(0);
    let log = Log::read(&place.path("out")).unwrap();
    let (reader, _) = StoreReader::open(&place.path("out"), 1 << 20).unwrap();
    let first = list_judged(&reader).unwrap();
    let curve = threshold_curve(&reader, &log.options, u32::MAX).unwrap();
    assert_eq!((curve.pages as usize, curve.of as usize), (log.pages.len(), log.pages.len()));
    assert!(curve.points.len() >= 8);
    for point in &curve.points {
        let options = Options { threshold: point.threshold, mode: Mode::Best, ..log.options.clone() };
        let mut oracle = BruteForce::new(options.clone());
        let expected: Vec<Verdict> = log.pages.iter().map(|page| oracle.decide(log.candidate(page))).collect();
        assert_eq!(point.counts, VerdictCounts::of(expected.iter().copied()), "t = {}", point.threshold);
        let anew = replay_verdicts(&reader, &log.terms, &options, &first).unwrap();
        assert_eq!(anew, expected, "t = {}", point.threshold);
        if point.threshold == log.options.threshold {
            assert_eq!(stored(&anew), stored(&log.verdicts()), "the crawl's own decisions");
        }
    }
    let rates: Vec<f64> = curve.points.iter().filter_map(|point| point.counts.rate()).collect();
    assert!(rates.first() > rates.last(), "{rates:?}");
}

#[test]
fn a_partial_curve_equals_that_of_a_crawl_that_ended_there() {
    let (_web, graph) = graph(1);
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["--duplicate-links", "follow"]).finish().expect_code(0);
    let log = Log::read(&place.path("out")).unwrap();
    let (reader, _) = StoreReader::open(&place.path("out"), 1 << 20).unwrap();
    let part = threshold_curve(&reader, &log.options, 40).unwrap();
    assert_eq!((part.pages, part.of as usize), (40, log.pages.len()));
    let own = part.points.iter().find(|point| point.threshold == log.options.threshold).unwrap();
    assert_eq!(own.counts, VerdictCounts::of(log.verdicts()[..40].iter().copied()));
    assert_eq!(threshold_curve(&reader, &log.options, 0).unwrap().points, []);
}

#[test]
fn the_curve_with_the_second_check_meets_the_crawl_at_its_threshold() {
    let place = Place::new();
    place.run(["demo", "-o", "out", "-q"]).finish().expect_code(0);
    let log = Log::read(&place.path("out")).unwrap();
    assert!(log.options.second.is_some());
    let (reader, _) = StoreReader::open(&place.path("out"), 1 << 20).unwrap();
    let curve = threshold_curve(&reader, &log.options, u32::MAX).unwrap();
    let own = curve.points.iter().find(|point| point.threshold == log.options.threshold).unwrap();
    let lines = crate::program::pages(&place.path("out"));
    let count = |name: &str| lines.iter().filter(|line| line["outcome"] == name).count() as u64;
    let expected =
        VerdictCounts { stored: count("stored"), near: count("near-duplicate"), exact: count("exact-duplicate") };
    assert_eq!(own.counts, expected);
}

#[test]
fn following_links_of_duplicates_gains_what_skipping_them_loses() {
    let (_web, graph) = graph(2);
    let crawl = |links: &str| {
        let place = Place::new();
        place.crawl(&graph.seeds()).args(["--duplicate-links", links]).finish().expect_code(0);
        place
    };
    let (followed, skipped) = (crawl("follow"), crawl("skip"));
    let (reader, _) = StoreReader::open(&followed.path("out"), 1 << 20).unwrap();
    let cost = measure_skip_cost(&reader, DuplicateLinks::Follow).unwrap();
    let asked = |place: &Place| place.pages().iter().filter(|line| line["requests"] != 0).count() as u64;
    let unique = |place: &Place| place.pages().iter().filter(|line| line["outcome"] == "stored").count() as u64;
    assert!(cost.requests > 0, "{cost:?}");
    assert_eq!(cost.requests, asked(&followed) - asked(&skipped));
    assert_eq!(cost.unique, unique(&followed) - unique(&skipped));
}

#[test]
fn a_crawl_ends_with_its_report_and_the_command_writes_the_same() {
    let (_web, graph) = graph(1);
    let place = Place::new();
    let told = place.crawl(&graph.seeds()).finish().expect_code(0);
    assert!(told.stdout.ends_with("Results: out\nReport:  out/report.html\n"), "{}", told.stdout);
    let at_end = fs::read_to_string(place.path("out/report.html")).unwrap();
    let wrote = place.run(["report", "out", "-o", "again.html"]).finish().expect_code(0);
    assert!(wrote.stdout.is_empty() && wrote.stderr.starts_with("wrote again.html ("), "{}", wrote.stderr);
    assert_eq!(fs::read_to_string(place.path("again.html")).unwrap(), at_end);
    for part in ["Duplicates", "Wilson", "Links of duplicates were not followed"] {
        assert!(at_end.contains(part), "{part}");
    }
    place.run(["verify", "out"]).finish().expect_code(0);

    let without = Place::new();
    let told = without.crawl(&graph.seeds()).args(["--format", "none", "--json"]).finish().expect_code(0);
    assert_eq!(told.json()["report"], Value::Null);
    assert!(!without.path("out/report.html").exists());
    place.run(["report", "nowhere"]).finish().expect_code(2);
}

/// Pages with titles, texts and URLs that are harmful as markup; each has a copy.
struct Hostile(Vec<String>);

impl Content for Hostile {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        if path.is_empty() {
            let link = |number: usize, copy: &str| {
                let text = &self.0[number];
                format!("<a href=\"/{number}{copy}/{}\">{number}</a>\n", escaped(text))
            };
            let links = (0..self.0.len()).flat_map(|number| [link(number, ""), link(number, "c")]);
            return Answer::html(format!("<title>Contents</title>{}", links.collect::<String>()));
        }
        let number = path.split('/').next().unwrap_or_default();
        let (number, own) = number.strip_suffix('c').map_or((number, "original"), |number| (number, "copied"));
        let Ok(number) = number.parse::<usize>() else { return Answer::error(404) };
        let text = escaped(&self.0[number]);
        let words: String = (0..80).map(|word| format!(" word{number}x{word}")).collect();
        Answer::html(format!("<!doctype html><meta charset=utf-8><title>{text}</title><p>{words}<p>{text} {own}"))
    }
}

/// The strings of the conformance table.
fn hostile_strings() -> Vec<String> {
    let path = data("conformance/report_strings.json");
    let table: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    table["cases"].as_array().unwrap().iter().map(|case| case["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn hostile_titles_texts_and_urls_are_shown_escaped() {
    let strings = hostile_strings();
    for few in strings.chunks(4) {
        let web = Web::start(1, |_| Arc::new(Hostile(few.to_vec())));
        let place = Place::new();
        place.crawl(&[format!("{}/", web.origins()[0])]).args(["--keep-duplicates"]).finish().expect_code(0);
        let html = fs::read_to_string(place.path("out/report.html")).unwrap();
        let page = Html::parse_document(&html);
        for name in ["script", "img", "iframe", "link", "object", "form", "[src]", "[onerror]", "a:not([href^='#'])"] {
            assert_eq!(page.select(&Selector::parse(name).unwrap()).count(), 0, "{name} in {html}");
        }
        assert_eq!(page.select(&Selector::parse("article").unwrap()).count(), few.len(), "{html}");
        assert!(page.select(&Selector::parse("table.diff ins").unwrap()).next().is_some(), "texts stand side by side");
        assert!(!html.chars().any(|c| c.is_control() && c != '\n'), "control characters can be seen");
        for line in place.pages() {
            let url = line["url"].as_str().unwrap();
            let told = place.run(["explain", "out", url]).finish().expect_code(0).stdout;
            assert!(!told.chars().any(|c| c.is_control() && c != '\n') && !told.contains('\u{2028}'), "{told:?}");
        }
    }
}

/// Checks the rules of accessibility in a browser. `AXE_FOLDER` names a folder with the npm packages `axe-core` and
/// `puppeteer-core`.
#[test]
#[cfg_attr(not(can_use_axe), ignore = "needs node, chromium and AXE_FOLDER")]
fn a_report_is_accessible_light_and_dark_wide_and_narrow() {
    if !has_all(&[Axe]) {
        return;
    }
    let place = Place::new();
    place.run(["demo", "-o", "out", "-q"]).finish().expect_code(0);
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/axe.mjs");
    let mut node = std::process::Command::new("node");
    let found =
        run(node.arg(script).arg(place.path("out/report.html")).current_dir(std::env::var_os("AXE_FOLDER").unwrap()));
    assert_eq!(found, "", "violations");
}

#[test]
fn the_report_describes_the_link_policy() {
    for (links, words) in [
        (DuplicateLinks::Follow.to_string(), "Links of duplicates were followed."),
        ("sample:0.5".to_owned(), "were followed, a random sample"),
    ] {
        let (_web, graph) = graph(1);
        let place = Place::new();
        place.crawl(&graph.seeds()).args(["--duplicate-links", &links]).finish().expect_code(0);
        let html = fs::read_to_string(place.path("out/report.html")).unwrap();
        assert!(html.contains(words), "{links}: {html}");
    }
}
