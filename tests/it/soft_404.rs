//! Soft 404s: real pages are kept, responses to wrong URLs are not, and sites that answer 404 are not affected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// Pages of a kind, and links to addresses that do not exist.
const PAGES: usize = 12;
const DEAD: usize = 10;
const MENU: &str = "<p>Start Products Prices Company History Contact Imprint Privacy Terms Careers Press</p>";

/// A site's response to wrong URLs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    /// 404.
    Error,
    /// 200 with a title that says so, and the address.
    Titled,
    /// The same, after an answer to the first probe in each folder that says when to come again.
    Later,
    /// 200 with hardly more than the address.
    Short,
    /// 200 under the site's title, with a clock and changing advice.
    Untitled,
    /// The start page.
    Start,
    /// A redirect to the start page.
    ToStart,
    /// A redirect to a page that says so.
    ToPage,
}

/// A start page, articles with three endings, each with links to more of them and to addresses that do not
/// exist, thin pages under the site's menu, and a page about errors.
struct Site {
    origin: String,
    wrong: Wrong,
    /// Folders in which a probe was answered.
    probed: Mutex<BTreeSet<String>>,
}

impl Site {
    fn wrong(&self, path: &str, before: usize) -> Answer {
        let menu = MENU.repeat(4);
        // The count changes with each request, the advice with each URL.
        let advice = words_of(7, path, 1).remove(0);
        let links = "<a href=\"/\">to the start</a> <a href=\"/only/by/the/lost\">or</a>";
        let folder = path.trim_start_matches('/').split_once('/').map(|(folder, _)| folder.to_owned());
        let is_first_probe = || {
            let is_new = |folder| self.probed.lock().unwrap().insert(folder);
            !dead_links().contains(path) && folder.is_some_and(is_new)
        };
        match self.wrong {
            Wrong::Error => Answer::error(404),
            Wrong::Later if is_first_probe() => {
                Answer { headers: vec![("retry-after", "0".to_owned())], ..Answer::error(403) }
            }
            Wrong::Titled | Wrong::Later => {
                html("Page not found", &format!("<p>Sorry, {path} does not exist.</p>{menu}{links}"))
            }
            Wrong::Short => html("Nothing", &format!("<p>Nothing lives at {path}</p><a href=\"/\">the</a>")),
            Wrong::Untitled => {
                let clock = format!("12:{:02}:{:02}", path.len(), before);
                html("A site", &format!("<p>We cannot help with {path}. Try {advice}, {clock}.</p>{menu}{links}"))
            }
            Wrong::Start => self.start(),
            Wrong::ToStart => Answer::redirect("/"),
            Wrong::ToPage => Answer::redirect("/errors/none.html"),
        }
    }

    fn start(&self) -> Answer {
        let thin = (0..PAGES).map(|number| format!("/photo/{number}"));
        let links = ["/errors/about", "/a/0"].map(str::to_owned).into_iter().chain(thin);
        html("A site", &format!("<p>{}</p>{}{MENU}", text("start"), anchors(links)))
    }

    fn page(&self, path: &str) -> Option<Answer> {
        let (folder, name) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
        let number = || name.split(['.', '/']).next()?.parse::<usize>().ok().filter(|number| *number < PAGES);
        match folder {
            "/" => Some(self.start()),
            "errors" if name == "about" => {
                let about = "<p>When an address does not exist, we say sorry, and that it is not found, with 404.</p>";
                Some(html("Page not found: what it means", &format!("{about}<p>{}</p>", text("errors"))))
            }
            "errors" if name == "none.html" && self.wrong == Wrong::ToPage => {
                Some(html("404", &format!("<p>There is nothing of that name.</p>{MENU}")))
            }
            "photo" => number().map(|number| html("A site", &format!("<p>Photo {number}</p>{}", MENU.repeat(4)))),
            "a" | "b" | "c" => {
                let number = number().filter(|number| path == address(folder, *number))?;
                let all = ["a", "b", "c"].into_iter();
                let next = all.map(|folder| address(folder, number + 1)).filter(|_| number + 1 < PAGES);
                let dead = (0..2).map(|which| dead(folder, (2 * number + which) % DEAD));
                Some(html(&text(path)[..20], &format!("<p>{}</p>{}", text(path), anchors(next.chain(dead)))))
            }
            _ => None,
        }
    }

