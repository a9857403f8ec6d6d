//! Recrawls that leave out what sitemaps call unchanged: what they save, what they miss, and what they tell of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::HeaderMap;
use serde_json::Value;

use crate::invariants::{assert_folder_is_sound, lines, outcome, text};
use crate::program::{Place, Run, finish_under_kills};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// The date of a page that has not changed for long.
const LONG_AGO: &str = "2026-01-05T08:00:00+01:00";
/// Pages in a part of the sitemap.
const IN_PART: usize = 150;

/// How a site dates its pages.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Dates {
    /// By their changes.
    True,
    /// By some of their changes: so many pages of a thousand change and keep their date.
    Lie(u64),
    /// All of today.
    Today,
}

/// A site with a sitemap in parts.
struct Dated {
    origin: String,
    /// Tells sites apart that lie for the same share of their pages.
    site: u32,
    pages: usize,
    dates: Dates,
    delay: Duration,
    /// The state of the site. Each new state changes pages.
    state: AtomicU32,
    /// Texts that pages have taken from others.
    moved: Mutex<BTreeMap<usize, usize>>,
}

impl Dated {
    /// The last state in which a page has changed, and whether it has told so.
    fn last_change(&self, page: usize) -> (u32, bool) {
        let state = self.state.load(Ordering::SeqCst);
        let number = |state: u32| xxhash_rust::xxh3::xxh3_64(format!("{page} {state} {}", self.site).as_bytes()) % 1000;
        let lies = |state: u32| matches!(self.dates, Dates::Lie(share) if number(state) < share);
        let tells = |state: u32| (page + state as usize).is_multiple_of(25);
        (1..=state).rev().find(|&state| tells(state) || lies(state)).map_or((0, true), |state| (state, tells(state)))
    }

    fn date(&self, page: usize) -> String {
        let now = jiff::Timestamp::now();
        let state = self.state.load(Ordering::SeqCst);
        match (self.dates, self.last_change(page)) {
            (Dates::Today, _) => now.strftime("%F").to_string(),
            (_, (change, true)) if change == state && state > 0 => now.strftime("%FT%TZ").to_string(),
            _ => LONG_AGO.to_owned(),
        }
    }

    fn page(&self, page: usize) -> String {
        let revision = self.last_change(page).0;
        let text = self.moved.lock().unwrap().get(&page).copied().unwrap_or(page);
        let said = sentences(&words_of(5, &format!("page {text} {revision}"), 80));
        format!("<!DOCTYPE html><title>{page} of {revision}</title><p>{said}</p><a href='/'>start</a>")
    }

    fn xml(&self, root: &str, entries: impl Iterator<Item = String>) -> Answer {
        let headers = vec![("content-type", "application/xml".to_owned())];
        Answer { headers, ..Answer::html(format!("<{root}>{}</{root}>", entries.collect::<String>())) }
    }

    fn index(&self) -> Answer {
        let parts = 0..self.pages.div_ceil(IN_PART);
        self.xml("sitemapindex", parts.map(|part| format!("<sitemap><loc>{}/map/{part}</loc></sitemap>", self.origin)))
    }

    fn part(&self, part: usize) -> Answer {
        let pages = part * IN_PART..self.pages.min((part + 1) * IN_PART);
        let entry = |page| {
            let (origin, date) = (&self.origin, self.date(page));
            format!("<url><loc>{origin}/p/{page}</loc><lastmod>{date}</lastmod></url>")
        };
        self.xml("urlset", pages.map(entry))
    }
}

impl Content for Dated {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(500)
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let path = url.strip_prefix(&self.origin).unwrap();
        let number = |prefix: &str| path.strip_prefix(prefix).and_then(|rest| rest.parse::<usize>().ok());
        if let Some(page) = number("/p/").filter(|page| *page < self.pages) {
            let body = self.page(page);
            let tag = format!("\"{:x}\"", xxhash_rust::xxh3::xxh3_64(body.as_bytes()));
            let is_known = headers.get("if-none-match").is_some_and(|sent| sent == &tag);
            let answer = if is_known { Answer { status: 304, ..Answer::default() } } else { Answer::html(body) };
            return Answer { headers: [answer.headers, vec![("etag", tag)]].concat(), delay: self.delay, ..answer };
        }
        match (path, number("/map/")) {
            ("/robots.txt", _) => Answer::text(&format!("Sitemap: {}/maps.xml", self.origin)),
            ("/maps.xml", _) => self.index(),
            (_, Some(part)) => self.part(part),
            ("/", _) => Answer::html("<!DOCTYPE html><title>start</title><p>All pages are in the sitemap.</p>"),
            _ => Answer::error(404),
        }
    }
}

