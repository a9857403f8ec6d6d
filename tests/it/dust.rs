//! Rules that predict duplicates: the requests they save, and that they lose nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::program::{BY_WEIGHTS, Place, Run, UNSPARING};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const PAGES: u32 = 240;
/// The first page of the guide that the second edition rewrote.
const REWRITTEN: u32 = 180;

/// A site, and a second host that has the same pages. The site also has each page with the number of a session, as a
/// printable version, and under the name of the file; and a guide in two editions, of which the second is the first,
/// but for its last pages.
struct Site {
    origins: Vec<String>,
}

impl Site {
    fn page(&self, path: &str) -> Option<String> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        if path == "/" {
            return Some(html("start", "", &self.start_links()));
        }
        if let Some(folder) = path.strip_prefix("/folder/") {
            let folder = folder.strip_suffix("/index.html").or_else(|| folder.strip_suffix('/'))?;
            return Some(html(&format!("folder {folder}"), "", &[]));
        }
        if let Some(page) = number(path, "/print/page-") {
            return Some(html(&format!("page {page}"), "printable version", &[]));
        }
        if let Some(page) = number(path, "/guide/1/").or_else(|| number(path, "/guide/2/").filter(|at| *at < REWRITTEN))
        {
            return Some(html(&format!("guide {page}"), "", &[]));
        }
        if let Some(page) = number(path, "/guide/2/") {
            return Some(html(&format!("rewritten {page}"), "", &[]));
        }
        let page = number(path, "/page-")?;
        (query.is_empty() || query.starts_with("session=")).then(|| html(&format!("page {page}"), "", &[]))
    }

    fn start_links(&self) -> Vec<String> {
        let pages = 0..PAGES;
        let of = |form: fn(u32) -> String| pages.clone().map(form);
        of(|page| format!("/page-{page}.html"))
            .chain(of(|page| format!("/folder/{page}/")))
            .chain(of(|page| format!("/guide/1/{page}.html")))
            .chain(of(|page| format!("/guide/2/{page}.html")))
            .chain(of(|page| format!("/page-{page}.html?session={}", 7919 * page)))
            .chain(of(|page| format!("/print/page-{page}.html")))
            .chain(of(|page| format!("/folder/{page}/index.html")))
            .collect()
    }
}

fn number(path: &str, before: &str) -> Option<u32> {
    path.strip_prefix(before)?.strip_suffix(".html")?.parse().ok().filter(|page| *page < PAGES)
}

impl Content for Site {
    fn answer(&self, url: &str, _before: usize) -> Answer {
        let path = self.origins.iter().find_map(|origin| url.strip_prefix(origin.as_str()));
        path.and_then(|path| self.page(path)).map_or_else(|| Answer::error(404), Answer::html)
    }
}

fn html(purpose: &str, remark: &str, links: &[String]) -> String {
    let words = words_of(1, purpose, 90);
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">to the</a>\n")).collect();
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>{}</title></head><body><p>{}</p><p>{remark}</p>{links}</body></html>",
        words[0],
        sentences(&words)
    )
}

fn web() -> Web {
    Web::start(2, |origins| Arc::new(Site { origins: origins.to_vec() }))
}

/// One request at a time, so that the order of pages is the same in every run.
fn crawl(place: &Place, web: &Web, predicted: &str) -> Run {
    let seeds: Vec<String> = web.origins().iter().map(|origin| format!("{origin}/")).collect();
    let policy = ["--duplicate-links", "follow", "--concurrency", "1", "--predicted", predicted];
    place.run(seeds).args(["-o", "out"]).args(UNSPARING).args(BY_WEIGHTS).args(policy)
}

fn with_outcome<'a>(pages: &'a [Value], outcome: &str) -> BTreeSet<&'a str> {
    pages.iter().filter(|line| line["outcome"] == outcome).map(|line| line["url"].as_str().unwrap()).collect()
}

fn outcomes(pages: &[Value]) -> BTreeMap<&str, &str> {
    pages.iter().map(|line| (line["url"].as_str().unwrap(), line["outcome"].as_str().unwrap())).collect()
}

