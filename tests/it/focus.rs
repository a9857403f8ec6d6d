//! Focused crawls: pages on the topic are fetched first, and nothing else changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use ndcrawl::seeded::SeededRng;

use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, word, words_of};

const SECTIONS: usize = 8;
const PAGES: usize = 15;
/// The section on the topic. The start page names its index last.
const WANTED: usize = SECTIONS - 1;

/// A start page that names sections, each with an index that names its pages. The pages of a section share
/// some words, and each names the indexes of all sections, as menus do.
struct Site {
    origin: String,
}

impl Site {
    fn page(path: &str) -> Option<Answer> {
        if path == "/" {
            return Some(html("Start", &format!("{}{}", text("start"), indexes())));
        }
        let mut parts = path.trim_matches('/').split('/');
        let section = parts.next()?.strip_prefix('s')?.parse::<usize>().ok().filter(|section| *section < SECTIONS)?;
        match parts.next() {
            None => {
                let pages = (0..PAGES).map(|number| {
                    let own = own_word(section, number);
                    format!("<li><a href=\"/s{section}/{own}.html\">{own}</a></li>")
                });
                Some(html(&topic(section), &format!("<ul>{}</ul>{}", pages.collect::<String>(), indexes())))
            }
            Some(name) => {
                let number = (0..PAGES).find(|number| name == format!("{}.html", own_word(section, *number)))?;
                let own = own_word(section, number);
                let said = format!("<p>{}</p><p>{}</p>", sentences(&shared_words(section)), text(&own));
                Some(html(&own, &format!("{said}{}", indexes())))
            }
        }
    }
}

impl Content for Site {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.strip_prefix(&self.origin).unwrap_or_default();
        if path == "/robots.txt" {
            return Answer::text("User-agent: *\nDisallow: /forbidden\n");
        }
        Self::page(path).unwrap_or_else(|| Answer::error(404))
    }
}

fn shared_words(section: usize) -> Vec<String> {
    words_of(section as u64, "section", 12)
}

/// The name of a section: two of its words.
fn topic(section: usize) -> String {
    shared_words(section)[..2].join(" ")
}

fn own_word(section: usize, number: usize) -> String {
    word(&mut SeededRng::new((section * PAGES + number) as u64, "own"))
}

fn text(purpose: &str) -> String {
    sentences(&words_of(5, purpose, 40))
}

fn indexes() -> String {
    (0..SECTIONS).map(|section| format!("<a href=\"/s{section}/\">{}</a> ", topic(section))).collect()
}

fn html(title: &str, body: &str) -> Answer {
    Answer::html(format!("<!DOCTYPE html><html lang=\"en\"><title>{title}</title><body>{body}</body></html>"))
}

fn web() -> Web {
    Web::start(1, |origins| Arc::new(Site { origin: origins[0].clone() }))
}

/// One request at a time, so that requests come in the frontier's order.
fn crawl(place: &Place, web: &Web) -> Run {
    place.crawl(&[format!("{}/", web.origins()[0])]).args(["-c", "1", "--soft-404", "off"])
}

/// The paths in the order of requests.
fn order(web: &Web) -> Vec<String> {
    let paths = web.requests().into_iter().map(|request| request.url[web.origins()[0].len()..].to_owned());
    paths.filter(|path| path != "/robots.txt").collect()
}

fn is_wanted(path: &str) -> bool {
    path.starts_with(&format!("/s{WANTED}/")) && path.ends_with(".html")
}

/// How many of the first pages are on the topic.
fn wanted_among(order: &[String], first: usize) -> usize {
    order.iter().take(first).filter(|path| is_wanted(path)).count()
}