fn web(pages: usize, dates: Dates, delay: Duration) -> (Web, Arc<Dated>) {
    numbered(0, pages, dates, delay)
}

fn numbered(site: u32, pages: usize, dates: Dates, delay: Duration) -> (Web, Arc<Dated>) {
    let mut kept = None;
    let web = Web::start(1, |origins| {
        let (origin, state, moved) = (origins[0].clone(), AtomicU32::new(0), Mutex::default());
        kept.insert(Arc::new(Dated { origin, site, pages, dates, delay, state, moved })).clone()
    });
    (web, kept.unwrap())
}

fn crawl(place: &Place, web: &Web) -> Run {
    place.crawl(&[format!("{}/", web.origins()[0])]).args(["-c", "4", "--soft-404", "off"])
}

fn trusting(place: &Place, web: &Web) -> Run {
    crawl(place, web).args(["--recrawl", "--trust-lastmod", "--json"])
}

fn paths(urls: impl Iterator<Item = String>) -> Vec<usize> {
    urls.filter_map(|url| url.rsplit_once("/p/")?.1.parse().ok()).collect()
}

/// The pages that were requested from the `before`th request on.
fn requested(web: &Web, before: usize) -> Vec<usize> {
    paths(web.requests().into_iter().skip(before).map(|request| request.url))
}

/// Pages that were not requested, for this reason.
fn spared(place: &Place, reason: &str) -> BTreeSet<usize> {
    let lines = lines(&place.path("out"));
    let spared = lines.iter().filter(|(_, line)| text(line, "reason") == reason);
    paths(spared.map(|(url, _)| url.clone())).into_iter().collect()
}

/// The pages whose line is about an earlier state of them than that of the site.
fn outdated(place: &Place, site: &Dated) -> BTreeSet<usize> {
    let is_outdated = |line: &Value| {
        let (page, revision) = text(line, "title").split_once(" of ")?;
        let page = page.parse().ok()?;
        (revision.parse() != Ok(site.last_change(page).0)).then_some(page)
    };
    lines(&place.path("out")).values().filter_map(is_outdated).collect()
}

/// What a recrawl tells of itself.
struct Told {
    requests: usize,
    by_lastmod: u64,
    wrong: u64,
    missed: Option<f64>,
    interval: Option<(f64, f64)>,
}

/// Changes the site and crawls it again.
fn changed_and_recrawled(place: &Place, web: &Web, site: &Dated) -> Told {
    site.state.fetch_add(1, Ordering::SeqCst);
    let before = web.requests().len();
    let run = trusting(place, web).finish().expect_code(0);
    let told = &run.json()["recrawl"];
    let asked = requested(web, before);
    assert_eq!(asked.len(), asked.iter().collect::<BTreeSet<_>>().len(), "no page is requested twice");
    let spared = spared(place, "lastmod");
    assert_eq!(told["by_lastmod"], spared.len(), "{told}");
    assert_eq!(told["requested"].as_u64().unwrap() as usize + spared.len(), site.pages + 1, "{told}");
    assert!(asked.iter().all(|page| !spared.contains(page)) && asked.len() + spared.len() == site.pages);
    assert_folder_is_sound(place);
    let bounds = told["interval"].as_array().map(|bounds| (bounds[0].as_f64().unwrap(), bounds[1].as_f64().unwrap()));
    let host = told["hosts"].as_object().unwrap().values().next().unwrap();
    assert!(host["changed_share"].as_f64().unwrap() > 0.0 && host["requested"] == told["requested"], "{told}");
    Told {
        requests: web.requests().len() - before,
        by_lastmod: spared.len() as u64,
        wrong: told["called_wrongly"].as_u64().unwrap(),
        missed: told["missed"].as_f64(),
        interval: bounds,
    }
}

#[test]
fn a_true_sitemap_saves_requests_and_nothing_is_missed() {
    let (web, site) = web(600, Dates::True, Duration::ZERO);
    let place = Place::new();
    crawl(&place, &web).finish().expect_code(0);
    for _ in 0..2 {
        let told = changed_and_recrawled(&place, &web, &site);
        let (low, high) = told.interval.unwrap();
        println!(
            "true dates: 600 pages, {} requests, {} saved, {:?} missed as told ({low} to {high}), 0 in truth",
            told.requests, told.by_lastmod, told.missed
        );
        assert!(outdated(&place, &site).is_empty(), "no change is missed");
        assert!(told.by_lastmod > 400 && told.requests < 200, "{} of 600", told.requests);
        assert_eq!((told.wrong, told.missed, low), (0, Some(0.0), 0.0));
    }
    let spared = *spared(&place, "lastmod").first().unwrap();
    let url = format!("{}/p/{spared}", web.origins()[0]);
    let explained = place.run(["explain", "out", &url]).finish().expect_code(0);
    assert!(explained.stdout.contains("not-modified, not requested again: its sitemap says"), "{}", explained.stdout);
}