#[test]
fn rules_predict_duplicates_and_lose_no_unique_page() {
    let web = web();
    let all = Place::new();
    crawl(&all, &web, "fetch").finish().expect_code(0);
    let without = web.pages_asked();
    let place = Place::new();
    let summary = crawl(&place, &web, "skip").args(["--json"]).finish().expect_code(0).json();
    let with = web.pages_asked() - without;

    let (everything, pages) = (all.pages(), place.pages());
    assert!(with_outcome(&everything, "predicted-duplicate").is_empty());
    let stored = with_outcome(&everything, "stored");
    let repeated = everything.len() - stored.len();
    println!("{without} requests, {repeated} of them for duplicates, without rules; {with} with them");
    assert_eq!(outcomes(&pages).len(), outcomes(&everything).len(), "each URL has one line");
    assert!((without - with) * 10 > repeated * 6, "{} of {repeated} saved", without - with);
    // The stored page may be the copy on the other host, but each text is stored once.
    let kept = with_outcome(&pages, "stored");
    assert!(kept.len() * 100 >= stored.len() * 99, "{} of {} unique pages are kept", kept.len(), stored.len());

    let predicted: Vec<&Value> = pages.iter().filter(|line| line["outcome"] == "predicted-duplicate").collect();
    assert_eq!(summary["predicted"], predicted.len());
    for line in &predicted {
        assert!(kept.contains(line["duplicate_of"].as_str().unwrap()), "{line}");
        assert!(
            line["rule"].is_string() && line["validity"].as_f64().unwrap() > 0.5 && line["requests"] == 0,
            "{line}"
        );
    }
    let rules: BTreeSet<&str> = predicted.iter().filter_map(|line| line["rule"].as_str()).collect();
    for part in ["?session=", "/print/", "index.html"] {
        assert!(rules.iter().any(|rule| rule.contains(part)), "{part} is in none of {rules:?}");
    }

    let told: Vec<&Value> = pages.iter().map(|line| &line["prediction"]).filter(|told| told.is_object()).collect();
    assert!(told.iter().all(|told| told["rule"].is_string() && told["share"].as_f64().unwrap() <= 0.25), "{told:?}");
    let (predicting, brought_back) = (&summary["predicting"], told.iter().filter(|told| told["was_left_out"] == true));
    let brought_back = brought_back.count();
    assert_eq!([&predicting["drawn"], &predicting["brought_back"]], [told.len() - brought_back, brought_back]);
    let lost = 1000.0 * stored.len().saturating_sub(kept.len()) as f64 / predicted.len() as f64;
    let [low, high] = [0, 1].map(|end| predicting["interval"][end].as_f64().unwrap());
    assert!(told.len() > brought_back && low <= high && lost <= high, "{lost} {predicting}");

    let url = predicted[0]["url"].as_str().unwrap();
    let told = place.run(["explain", "out", url]).finish().expect_code(0).stdout;
    assert!(told.contains("a rule predicts"), "{told}");
    place.run(["verify", "out"]).finish().expect_code(0);
    let listed = listed(&place);
    let saved: u64 =
        listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["saved"].as_u64().unwrap()).sum();
    assert_eq!(saved, predicted.len() as u64);
}

#[test]
fn a_kill_loses_no_more_pages_than_a_wrong_rule() {
    let web = web();
    let place = Place::new();
    crawl(&place, &web, "skip").finish().expect_code(0);
    let asked = web.pages_asked();
    let killed = Place::new();
    let mut running = crawl(&killed, &web, "skip").start();
    assert!(running.wait_until(|| web.pages_asked() - asked > asked / 2), "it ended too soon to be killed");
    running.kill();
    crawl(&killed, &web, "skip").finish().expect_code(0);
    let (pages, undisturbed) = (killed.pages(), place.pages());
    // Uncommitted pages are fetched in another order, which changes the order of rules.
    let stored = [&pages, &undisturbed].map(|pages| with_outcome(pages, "stored").len());
    assert!(stored.iter().min().unwrap() * 100 >= stored.iter().max().unwrap() * 99, "{stored:?}");
    assert_eq!(outcomes(&pages).len(), outcomes(&undisturbed).len());
    // Samples from before the kill are recorded.
    killed.run(["report", "out"]).finish().expect_code(0);
    let report = std::fs::read_to_string(killed.path("out/report.html")).unwrap();
    assert!(report.contains("fetched a random sample of"), "{report}");
    killed.run(["verify", "out"]).finish().expect_code(0);
}

