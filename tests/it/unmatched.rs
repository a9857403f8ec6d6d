//! Links of duplicates that the pages which they repeat do not have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::program::{ALL_FETCHED, Place, Run, UNSPARING};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const CHAPTERS: u32 = 30;

/// A manual in two editions that say the same. A chapter links to its notes, in either edition. A chapter of the second
/// one also links to a supplement, half of which is the chapter's text, and that to an annex.
struct Site {
    origin: String,
    /// Whether the front page names news.
    has_news: AtomicBool,
}

impl Site {
    fn page(&self, path: &str) -> Option<Answer> {
        if path == "/" {
            let news = self.has_news.load(Ordering::SeqCst).then(|| "/news".to_owned());
            let chapters = |edition: u32| (0..CHAPTERS).map(move |chapter| format!("/{edition}/chapter-{chapter}"));
            return Some(html(&text("front", 200), chapters(1).chain(chapters(2)).chain(news)));
        }
        if path == "/news" {
            return Some(html(&text("news", 100), []));
        }
        let (edition, name) = path.trim_start_matches('/').split_once('/')?;
        let (kind, number) = name.split_once('-')?;
        let number: u32 = number.parse().ok().filter(|number| *number < CHAPTERS)?;
        let chapter = text(&format!("chapter {number}"), 100);
        Some(match (kind, edition) {
            ("chapter", "1") => html(&chapter, [format!("/1/notes-{number}"), "/".to_owned()]),
            ("chapter", "2") => html(
                &chapter,
                ["/2/notes", "/2/supplement"]
                    .map(|link| format!("{link}-{number}"))
                    .into_iter()
                    .chain(["/".to_owned()]),
            ),
            ("notes", _) => html(&text(&format!("notes {number}"), 100), []),
            ("supplement", "2") => {
                let own = text(&format!("supplement {number}"), 100);
                html(&format!("{chapter} {own}"), [format!("/2/annex-{number}")])
            }
            ("annex", "2") => html(&text(&format!("annex {number}"), 100), []),
            _ => return None,
        })
    }
}

impl Content for Site {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.strip_prefix(&self.origin).unwrap_or_default();
        self.page(path).unwrap_or_else(|| Answer::error(404))
    }
}

fn text(purpose: &str, words: usize) -> String {
    sentences(&words_of(3, purpose, words))
}

/// The links have no text, so that pages with other links can have the same text.
fn html(said: &str, links: impl IntoIterator<Item = String>) -> Answer {
    let links: String = links.into_iter().map(|link| format!("<a href=\"{link}\"></a>")).collect();
    Answer::html(format!(
        "<!DOCTYPE html><html lang=\"en\"><title>page</title><body><p>{said}</p>{links}</body></html>"
    ))
}

fn web() -> (Web, Arc<Site>) {
    let mut site = None;
    let web = Web::start(1, |origins| {
        let planned = Arc::new(Site { origin: origins[0].clone(), has_news: AtomicBool::new(false) });
        site = Some(Arc::clone(&planned));
        planned
    });
    (web, site.unwrap())
}

/// One request at a time: the first edition is stored, and the second one repeats it. With the default detector, which
/// records the text.
fn crawl(place: &Place, web: &Web, policy: &str) -> Run {
    let run = place.run([format!("{}/", web.origins()[0])]).args(["-o", "out"]).args(UNSPARING).args(ALL_FETCHED);
    run.args(["--concurrency", "1", "--soft-404", "off", "--duplicate-links", policy])
}

/// Outcome and reason by path.
fn outcomes(pages: &[Value]) -> BTreeMap<String, String> {
    let told = |line: &Value| {
        let path = line["url"].as_str().unwrap().splitn(4, '/').nth(3).unwrap().to_owned();
        (path, format!("{} {}", line["outcome"].as_str().unwrap(), line["reason"].as_str().unwrap_or_default()))
    };
    pages.iter().map(told).collect()
}

/// The kinds of pages with this outcome, such as `2/notes`, each with their number.
fn kinds(pages: &[Value], outcome: &str) -> BTreeSet<(String, usize)> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (path, found) in outcomes(pages) {
        if found.trim() == outcome {
            *kinds.entry(path.split('-').next().unwrap().to_owned()).or_default() += 1;
        }
    }
    kinds.into_iter().collect()
}

fn all(names: &[&str]) -> BTreeSet<(String, usize)> {
    names.iter().map(|name| ((*name).to_owned(), CHAPTERS as usize)).collect()
}

#[test]
fn unmatched_links_are_followed_and_their_counterparts_are_not() {
    let (web, _site) = web();
    let place = Place::new();
    let summary = crawl(&place, &web, "unmatched").args(["--json"]).finish().expect_code(0).json();
    let pages = place.pages();
    let mut stored = all(&["1/chapter", "1/notes", "2/annex", "2/supplement"]);
    stored.insert((String::new(), 1));
    assert_eq!(kinds(&pages, "stored"), stored);
    assert_eq!(kinds(&pages, "deferred duplicate-link"), all(&["2/notes"]));
    assert_eq!((&summary["links_skipped"], &summary["links_unmatched"]), (&CHAPTERS.into(), &0.into()));
    assert_eq!(summary["skipping"]["requests"], 2 * CHAPTERS);
    place.run(["verify", "out"]).finish().expect_code(0);
    let report = std::fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(report.contains("those were followed that have no counterpart"), "{report}");
}

