//! The report on a crawl: its figures are right, and hostile pages do it no harm.

use std::fs;
use std::sync::Arc;

use ndcrawl::crawl::DuplicateLinks;
use ndcrawl::detect::{BruteForce, Mode, Options, SecondCheck};
use ndcrawl::model::{Sequence, Verdict};
use ndcrawl::report::{CurveEffort, VerdictCounts, measure_skip_cost, replay_verdicts, threshold_curve};
use ndcrawl::store::StoreReader;
use scraper::{Html, Selector};
use serde_json::Value;

use crate::foreign::run;
use crate::graph::{Graph, Options as Plan};
use crate::judged::Log;
use crate::needs::{Axe, data, has_all};
use crate::program::Place;
use crate::web::{Answer, Content, Web};
use crate::words::words_of;

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
    // Each page once.
    let rows = reader.all_pages().unwrap().map(Result::unwrap);
    let first: Vec<Sequence> = rows.filter(|(_, row)| row.renews.is_none()).map(|(number, _)| number).collect();
    let curve = threshold_curve(&reader, &log.options, CurveEffort::Sample(u32::MAX)).unwrap();
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
fn a_sample_of_the_whole_crawl_has_its_verdicts_at_its_threshold() {
    let (_web, graph) = graph(1);
    let place = Place::new();
    place.crawl(&graph.seeds()).args(["--duplicate-links", "follow"]).finish().expect_code(0);
    let log = Log::read(&place.path("out")).unwrap();
    let (reader, _) = StoreReader::open(&place.path("out"), 1 << 20).unwrap();
    let part = threshold_curve(&reader, &log.options, CurveEffort::Sample(40)).unwrap();
    assert_eq!((part.pages, part.of as usize), (40, log.pages.len()));
    let own = part.points.iter().find(|point| point.threshold == log.options.threshold).unwrap();
    let whole = VerdictCounts::of(log.verdicts()).rate().unwrap();
    // Three standard errors.
    assert!(
        (own.counts.rate().unwrap() - whole).abs() < 3.0 * (whole * (1.0 - whole) / 40.0).sqrt(),
        "{own:?}, {whole}"
    );
    let all = threshold_curve(&reader, &log.options, CurveEffort::Sample(u32::MAX)).unwrap();
    for (part, all) in part.points.iter().zip(&all.points) {
        assert!(part.counts.rate() < all.counts.rate().map(|rate| rate + 0.25), "{part:?}, {all:?}");
    }
    assert_eq!(threshold_curve(&reader, &log.options, CurveEffort::Sample(0)).unwrap().points, []);
}

#[test]
fn the_curve_with_the_second_check_meets_the_crawl_at_its_threshold() {
    let place = Place::new();
    place.run(["demo", "-o", "out", "-q"]).finish().expect_code(0);
    let log = Log::read(&place.path("out")).unwrap();
    assert!(log.options.second == SecondCheck::OwnWords);
    let (reader, _) = StoreReader::open(&place.path("out"), 1 << 20).unwrap();
    let curve = threshold_curve(&reader, &log.options, CurveEffort::Sample(u32::MAX)).unwrap();
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
    let again = fs::read_to_string(place.path("again.html")).unwrap();
    assert_eq!(again.replace("again_files/", "report_files/"), at_end);
    for part in ["Causes of duplicates", "Links of duplicates were not followed"] {
        assert!(at_end.contains(part), "{part}");
    }
    // Terminal and report tell the same rate and the same savings.
    let (rate, rest) = told.stdout.strip_prefix("At least ").and_then(|said| said.split_once("% of ")).unwrap();
    let pages = rest.split_once(" pages compared").unwrap().0;
    let saved = rest.split_once("skipping saved ").unwrap().1.split_once('\n').unwrap().0;
    for same in [format!("{rate} %) of the {pages} pages"), format!(" saved {saved}.")] {
        assert!(at_end.contains(&same) || at_end.contains(&same.replace(')', "")), "{same}");
    }
    place.run(["verify", "out"]).finish().expect_code(0);
    // What is to change is told in the terminal and, with all pages, in the report.
    let audit: Value =
        serde_json::from_str(&place.run(["audit", "out", "--json"]).finish().expect_code(0).stdout).unwrap();
    let found = audit["findings"].as_array().unwrap();
    let rows = fs::read_to_string(place.path("out/report_files/audit.csv")).unwrap().lines().count() - 1;
    assert_eq!(rows, found.iter().map(|kind| kind["pages"].as_array().unwrap().len()).sum::<usize>());
    let text = place.run(["audit", "out"]).finish().expect_code(0).stdout;
    assert!(text.starts_with(&format!("{pages} pages compared, {} of them", audit["duplicates"])), "{text}");
    assert!(found.iter().all(|kind| text.contains(kind["meaning"].as_str().unwrap())), "{text}");

    let without = Place::new();
    let told = without.crawl(&graph.seeds()).args(["--no-report", "--json"]).finish().expect_code(0);
    assert_eq!(told.json()["report"], Value::Null);
    assert!(!without.path("out/report.html").exists());
    place.run(["report", "nowhere"]).finish().expect_code(2);
}