#[test]
fn rules_can_be_imported_and_switched_off() {
    let web = web();
    let first = Place::new();
    crawl(&first, &web, "fetch").finish().expect_code(0);
    let asked = web.pages_asked();
    let rules = first.path("rules.jsonl");
    first.run(["rules", "out", "-o", rules.to_str().unwrap()]).finish().expect_code(0);

    let second = Place::new();
    crawl(&second, &web, "skip").args(["--rules", rules.to_str().unwrap()]).finish().expect_code(0);
    let with_rules = web.pages_asked() - asked;
    let learning = Place::new();
    crawl(&learning, &web, "skip").finish().expect_code(0);
    let without_rules = web.pages_asked() - asked - with_rules;
    // A few are fetched to learn, or for a rule that is withdrawn later, in varying order.
    assert!(with_rules * 100 < without_rules * 102, "{with_rules} requests with rules, {without_rules} without");
    let stored = [&second, &learning].map(|place| with_outcome(&place.pages(), "stored").len());
    assert!(stored.iter().min().unwrap() * 100 >= stored.iter().max().unwrap() * 99, "{stored:?}");

    let count = std::fs::read_to_string(&rules).unwrap().lines().count();
    let all: Vec<String> = (1..=count).flat_map(|number| ["--off".to_owned(), number.to_string()]).collect();
    let off = first.path("off.jsonl");
    let arguments = ["rules", "out", "-o", off.to_str().unwrap()].map(str::to_owned);
    first.run(arguments.into_iter().chain(all)).finish().expect_code(0);
    let third = Place::new();
    crawl(&third, &web, "skip").args(["--rules", off.to_str().unwrap()]).finish().expect_code(0);
    assert!(rules_that_predicted(&third).is_disjoint(&texts(&std::fs::read_to_string(&off).unwrap())));
    first.run(["rules", "out", "--off", "9999"]).finish().expect_code(2);
}

/// The rules that left pages out; some may be unknown to the earlier crawl.
fn rules_that_predicted(place: &Place) -> BTreeSet<String> {
    place.pages().iter().filter_map(|line| line["rule"].as_str()).map(str::to_owned).collect()
}

/// The rules in lines that list them.
fn texts(listed: &str) -> BTreeSet<String> {
    let rules = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rules.map(|rule| rule["text"].as_str().unwrap().to_owned()).collect()
}

fn listed(place: &Place) -> String {
    place.run(["rules", "out", "--json"]).finish().expect_code(0).stdout
}

/// The rules in the folder, switched off or not.
fn switched_off(place: &Place) -> Vec<bool> {
    let listed = listed(place);
    listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["off"] == true).collect()
}

#[test]
fn switching_a_rule_takes_effect_on_resume_and_is_refused_during_a_crawl() {
    let web = web();
    let place = Place::new();
    crawl(&place, &web, "skip").finish().expect_code(0);
    assert!(!with_outcome(&place.pages(), "predicted-duplicate").is_empty());
    let switch = |to: &str, count: usize| {
        let numbers = (1..=count).flat_map(|number| [to.to_owned(), number.to_string()]);
        place.run(["rules".to_owned(), "out".to_owned()].into_iter().chain(numbers)).finish()
    };
    let rules = switched_off(&place);
    assert!(rules.iter().all(|is_off| !is_off) && !rules.is_empty());
    let told = switch("--off", rules.len()).expect_code(0);
    assert!(told.stderr.contains("when the crawl is resumed"), "{}", told.stderr);
    assert!(switched_off(&place).into_iter().all(|is_off| is_off));
    let off = texts(&listed(&place));

    let asked = web.pages_asked();
    let mut running = crawl(&place, &web, "skip").start();
    assert!(running.wait_until(|| web.pages_asked() > asked + 20), "it ended too soon");
    let refused = switch("--on", 1).expect_code(6);
    assert!(refused.stderr.contains("writes its rules when it ends"), "{}", refused.stderr);
    place.run(["rules", "out"]).finish().expect_code(0);
    running.kill();
    crawl(&place, &web, "skip").finish().expect_code(0);
    let believed = rules_that_predicted(&place);
    assert!(believed.is_disjoint(&off), "what was left out by {believed:?} is fetched");
    let now_off = switched_off(&place);
    assert_eq!(now_off.iter().filter(|is_off| **is_off).count(), rules.len(), "{now_off:?}");

    // Switched on again, the rule is learned as if it had never been off.
    switch("--on", now_off.len()).expect_code(0);
    crawl(&place, &web, "skip").finish().expect_code(0);
    assert!(switched_off(&place).into_iter().all(|is_off| !is_off));
    place.run(["verify", "out"]).finish().expect_code(0);
}

/// Sites with a mirror each.
const MIRRORED: u32 = 8;

/// Sites at 127.0.1.N, each with a mirror at 127.0.2.N. Site 1 names one more of each late, of which the second has the
/// front page of the first, and else pages of its own.
struct Family;

impl Family {
    fn start() -> Web {
        let hosts = (1..=MIRRORED + 1).flat_map(|site| [1, 2].map(|net| format!("127.0.{net}.{site}")));
        Web::start_at(&hosts.collect::<Vec<_>>(), |_| Arc::new(Self))
    }

    fn links(site: u32) -> Vec<String> {
        (1..=if site > MIRRORED { 60 } else { 24 }).map(|page| format!("/{page}")).collect()
    }
}