#[test]
fn what_a_sitemap_conceals_is_told_with_an_interval_that_holds() {
    let (mut held, mut trials) = (0, 0);
    for share in [100, 20] {
        let mut saved = 0;
        for number in 0..5 {
            let (web, site) = numbered(number, 600, Dates::Lie(share), Duration::ZERO);
            let place = Place::new();
            crawl(&place, &web).finish().expect_code(0);
            let told = changed_and_recrawled(&place, &web, &site);
            let outdated = outdated(&place, &site);
            assert!(outdated.is_subset(&spared(&place, "lastmod")), "what was requested is up to date");
            let truth = outdated.len() as f64;
            println!(
                "dates lie for {share} of 1,000 pages: 600 pages, {} requests, {} saved, {:?} missed as told {:?}, {truth} in truth",
                told.requests, told.by_lastmod, told.missed, told.interval
            );
            saved += told.by_lastmod;
            trials += usize::from(told.by_lastmod > 0);
            held += usize::from(told.interval.is_some_and(|(low, high)| (low..=high).contains(&truth)));
            assert!(share < 100 || told.by_lastmod < 400, "who lies is not trusted for long");
        }
        println!("{saved} of 3,000 requests saved, where dates lie for {share} of 1,000 pages");
        assert!(share == 100 || saved > 300, "{saved} of 3,000: few lies are borne");
    }
    println!("{held} of {trials} intervals hold the truth");
    // Each holds with a chance of about 19 in 20.
    assert!(trials >= 5 && held + 2 >= trials, "{held} of {trials}");
}