    /// The paths of all pages.
    fn paths() -> BTreeSet<String> {
        let articles = (0..PAGES).flat_map(|number| ["a", "b", "c"].map(|folder| address(folder, number)));
        let photos = (0..PAGES).map(|number| format!("/photo/{number}"));
        // Nothing links to the first of the articles with other suffixes.
        let unlinked = [address("b", 0), address("c", 0)];
        let others = ["/", "/errors/about"].map(str::to_owned);
        articles.chain(photos).chain(others).filter(|path| !unlinked.contains(path)).collect()
    }
}

/// `/a/1`, `/b/1.html`, `/c/1/`.
fn address(folder: &str, number: usize) -> String {
    let ending = match folder {
        "b" => ".html",
        "c" => "/",
        _ => "",
    };
    format!("/{folder}/{number}{ending}")
}

fn dead(folder: &str, number: usize) -> String {
    let word = words_of(number as u64, folder, 2).join("-");
    address(folder, number).replace(&number.to_string(), &word)
}

fn text(purpose: &str) -> String {
    sentences(&words_of(3, purpose, 60))
}

/// The links have function words for their text.
fn anchors(links: impl IntoIterator<Item = String>) -> String {
    links.into_iter().map(|link| format!("<a href=\"{link}\">to the</a>\n")).collect()
}

fn html(title: &str, body: &str) -> Answer {
    Answer::html(format!("<!DOCTYPE html><html lang=\"en\"><title>{title}</title><body>{body}</body></html>"))
}

impl Content for Site {
    fn answer(&self, url: &str, before: usize) -> Answer {
        let Some(path) = url.strip_prefix(&self.origin).filter(|path| *path != "/robots.txt") else {
            return Answer::error(404);
        };
        self.page(path).unwrap_or_else(|| self.wrong(path, before))
    }
}

fn web(wrong: Wrong) -> Web {
    Web::start(1, |origins| Arc::new(Site { origin: origins[0].clone(), wrong, probed: Mutex::default() }))
}

fn crawl(place: &Place, web: &Web) -> Run {
    place.crawl(&[format!("{}/", web.origins()[0])]).args(["--host-concurrency", "1", "--json"])
}

/// Outcome and reason by path.
fn outcomes(place: &Place) -> BTreeMap<String, String> {
    let tell = |line: &Value| {
        let path = url::Url::parse(line["url"].as_str().unwrap()).unwrap().path().to_owned();
        let words = ["outcome", "reason"].iter().filter_map(|field| line[*field].as_str());
        (path, words.collect::<Vec<_>>().join(" "))
    };
    place.pages().iter().map(tell).collect()
}

fn with_outcome(outcomes: &BTreeMap<String, String>, outcome: &str) -> BTreeSet<String> {
    let those = outcomes.iter().filter(|(_, known)| *known == outcome);
    those.map(|(path, _)| path.clone()).collect()
}

/// The wrong URLs that pages link to.
fn dead_links() -> BTreeSet<String> {
    ["a", "b", "c"].into_iter().flat_map(|folder| (0..DEAD).map(move |number| dead(folder, number))).collect()
}

/// Requested URLs without a line: the probes.
fn probes(web: &Web, outcomes: &BTreeMap<String, String>) -> Vec<String> {
    let asked = web.asked().into_keys().map(|url| url[web.origins()[0].len()..].to_owned());
    asked.filter(|path| !outcomes.contains_key(path)).collect()
}

/// Pages that are stored or duplicates: the thin ones repeat each other.
fn judged(outcomes: &BTreeMap<String, String>) -> BTreeSet<String> {
    let kinds = ["stored", "near-duplicate", "exact-duplicate"];
    kinds.iter().flat_map(|kind| with_outcome(outcomes, kind)).collect()
}