#[test]
fn pages_on_the_topic_are_fetched_first() {
    let (breadth_first, focused) = (web(), web());
    let (place, other) = (Place::new(), Place::new());
    crawl(&other, &breadth_first).finish().expect_code(0);
    crawl(&place, &focused).args(["--focus", &topic(WANTED)]).finish().expect_code(0);
    let (before, after) = (order(&breadth_first), order(&focused));
    // The start page and the index come before, one URL in twenty is taken out of turn, and the menu of the
    // index promises as much as its list until it is tried.
    assert_eq!(wanted_among(&after, PAGES + 10), PAGES, "{after:?}");
    assert_eq!(wanted_among(&before, PAGES + 10), 0, "{before:?}");
    let sets = [before, after].map(BTreeSet::from_iter);
    assert_eq!(sets[0], sets[1], "the order alone is another");

    let pages = place.pages();
    let relevance = |is_one: fn(&str) -> bool| {
        let those = pages.iter().filter(|line| is_one(url::Url::parse(line["url"].as_str().unwrap()).unwrap().path()));
        those.map(|line| line["focus"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let least = relevance(is_wanted).into_iter().fold(1.0, f64::min);
    let most = relevance(|path| path.ends_with(".html") && !is_wanted(path)).into_iter().fold(0.0, f64::max);
    assert!(most < least, "{most} {least}");
    assert!(pages.iter().filter(|line| line["depth"] != 0).all(|line| line["expected"]["score"].is_f64()));
    place.run(["verify", "out"]).finish().expect_code(0);
    let page = pages.iter().find(|line| is_wanted(url::Url::parse(line["url"].as_str().unwrap()).unwrap().path()));
    let explained = place.run(["explain", "out", page.unwrap()["url"].as_str().unwrap()]).finish().expect_code(0);
    assert!(explained.stdout.contains("relevance ") && explained.stdout.contains(" expected"));
}

#[test]
fn exploration_takes_a_share_of_the_urls_or_none() {
    for (share, expected) in [("0", 0..1), ("0.5", 20..100)] {
        let (web, place) = (web(), Place::new());
        let config = place.write("ndcrawl.toml", &format!("[focus]\nexploration = {share}\n"));
        let config = config.display().to_string();
        crawl(&place, &web).args(["--focus", &topic(WANTED), "--config", &config]).finish().expect_code(0);
        let explored = place.pages().iter().filter(|line| line["expected"]["explored"] == true).count();
        assert!(expected.contains(&explored), "{share}: {explored}");
    }
}

#[test]
fn an_example_page_defines_the_topic_and_is_fetched_once() {
    let (web, place) = (web(), Place::new());
    let example = format!("/s{WANTED}/{}.html", own_word(WANTED, 3));
    let url = format!("{}{example}", web.origins()[0]);
    crawl(&place, &web).args(["--focus", &url, "--max-pages", "8"]).finish().expect_code(0);
    assert_eq!(order(&web)[0], example, "before all others");
    assert_eq!(web.requests()[0].url, format!("{}/robots.txt", web.origins()[0]));
    crawl(&place, &web).args(["--focus", &url]).finish().expect_code(0);
    let order = order(&web);
    assert_eq!(order.iter().filter(|path| **path == example).count(), 2, "as an example, and as a page");
    assert_eq!(wanted_among(&order, PAGES + 12), PAGES + 1, "{order:?}");

    let forbidden = format!("{}/forbidden", web.origins()[0]);
    let refused = crawl(&Place::new(), &web).args(["--focus", &forbidden]).finish().expect_code(2);
    assert!(refused.stderr.contains("robots.txt"), "{}", refused.stderr);
    let nothing = crawl(&Place::new(), &web).args(["--focus", "of the"]).finish().expect_code(2);
    assert!(nothing.stderr.contains("only stop words"), "{}", nothing.stderr);
}

#[test]
fn a_killed_crawl_resumes_with_its_topic() {
    let (web, place) = (web(), Place::new());
    let description = place.write("topic.txt", &sentences(&shared_words(WANTED)));
    let topic = format!("@{}", description.display());
    let begun = crawl(&place, &web).args(["--focus", &topic, "--max-pages", "6"]).finish();
    begun.expect_code(0);
    assert_eq!(order(&web).len(), 6);
    let mut running = crawl(&place, &web).args(["--focus", &topic]).start();
    running.wait_until(|| web.pages_asked() >= 9);
    running.kill();
    crawl(&place, &web).args(["--focus", &topic]).finish().expect_code(0);
    let order = order(&web);
    // Pages that were fetched and not committed before the kill are fetched again, as many as there were: each
    // counts where it came first.
    let mut seen = BTreeSet::new();
    let first_requests = order.iter().filter(|path| seen.insert(*path)).cloned().collect::<Vec<_>>();
    assert_eq!(wanted_among(&first_requests, PAGES + 14), PAGES, "{order:?}");
    assert_eq!(place.pages().len(), 1 + SECTIONS + SECTIONS * PAGES);
}

#[test]
fn irrelevant_pages_are_not_kept_and_their_links_are_followed() {
    let (web, place) = (web(), Place::new());
    crawl(&place, &web).args(["--focus", &topic(WANTED), "--focus-min", "0.2"]).finish().expect_code(0);
    for line in place.pages() {
        let path = url::Url::parse(line["url"].as_str().unwrap()).unwrap().path().to_owned();
        let relevance = line["focus"].as_f64().unwrap();
        if relevance < 0.2 {
            assert_eq!((&line["outcome"], &line["reason"]), (&"excluded".into(), &"off-topic".into()), "{path}");
            assert!(!is_wanted(&path), "{path}");
        } else {
            assert_eq!(line["outcome"], "stored", "{path}");
        }
    }
    assert_eq!(web.pages_asked(), 1 + SECTIONS + SECTIONS * PAGES);
}