#[test]
fn a_crawl_that_skips_them_says_how_many_links_were_unmatched() {
    let (web, _site) = web();
    let place = Place::new();
    let told = crawl(&place, &web, "skip").finish().expect_code(0).stdout;
    let expected = format!("{CHAPTERS} of them have no counterpart on the original");
    assert!(told.contains(&expected), "{told}");
    // It is in the log, so a run that adds nothing says so again.
    let told = crawl(&place, &web, "skip").finish().expect_code(0).stdout;
    assert!(told.contains(&expected), "{told}");
    assert_eq!(kinds(&place.pages(), "deferred duplicate-link"), all(&["2/notes", "2/supplement"]));
    place.run(["verify", "out"]).finish().expect_code(0);
}

#[test]
fn a_crawl_that_goes_on_with_another_policy_follows_what_it_skipped() {
    let (web, _site) = web();
    for policy in ["unmatched", "follow", "defer"] {
        let place = Place::new();
        crawl(&place, &web, "skip").finish().expect_code(0);
        let (asked, skipped) = (web.pages_asked(), kinds(&place.pages(), "deferred duplicate-link"));
        assert_eq!(skipped, all(&["2/notes", "2/supplement"]));
        crawl(&place, &web, policy).finish().expect_code(0);
        let extra = web.pages_asked() - asked;
        let undisturbed = Place::new();
        crawl(&undisturbed, &web, policy).finish().expect_code(0);
        assert_eq!(outcomes(&place.pages()), outcomes(&undisturbed.pages()), "{policy}");
        // Supplements and annexes, and notes.
        let expected = if policy == "unmatched" { 2 * CHAPTERS } else { 3 * CHAPTERS };
        assert_eq!(extra, expected as usize, "{policy}: only these are requested");
        place.run(["verify", "out"]).finish().expect_code(0);
    }
}

#[test]
fn a_crawl_that_goes_on_by_sample_follows_the_sample() {
    let (web, _site) = web();
    let place = Place::new();
    crawl(&place, &web, "skip").finish().expect_code(0);
    crawl(&place, &web, "sample:0.5").finish().expect_code(0);
    let undisturbed = Place::new();
    crawl(&undisturbed, &web, "sample:0.5").finish().expect_code(0);
    assert_eq!(outcomes(&place.pages()), outcomes(&undisturbed.pages()));
}

#[test]
fn the_loss_is_text_and_not_pages() {
    let (web, _site) = web();
    let place = Place::new();
    let summary = crawl(&place, &web, "follow").args(["--json"]).finish().expect_code(0).json();
    let cost = &summary["skipping"];
    // Supplements, annexes and notes of the second edition, of which the notes are duplicates.
    assert_eq!((&cost["requests"], &cost["unique"]), (&(3 * CHAPTERS).into(), &(2 * CHAPTERS).into()));
    // An annex is new as a whole, and half of a supplement.
    let (new, pages) = (cost["new_text"].as_f64().unwrap(), f64::from(CHAPTERS));
    assert!((new / pages - 1.5).abs() < 0.05, "{new}");
    let lost = cost["lost_per_1000"].as_f64().unwrap();
    assert!((lost - new * 1000.0 / (3.0 * pages)).abs() < 0.5, "{lost} {new}");
}

#[test]
fn a_crawl_that_is_killed_follows_the_same_links() {
    let (web, _site) = web();
    let undisturbed = Place::new();
    crawl(&undisturbed, &web, "unmatched").finish().expect_code(0);
    let asked = web.pages_asked();
    let place = Place::new();
    // The originals are committed, and most of the duplicates that repeat them are not.
    for pages in [CHAPTERS + 10, 2 * CHAPTERS + 20] {
        let before = web.pages_asked();
        let mut running = crawl(&place, &web, "unmatched").start();
        if running.wait_until(|| web.pages_asked() - before > pages as usize) {
            running.kill();
        }
    }
    crawl(&place, &web, "unmatched").finish().expect_code(0);
    assert!(web.pages_asked() > 2 * asked, "it was not killed");
    assert_eq!(outcomes(&place.pages()), outcomes(&undisturbed.pages()));
    place.run(["verify", "out"]).finish().expect_code(0);
}

#[test]
fn beside_an_earlier_crawl_only_new_links_are_followed() {
    let (web, site) = web();
    let place = Place::new();
    crawl(&place, &web, "unmatched").finish().expect_code(0);
    site.has_news.store(true, Ordering::SeqCst);
    let asked = web.pages_asked();
    crawl(&place, &web, "unmatched").args(["-o", "new", "--against", "out"]).finish().expect_code(0);
    let pages = crate::program::pages(&place.path("new"));
    assert_eq!(kinds(&pages, "stored"), [("news".to_owned(), 1)].into());
    assert_eq!(web.pages_asked() - asked, 2, "the front page and the news");
}