#[test]
fn soft_404_responses_are_left_out_and_no_page_is() {
    for wrong in [Wrong::Titled, Wrong::Short, Wrong::Untitled] {
        let (web, place) = (web(wrong), Place::new());
        let summary = crawl(&place, &web).finish().expect_code(0).json();
        let outcomes = outcomes(&place);
        assert_eq!(with_outcome(&outcomes, "excluded soft-404"), dead_links(), "{wrong:?}");
        assert_eq!(judged(&outcomes), Site::paths(), "{wrong:?}");
        assert!(!outcomes.contains_key("/only/by/the/lost"), "{wrong:?}");
        let probes = probes(&web, &outcomes);
        assert_eq!(summary["soft_404s"], dead_links().len(), "{wrong:?}");
        println!("{wrong:?}: {probes:?}");
        assert!(probes.len() <= 12, "{wrong:?}: {probes:?}");
        place.run(["verify", "out"]).finish().expect_code(0);
    }
}

#[test]
fn a_probe_that_is_put_off_is_asked_again() {
    let (web, place) = (web(Wrong::Later), Place::new());
    crawl(&place, &web).finish().expect_code(0);
    let outcomes = outcomes(&place);
    let kept: Vec<String> = dead_links().difference(&with_outcome(&outcomes, "excluded soft-404")).cloned().collect();
    // Those for which a probe was put off: at most one in each folder.
    assert!(kept.len() <= 3, "{kept:?}");
}

#[test]
fn a_site_that_answers_404_costs_only_a_few_probes() {
    let (web, place, without) = (web(Wrong::Error), Place::new(), Place::new());
    crawl(&without, &web).args(["--soft-404", "off"]).finish().expect_code(0);
    let asked = web.pages_asked();
    assert!(probes(&web, &outcomes(&without)).is_empty());
    let summary = crawl(&place, &web).finish().expect_code(0).json();
    assert_eq!(outcomes(&place), outcomes(&without));
    let probes = web.pages_asked() - 2 * asked;
    assert_eq!(summary["probes"], probes);
    assert!((1..=4).contains(&probes), "{probes}");
}

#[test]
fn redirects_of_wrong_urls_to_the_start_page_leave_nothing_out() {
    for wrong in [Wrong::Start, Wrong::ToStart] {
        let (web, place) = (web(wrong), Place::new());
        crawl(&place, &web).finish().expect_code(0);
        let outcomes = outcomes(&place);
        assert!(with_outcome(&outcomes, "excluded soft-404").is_empty(), "{wrong:?}");
        assert_eq!(outcomes["/"], "stored");
        assert!(judged(&outcomes).is_superset(&Site::paths()), "{wrong:?}");
        let dead = if wrong == Wrong::Start { "exact-duplicate" } else { "redirected" };
        assert!(dead_links().iter().all(|path| outcomes[path] == dead), "{wrong:?}");
    }
}

#[test]
fn an_error_page_behind_a_redirect_is_left_out() {
    let (web, place) = (web(Wrong::ToPage), Place::new());
    crawl(&place, &web).finish().expect_code(0);
    let outcomes = outcomes(&place);
    assert_eq!(with_outcome(&outcomes, "excluded soft-404"), ["/errors/none.html".to_owned()].into());
    assert_eq!(judged(&outcomes), Site::paths());
    assert_eq!(with_outcome(&outcomes, "redirected"), dead_links());
}

#[test]
fn explain_names_the_probe_of_a_soft_404() {
    let (web, place) = (web(Wrong::Titled), Place::new());
    crawl(&place, &web).finish().expect_code(0);
    let pages = place.pages();
    let line = pages.iter().find(|line| line["reason"] == "soft-404").unwrap();
    assert_eq!(line["title"], "Page not found");
    let probe = line["probe"].as_str().unwrap();
    assert!(web.asked().contains_key(probe) && pages.iter().all(|line| line["url"] != probe), "{probe}");
    let told = place.run(["explain", "out", line["url"].as_str().unwrap()]).finish().expect_code(0).stdout;
    assert!(told.contains(probe) && told.contains("--soft-404"), "{told}");
}