impl Content for Family {
    fn answer(&self, url: &str, _before: usize) -> Answer {
        let (host, path) = url.strip_prefix("http://127.0.").and_then(|rest| rest.split_once('/')).unwrap();
        let (net, site) = host.split_once('.').unwrap();
        let port = site.split_once(':').unwrap().1;
        let site: u32 = site.split_once(':').unwrap().0.parse().unwrap();
        if path.is_empty() {
            return Answer::html(html(&format!("front page of {site}"), "", &Self::links(site)));
        }
        if !Self::links(site).contains(&format!("/{path}")) {
            return Answer::error(404);
        }
        let edition = if site > MIRRORED { net } else { "1" };
        let late = [1, 2].map(|net| format!("http://127.0.{net}.{}:{port}/", MIRRORED + 1));
        let links = if site == 1 && path == "24" { late.as_slice() } else { &[] };
        Answer::html(html(&format!("page {path} of {site}, edition {edition}"), "", links))
    }
}

fn crawl_family(place: &Place, web: &Web, predicted: &str) -> Run {
    let seeds: Vec<String> = web.origins().iter().map(|origin| format!("{origin}/")).collect();
    let late = web.origins().len() - 2;
    let policy = [
        "--duplicate-links",
        "follow",
        "--concurrency",
        "1",
        "--scope",
        "any",
        "--max-pages",
        "9999",
        "--predicted",
        predicted,
    ];
    place.run(&seeds[..late]).args(["-o", "out"]).args(UNSPARING).args(BY_WEIGHTS).args(policy)
}

/// The stored texts: page, site and edition of each.
fn kept_of_family(pages: &[Value]) -> BTreeSet<String> {
    let late = format!(".{}:", MIRRORED + 1);
    let text = |url: &str| {
        let is_own = url.contains(&late) && !url.ends_with('/');
        if is_own { url.to_owned() } else { url.replacen("127.0.2.", "127.0.1.", 1) }
    };
    with_outcome(pages, "stored").into_iter().map(text).collect()
}

#[test]
fn rules_common_to_mirrors_apply_to_the_next_mirror_and_a_lookalike_loses_nothing() {
    let web = Family::start();
    let all = Place::new();
    crawl_family(&all, &web, "fetch").finish().expect_code(0);
    let without = web.pages_asked();
    let place = Place::new();
    crawl_family(&place, &web, "skip").finish().expect_code(0);
    let with = web.pages_asked() - without;
    let (everything, pages) = (all.pages(), place.pages());
    assert_eq!(kept_of_family(&everything).len(), 1 + 2 * 60 + MIRRORED as usize * 25);
    assert_eq!(kept_of_family(&pages), kept_of_family(&everything));

    // Rules that must prove themselves on each host would save at most 8 of its 24 pages.
    let copies = 24 * MIRRORED as usize;
    println!("{without} requests, {copies} of them for copies, without rules; {with} with them");
    assert!(2 * (without - with) > copies, "{} of {copies} saved", without - with);
    let carried = pages.iter().filter(|line| line["rule_carried"] == true).count();
    assert!(carried > 0 && pages.iter().all(|line| line["rule_carried"] != true || line["rule"].is_string()));
    let late = format!(".{}:", MIRRORED + 1);
    let mut late = pages.iter().filter(|line| line["url"].as_str().unwrap().contains(&late));
    assert!(late.any(|line| line["prediction"].is_object()), "one of the two was taken for a mirror at first");
    place.run(["verify", "out"]).finish().expect_code(0);
}

#[test]
fn rules_common_to_mirrors_survive_a_kill_and_an_import() {
    let web = Family::start();
    let place = Place::new();
    crawl_family(&place, &web, "skip").finish().expect_code(0);
    let asked = web.pages_asked();
    let killed = Place::new();
    let mut running = crawl_family(&killed, &web, "skip").start();
    assert!(running.wait_until(|| web.pages_asked() - asked > asked / 2), "it ended too soon to be killed");
    running.kill();
    crawl_family(&killed, &web, "skip").finish().expect_code(0);
    assert_eq!(kept_of_family(&killed.pages()), kept_of_family(&place.pages()));
    let [again, undisturbed] = [&killed, &place].map(|place| with_outcome(&place.pages(), "predicted-duplicate").len());
    assert!(4 * again > 3 * undisturbed, "{again} pages left out with a kill, {undisturbed} without");

    let rules = place.path("rules.jsonl");
    place.run(["rules", "out", "-o", rules.to_str().unwrap()]).finish().expect_code(0);
    let before = web.pages_asked();
    let next = Place::new();
    crawl_family(&next, &web, "skip").args(["--rules", rules.to_str().unwrap()]).finish().expect_code(0);
    let with_rules = web.pages_asked() - before;
    assert_eq!(kept_of_family(&next.pages()), kept_of_family(&place.pages()));
    assert!(with_rules <= asked + asked / 20, "{with_rules} requests with rules, {asked} without");
}