#[test]
fn dates_of_today_earn_no_trust_and_cost_nothing() {
    let (web, site) = web(200, Dates::Today, Duration::ZERO);
    let place = Place::new();
    crawl(&place, &web).finish().expect_code(0);
    let told = changed_and_recrawled(&place, &web, &site);
    println!("dates of today: 200 pages, {} requests, {} saved", told.requests, told.by_lastmod);
    assert_eq!((told.by_lastmod, told.missed, told.interval), (0, None, None));
    assert!(outdated(&place, &site).is_empty());
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_page_that_is_not_requested_is_left_as_a_304_would_have_left_it() {
    let (web, site) = web(300, Dates::True, Duration::ZERO);
    let (by_lastmod, by_status) = (Place::new(), Place::new());
    crawl(&by_lastmod, &web).finish().expect_code(0);
    copy(&by_lastmod.path("out"), &by_status.path("out"));
    // Pages that have changed now say what others say, which have not changed and are decided later.
    site.state.fetch_add(1, Ordering::SeqCst);
    let changed = (0..300).filter(|page| site.last_change(*page).0 == 1);
    let texts: BTreeMap<_, _> = changed.map(|page| (page, page + 1)).collect();
    // A text of the state before: that of a page that has not changed.
    assert!(texts.values().all(|page| site.last_change(*page).0 == 0));
    *site.moved.lock().unwrap() = texts;
    let exported = |place: &Place| -> Vec<(Value, Value)> {
        let rows = place.run(["export", "out", "--format", "jsonl", "-o", "-"]).finish().expect_code(0).stdout;
        let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
        rows.map(|row| (row["url"].clone(), row["text"].clone())).collect()
    };
    for (place, flag) in [(&by_lastmod, Some("--trust-lastmod")), (&by_status, None)] {
        let run = crawl(place, &web).args(["-c", "1", "--host-concurrency", "1", "--recrawl"]);
        run.args(flag).finish().expect_code(0);
        assert_folder_is_sound(place);
    }
    let spared = spared(&by_lastmod, "lastmod");
    assert!(spared.len() > 150, "{}", spared.len());
    let (taken, asked) = (lines(&by_lastmod.path("out")), lines(&by_status.path("out")));
    assert_eq!(taken.keys().collect::<Vec<_>>(), asked.keys().collect::<Vec<_>>());
    let without = |line: &Value| {
        let mut line = line.as_object().unwrap().clone();
        // What a request leaves, and the files of the archive that only this generation has.
        for field in ["status", "requests", "fetched_at", "reason", "recheck"] {
            line.remove(field);
        }
        let own = outcome(&Value::from(line.clone())) != "not-modified";
        for field in ["warc_file", "warc_offset"].into_iter().filter(|_| own) {
            line.remove(field);
        }
        line
    };
    for (url, line) in &taken {
        assert_eq!(without(line), without(&asked[url]), "{url}");
    }
    assert_eq!(exported(&by_lastmod), exported(&by_status));
    // A server that was not asked has not answered.
    let of = |page: &usize| &taken[&format!("{}/p/{page}", web.origins()[0])];
    assert!(spared.iter().all(|page| of(page)["requests"] == 0 && of(page)["status"].is_null()));
    by_lastmod.run(["reindex", "out"]).finish().expect_code(0);
    assert_folder_is_sound(&by_lastmod);
}

#[test]
fn a_recrawl_by_lastmod_survives_kills() {
    let (web, site) = web(250, Dates::True, Duration::from_millis(15));
    let place = Place::new();
    crawl(&place, &web).finish().expect_code(0);
    site.state.fetch_add(1, Ordering::SeqCst);
    let again = || match place.path("out/store").exists() && place.path("out/earlier").exists() {
        true => crawl(&place, &web).args(["--trust-lastmod"]),
        false => trusting(&place, &web),
    };
    finish_under_kills(again, &[120, 400, 700, 900, 1200]);
    assert_folder_is_sound(&place);
    let found = lines(&place.path("out"));
    let pages = place.pages();
    assert_eq!(pages.len(), found.len(), "no URL has two lines");
    assert_eq!(found.values().filter(|line| line["title"].is_string()).count(), site.pages + 1);
    assert!(outdated(&place, &site).is_empty());
    let kept = found.values().filter(|line| ["stored", "not-modified"].contains(&outcome(line))).count();
    let exported = place.run(["export", "out", "--format", "jsonl", "-o", "-"]).finish().expect_code(0).stdout;
    assert_eq!(exported.lines().count(), kept);
    assert!(!spared(&place, "lastmod").is_empty(), "what sitemaps say and what hosts have proved outlives a kill");
    assert_eq!(std::fs::read_dir(place.path("out/earlier")).unwrap().count(), 1);
}

#[test]
fn what_was_requested_a_short_time_ago_is_not_requested_again() {
    let (web, site) = web(30, Dates::Today, Duration::ZERO);
    let place = Place::new();
    let refused = crawl(&place, &web).args(["--recrawl-after", "1d"]).finish().expect_code(2);
    assert!(
        refused.stderr.contains("--recrawl-after") && refused.stderr.contains("add --recrawl"),
        "{}",
        refused.stderr
    );
    assert!(!place.path("out").exists());
    crawl(&place, &web).finish().expect_code(0);
    let first = lines(&place.path("out"));
    site.state.fetch_add(1, Ordering::SeqCst);
    let recent = |age: &str| crawl(&place, &web).args(["--recrawl", "--json", "--recrawl-after", age]);
    // The second time, too: it counts when the page was requested, not when it was taken.
    for _ in 0..2 {
        let before = web.requests().len();
        let run = recent("1d").finish().expect_code(0);
        assert_eq!(requested(&web, before), [0; 0]);
        assert_eq!((&run.json()["recrawl"]["recent"], &run.json()["not_modified"]), (&31.into(), &31.into()));
        let now = lines(&place.path("out"));
        for (url, line) in now.iter().filter(|(url, _)| url.contains("/p/")) {
            assert_eq!((text(line, "reason"), outcome(line)), ("recent", "not-modified"), "{line}");
            for field in ["fetched_at", "title", "digest", "warc_file", "warc_offset"] {
                assert_eq!(line[field], first[url][field], "{url} {field}");
            }
        }
        assert_folder_is_sound(&place);
    }
    recent("1ms").finish().expect_code(0);
    assert!(outdated(&place, &site).is_empty());
}

#[test]
fn what_has_changed_by_its_sitemap_is_requested_first() {
    let (web, site) = web(400, Dates::True, Duration::ZERO);
    let place = Place::new();
    crawl(&place, &web).finish().expect_code(0);
    site.state.fetch_add(1, Ordering::SeqCst);
    let changed: BTreeSet<usize> = (0..400).filter(|page| site.last_change(*page).0 == 1).collect();
    let before = web.requests().len();
    crawl(&place, &web).args(["--recrawl", "-c", "1", "--host-concurrency", "1"]).finish().expect_code(0);
    let order = requested(&web, before);
    assert_eq!(order.len(), 400, "without trust, all are requested");
    // Changed pages of the last part go before unchanged ones of the first.
    assert_eq!(order[..changed.len()].iter().copied().collect::<BTreeSet<_>>(), changed);
    let json = trusting(&place, &web).finish().expect_code(0).json();
    assert_eq!(json["recrawl"]["changed"], 0, "{json}");
}