#[test]
fn a_seed_is_never_a_soft_404() {
    let (web, place) = (web(Wrong::Titled), Place::new());
    let seeds = ["/", "/gone"].map(|path| format!("{}{path}", web.origins()[0]));
    place.crawl(&seeds).finish().expect_code(0);
    assert_eq!(outcomes(&place)["/gone"], "stored");
}

/// Shows an article by the number in its path, whatever stands behind it; an article may be about a 404.
struct Numbered {
    origin: String,
}

impl Content for Numbered {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.strip_prefix(&self.origin).unwrap();
        let number = |path: &str| path.split('/').next()?.parse::<usize>().ok().filter(|number| *number < PAGES);
        let number = path.strip_prefix("/item/").and_then(number).or_else(|| number(&path[1..]));
        match (path, number) {
            ("/", _) => {
                let pages =
                    (0..PAGES).flat_map(|number| [format!("/item/{number}/a-name"), format!("/{number}/a-name")]);
                html("A site", &anchors(pages))
            }
            (_, Some(number)) => {
                let whole = if path.starts_with("/item/") { "item" } else { "piece" };
                let title = if number == 3 { "The Peugeot 404".to_owned() } else { format!("Number {number}") };
                let canonical = match whole {
                    "item" => format!("/item/{number}/a-name"),
                    _ => format!("/{number}/a-name"),
                };
                let purpose = format!("{whole} {number}");
                html(&title, &format!("<link rel=canonical href=\"{canonical}\"><p>{}</p>", text(&purpose)))
            }
            _ => Answer::error(404),
        }
    }
}

#[test]
fn a_page_shown_for_any_suffix_of_its_url_is_kept() {
    let web = Web::start(1, |origins| Arc::new(Numbered { origin: origins[0].clone() }));
    let place = Place::new();
    let summary = crawl(&place, &web).finish().expect_code(0).json();
    assert!(summary["probes"].as_u64().unwrap() > 0, "{summary}");
    assert_eq!(with_outcome(&outcomes(&place), "stored").len(), 1 + 2 * PAGES);
}

#[test]
fn probes_obey_robots_and_scope() {
    struct Guarded(Site);
    impl Content for Guarded {
        fn answer(&self, url: &str, before: usize) -> Answer {
            match url.ends_with("/robots.txt") {
                true => Answer::text("User-agent: *\nAllow: /a/$\nAllow: /a/*-\nDisallow: /a/\nAllow: /\n"),
                false => self.0.answer(url, before),
            }
        }
    }
    let site = |origins: &[String]| Site { origin: origins[0].clone(), wrong: Wrong::Titled, probed: Mutex::default() };
    let web = Web::start(1, |origins| Arc::new(Guarded(site(origins))));
    let place = Place::new();
    let seed = format!("{}{}", web.origins()[0], address("b", 1));
    place.crawl(&[seed]).args(["--include", "/b/|/a/", "--exclude", r"/b/[a-z]+\.html"]).finish().expect_code(0);
    let outcomes = outcomes(&place);
    // Dead links have a hyphen: they may be requested, and probes beside them may not.
    assert!(dead_links().iter().any(|path| path.starts_with("/b/") && judged(&outcomes).contains(path)));
    assert!(probes(&web, &outcomes).is_empty(), "{:?}", probes(&web, &outcomes));
}

#[test]
fn soft_404_signatures_are_learned_again_after_a_kill() {
    let web = web(Wrong::Untitled);
    let place = Place::new();
    for requests in [20, 60] {
        let mut running = crawl(&place, &web).start();
        let before = web.pages_asked();
        assert!(running.wait_until(|| web.pages_asked() - before > requests / 2), "it ended too soon to be killed");
        running.kill();
    }
    crawl(&place, &web).finish().expect_code(0);
    let outcomes = outcomes(&place);
    assert_eq!(with_outcome(&outcomes, "excluded soft-404"), dead_links());
    assert_eq!(judged(&outcomes), Site::paths());
    place.run(["verify", "out"]).finish().expect_code(0);
}