#[test]
fn the_files_of_a_report_and_other_commands_tell_the_figures_of_the_lines() {
    let place = Place::new();
    place.run(["demo", "-o", "out", "-q"]).finish().expect_code(0);
    let lines = crate::program::pages(&place.path("out"));
    let outcomes = ["stored", "near-duplicate", "exact-duplicate"];
    let expected = outcomes.map(|outcome| lines.iter().filter(|line| line["outcome"] == outcome).count());
    let [kept, near, exact] = expected;
    let rows = |path: &str| crate::site_audit::cells(&fs::read_to_string(place.path(path)).unwrap());
    let sums = |path: &str, columns: &[&str]| -> Vec<usize> {
        let rows = rows(path);
        let place = |column: &&str| rows[0].iter().position(|name| name == column).unwrap();
        columns
            .iter()
            .map(place)
            .map(|at| rows[1..].iter().map(|row| row[at].parse::<usize>().unwrap()).sum())
            .collect()
    };
    assert_eq!(sums("out/report_files/hosts.csv", &["unique", "near", "exact"]), expected);
    assert_eq!(sums("out/report_files/clusters.csv", &["near_duplicates", "exact_copies"]), [near, exact]);
    assert_eq!(sums("out/report_files/causes.csv", &["copies"]), [near + exact]);
    assert_eq!(rows("out/report_files/duplicates.csv").len() - 1, near + exact);
    let thresholds = rows("out/report_files/thresholds.csv");
    assert!(thresholds.iter().any(|row| row[1..4] == expected.map(|count| count.to_string())), "{thresholds:?}");
    place.run(["export", "out", "--format", "csv", "-o", "rates.csv"]).finish().expect_code(0);
    assert_eq!(
        sums("rates.csv", &["pages", "stored", "near_duplicate", "exact_duplicate"]),
        [kept + near + exact, kept, near, exact]
    );
    let audit: Value =
        serde_json::from_str(&place.run(["audit", "out", "--json"]).finish().expect_code(0).stdout).unwrap();
    assert_eq!((&audit["compared"], &audit["duplicates"]), (&(kept + near + exact).into(), &(near + exact).into()));
    assert_eq!(audit["frames"].as_array().unwrap().len(), kept);
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
        for name in ["report.html", "report_files/clusters-1.html"] {
            let html = fs::read_to_string(place.path("out").join(name)).unwrap();
            let page = Html::parse_document(&html);
            let count = |name: &str| page.select(&Selector::parse(name).unwrap()).count();
            for name in ["img", "iframe", "link", "object", "form", "[src]", "[onerror]", "[onmouseover]", "[onclick]"]
            {
                assert_eq!(count(name), 0, "{name} in {html}");
            }
            assert_eq!(count("script"), 1, "{html}");
            for link in page.select(&Selector::parse("a[href]").unwrap()).filter_map(|link| link.attr("href")) {
                let is_known =
                    ["#", "http://", "report_files/", "../report.html"].iter().any(|start| link.starts_with(start));
                assert!(is_known, "{link}");
            }
            let is_of_clusters = name.contains("clusters");
            assert_eq!(count("article"), if is_of_clusters { few.len() } else { 0 }, "{html}");
            assert_eq!(count("table.diff ins") > 0, is_of_clusters, "texts stand side by side");
            assert!(!html.chars().any(|c| c.is_control() && c != '\n'), "control characters can be seen");
        }
        for line in place.pages() {
            let url = line["url"].as_str().unwrap();
            let told = place.run(["explain", "out", url]).finish().expect_code(0).stdout;
            assert!(!told.chars().any(|c| c.is_control() && c != '\n') && !told.contains('\u{2028}'), "{told:?}");
        }
    }
}

/// Runs a script of this repository in a browser, and fails with what it prints.
#[track_caller]
fn assert_silent(script: &str, files: &[std::path::PathBuf]) {
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
    let mut node = std::process::Command::new("node");
    let found = run(node.arg(script).args(files).current_dir(std::env::var_os("AXE_FOLDER").unwrap()));
    assert_eq!(found, "", "violations");
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
    assert_silent("axe.mjs", &["report.html", "report_files/clusters-1.html"].map(|name| place.path("out").join(name)));
}

/// Two crawls of one web with changes of all kinds; returns the page that compares them.
fn compared(place: &Place) -> std::path::PathBuf {
    let web = Web::start(1, |_| Arc::new(Changing));
    let seed = format!("{}/", web.origins()[0]);
    place.crawl(&[&seed]).finish().expect_code(0);
    place.crawl(&[&seed]).args(["--recrawl"]).finish().expect_code(0);
    place.run(["report", "out", "--against", "out/earlier/1"]).finish().expect_code(0);
    place.path("out/comparison.html")
}

/// A site whose pages change, come and go after the first request.
struct Changing;

impl Content for Changing {
    fn answer(&self, url: &str, before: usize) -> Answer {
        let path = &url[url.match_indices('/').nth(2).unwrap().0..];
        let text = |name: &str| words_of(name.bytes().map(u64::from).sum(), "changing", 80).join(" ");
        let page = |name: &str| Answer::html(format!("<title>{name}</title><p>{}", text(name)));
        let links =
            |names: &[&str]| names.iter().map(|name| format!("<a href=/{name}>{name}</a> ")).collect::<String>();
        match (path, before) {
            ("/", 0) => Answer::html(format!("<title>start</title>{}", links(&["same", "changes", "goes", "copies"]))),
            ("/", _) => Answer::html(format!("<title>start</title>{}", links(&["same", "changes", "copies", "comes"]))),
            ("/same" | "/comes" | "/changes" | "/copies", 0) | ("/same", _) => page(path),
            ("/changes", _) => page("/changes into something else"),
            ("/copies", _) => page("/same"),
            ("/goes", 0) => page(path),
            _ => Answer::error(404),
        }
    }
}

#[test]
#[cfg_attr(not(can_use_axe), ignore = "needs node, chromium and AXE_FOLDER")]
fn a_comparison_is_accessible_and_all_pages_can_be_printed() {
    if !has_all(&[Axe]) {
        return;
    }
    let place = Place::new();
    let comparison = compared(&place);
    assert_silent("axe.mjs", std::slice::from_ref(&comparison));
    let report = place.path("out/report.html");
    place.run(["demo", "-o", "demo", "-q"]).finish().expect_code(0);
    let clusters = place.path("demo/report_files/clusters-1.html");
    assert_silent("print.mjs", &[comparison, report, place.path("demo/report.html"), clusters]);
}

#[test]
#[cfg_attr(not(can_use_axe), ignore = "needs node, chromium and AXE_FOLDER")]
fn a_report_is_sorted_filtered_and_followed_in_a_browser() {
    if !has_all(&[Axe]) {
        return;
    }
    let place = Place::new();
    place.run(["demo", "-o", "out", "-q"]).finish().expect_code(0);
    assert_silent("report.mjs", &[place.path("out/report.html")]);
    let web = Web::start(1, |_| Arc::new(Hostile(hostile_strings())));
    place.crawl(&[format!("{}/", web.origins()[0])]).args(["--fresh", "--force"]).finish().expect_code(0);
    assert_silent("report.mjs", &[place.path("out/report.html")]);
}

/// A site with a dead link on two pages, one that is forbidden, and one that leaves the host.
struct Faulty;

impl Content for Faulty {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = &url[url.match_indices('/').nth(2).unwrap().0..];
        let words: String = (0..80).map(|word| format!(" w{}x{word}", path.len())).collect();
        let page = |links: &str| Answer::html(format!("<title>{path}</title><p>{words}</p>{links}"));
        match path {
            "/robots.txt" => Answer::text("User-agent: *\nDisallow: /private/\n"),
            "/" => {
                page("<a href=/dead>1</a> <a href=/b/>2</a> <a href=/private/x>3</a> <a href=http://other.test/>4</a>")
            }
            "/b/" => page("<a href=/dead>1</a> <a href=/broken>2</a>"),
            "/broken" => Answer::error(500),
            _ => Answer::error(404),
        }
    }
}

#[test]
fn failures_name_their_status_and_the_pages_that_link_to_them() {
    let web = Web::start(1, |_| Arc::new(Faulty));
    let origin = &web.origins()[0];
    let place = Place::new();
    place.crawl(&[format!("{origin}/")]).args(["--retries", "0", "--soft-404", "off"]).finish().expect_code(0);
    let part = |name: &str| fs::read_to_string(place.path("out/report_files").join(name)).unwrap();
    let failures = part("failures.csv");
    for from in ["/", "/b/"] {
        assert!(failures.contains(&format!("{origin}/dead,HTTP 404,2,{origin}{from}\r\n")), "{failures}");
    }
    assert!(failures.contains(&format!("{origin}/broken,HTTP 500,1,{origin}/b/\r\n")), "{failures}");
    let left_out = part("left-out.csv");
    for line in [
        format!("excluded,scope,http://other.test/,{origin}/\r\n"),
        format!("excluded,robots,{origin}/private/x,{origin}/\r\n"),
    ] {
        assert!(left_out.contains(&line), "{left_out}");
    }
    let html = fs::read_to_string(place.path("out/report.html")).unwrap();
    for words in ["there is no such page: links to it are dead", "robots.txt disallows it", "2 URLs failed"] {
        assert!(html.contains(words), "{words}");
    }
}

#[test]
fn the_text_of_near_duplicates_is_kept_unless_that_is_switched_off() {
    let strings: Vec<String> = ["one", "two", "three"].map(str::to_owned).to_vec();
    let web = Web::start(1, |_| Arc::new(Hostile(strings.clone())));
    let seed = format!("{}/", web.origins()[0]);
    let place = Place::new();
    let clusters = |flags: &[&str]| {
        place.crawl(&[&seed]).args(["--fresh", "--force"]).args(flags).finish().expect_code(0);
        place.run(["verify", "out"]).finish().expect_code(0);
        fs::read_to_string(place.path("out/report_files/clusters-1.html")).unwrap()
    };
    let kept = clusters(&[]);
    // Either of the two may have come first.
    let has_text = |html: &str| html.contains("<ins>copied</ins>") || html.contains("<ins>original</ins>");
    assert!(has_text(&kept) && !kept.contains("Stemmed terms"), "{kept}");
    // The text is no page: neither an export nor dedup of the archive take it for one.
    place.run(["dedup", "out/warc", "-o", "again"]).finish().expect_code(0);
    let stored = place.pages().iter().filter(|line| line["outcome"] == "stored").count();
    assert_eq!(crate::program::pages(&place.path("again")).len(), stored);
    for flags in [&["--keep-text", "off"][..], &["--no-warc"]] {
        let without = clusters(flags);
        assert!(without.contains("Stemmed terms") && !has_text(&without), "{flags:?}");
    }
}

#[test]
fn two_crawls_are_compared_page_by_page() {
    let (_web, graph) = graph(1);
    let place = Place::new();
    let crawl = |out: &str, threshold: &str| {
        let run = place.run(graph.seeds()).args(crate::program::UNSPARING).args(crate::program::ALL_FETCHED);
        run.args(["-o", out, "--duplicate-links", "follow", "-t", threshold]).finish().expect_code(0);
    };
    crawl("before", "0.5");
    crawl("after", "1");
    let wrote = place.run(["report", "after", "--against", "before"]).finish().expect_code(0);
    assert!(wrote.stderr.starts_with("wrote after/comparison.html ("), "{}", wrote.stderr);
    let html = fs::read_to_string(place.path("after/comparison.html")).unwrap();
    assert!(html.contains("0 new, 0 changed, 0 newly duplicated. 0 gone, 0 not fetched this time."), "{html}");
    let changes = fs::read_to_string(place.path("after/comparison_files/changes.csv")).unwrap();
    let near = |out: &str| {
        let lines = crate::program::pages(&place.path(out));
        lines.iter().filter(|line| line["outcome"] == "near-duplicate").count()
    };
    assert!(near("before") > 0);
    assert_eq!(
        changes.lines().filter(|line| line.starts_with("no longer duplicated,")).count(),
        near("before") - near("after")
    );
    place.run(["report", "after", "--against", "nowhere"]).finish().expect_code(2);
}

#[test]
fn an_older_report_leaves_no_pages_beside_a_new_one() {
    let place = Place::new();
    place.run(["demo", "-o", "out", "-q"]).finish().expect_code(0);
    place.write("out/report_files/clusters-99.html", "old");
    let wrote = place.run(["report", "out", "--diffs", "0"]).finish().expect_code(0);
    assert!(wrote.stderr.contains("report.html (") && wrote.stderr.contains("report_files ("), "{}", wrote.stderr);
    assert!(!place.path("out/report_files/clusters-99.html").exists());
    let clusters = fs::read_to_string(place.path("out/report_files/clusters-1.html")).unwrap();
    assert!(clusters.contains("ndcrawl report --diffs N") && !clusters.contains("table class=\"diff\""));
    place.run(["verify", "out"]).finish().expect_code(0);
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
