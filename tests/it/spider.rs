//! The spider engine: another order of requests, with the same politeness.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::crowd::Crowd;
use crate::graph::{Graph, Options};
use crate::invariants::{
    Lines, assert_as_expected, assert_duplicates_name_stored_pages, assert_folder_is_sound, assert_planted_copies_meet,
    lines, text, with_outcome,
};
use crate::program::{Place, Run};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const SPIDER: [&str; 2] = ["--engine", "spider"];

fn planned_web(hosts: usize, options: Options) -> (Web, Arc<Graph>) {
    let mut graph = None;
    let web = Web::start(hosts, |origins| {
        let planned = Arc::new(Graph::new(origins, options));
        graph = Some(Arc::clone(&planned));
        planned
    });
    (web, graph.unwrap())
}

/// Unique pages by path, each with its links and additional markup.
struct Pages {
    origins: Vec<String>,
    body: fn(&str) -> Option<String>,
    robots: &'static str,
    delay: Duration,
}

impl Content for Pages {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = self.origins.iter().find_map(|origin| url.strip_prefix(origin.as_str())).unwrap_or(url);
        if path == "/robots.txt" {
            return Answer::text(self.robots);
        }
        let Some(body) = (self.body)(path) else { return Answer::error(404) };
        let words = sentences(&words_of(1, url, 120));
        let html = format!("<!DOCTYPE html><title>{path}</title><p>{words}</p>{body}");
        Answer { delay: self.delay, ..Answer::html(html) }
    }
}

fn web_of(body: fn(&str) -> Option<String>, robots: &'static str, delay: Duration) -> Web {
    Web::start(1, |origins| Arc::new(Pages { origins: origins.to_vec(), body, robots, delay }))
}

fn by_spider(place: &Place, seeds: &[String]) -> Run {
    place.crawl(seeds).args(SPIDER)
}

/// A page links to its children, of which there are three each down to the third level, and to the root.
fn tree(path: &str) -> Option<String> {
    let level = path.trim_matches('/').split('/').filter(|part| !part.is_empty()).count();
    let children =
        (0..3).filter(|_| level < 3).map(|child| format!("<a href='{}/{child}'>on</a>", path.trim_end_matches('/')));
    (level <= 3).then(|| children.collect::<String>() + "<a href='/'>back</a>")
}

#[test]
fn both_engines_agree_on_every_url_and_fetch_nothing_behind_a_duplicate() {
    for seed in [1, 2] {
        let (web, graph) = planned_web(3, Options { pages: 90, seed, ..Options::default() });
        let place = Place::new();
        by_spider(&place, &graph.seeds()).finish().expect_code(0);
        let lines = lines(&place.path("out"));
        assert_as_expected(&lines, &graph.expected(false));
        assert_duplicates_name_stored_pages(&lines);
        assert_planted_copies_meet(&lines, &graph);
        assert_only_what_may_be_asked_for(&web, &lines);
        assert_folder_is_sound(&place);
        let other = Place::new();
        other.crawl(&graph.seeds()).finish().expect_code(0);
        let others = crate::invariants::lines(&other.path("out"));
        assert_eq!(with_outcome(&lines, "stored"), with_outcome(&others, "stored"));
    }
}

/// Checks the server's log: each page once (twice after an error), nothing forbidden, nothing that only duplicates
/// link to, and robots.txt first.
fn assert_only_what_may_be_asked_for(web: &Web, lines: &Lines) {
    let asked = web.asked();
    for (url, line) in lines {
        let times = asked.get(url).copied().unwrap_or_default();
        assert_eq!(line["requests"], Value::from(times), "{line}");
        let is_left_alone = ["robots", "scope", "duplicate-link", "not-asked"].contains(&text(line, "reason"));
        assert!(times == 0 || !is_left_alone, "{line}");
    }
    assert!(!asked.keys().any(|url| url.contains("/hidden/") || url.contains("/private/")), "{asked:?}");
    for origin in web.origins() {
        let first = web.requests().into_iter().find(|request| request.url.starts_with(origin.as_str())).unwrap();
        assert_eq!(first.url, format!("{origin}/robots.txt"));
    }
}

#[test]
fn links_of_duplicates_are_followed_by_spider_too_if_asked() {
    let (_web, graph) = planned_web(1, Options::default());
    let place = Place::new();
    by_spider(&place, &graph.seeds()).args(["--duplicate-links", "follow"]).finish().expect_code(0);
    assert_as_expected(&lines(&place.path("out")), &graph.expected(true));
}

/// With a single permit, spider ends its crawl at the first page without new links.
#[test]
fn one_request_at_a_time_loses_no_page() {
    let web = web_of(tree, "", Duration::ZERO);
    for flags in [["-c", "1"], ["--host-concurrency", "1"]] {
        let place = Place::new();
        by_spider(&place, web.origins()).args(flags).finish().expect_code(0);
        let lines = lines(&place.path("out"));
        assert_eq!(with_outcome(&lines, "stored").len(), 1 + 3 + 9 + 27, "{lines:?}");
    }
    assert_eq!(web.peak(), 1);
}

#[test]
fn the_politeness_delay_holds_by_the_servers_clock() {
    let crowd = Crowd::start(2, 12);
    let place = Place::new();
    place.write("seeds.txt", &crowd.seeds());
    place
        .run(["--seeds", "seeds.txt", "-c", "500", "--delay", "100ms", "--ip-delay", "50ms", "--allow-private"])
        .args(SPIDER)
        .args(crowd.resolve())
        .finish()
        .expect_code(0);
    let manners = crowd.manners();
    assert_eq!(manners.known, crowd.requests(), "all was asked for, and once");
    assert!(manners.least_by_name >= Duration::from_millis(100), "{manners:?}");
    assert!(manners.least_by_address >= Duration::from_millis(50), "{manners:?}");
    assert_eq!(manners.most_at_once, 1, "{manners:?}");
}

/// If the first page names `_ssgManifest.js`, spider would fetch it with its own client.
#[test]
fn spider_makes_no_requests_of_its_own() {
    fn body(path: &str) -> Option<String> {
        let links = "<script src='/_next/static/x/_ssgManifest.js'></script><a href='/a?x=1&amp;utm_source=s'>a</a>\
                     <a href='http://127.0.0.99:9/out'>out</a><a rel='nofollow' href='/nofollow'>no</a>\
                     <a href='/secret.html'>secret</a><a href='/secretary'>secretary</a>";
        (!path.starts_with("/nofollow") && !path.starts_with("/secret")).then(|| links.to_owned())
    }
    let web = web_of(body, "User-agent: *\nDisallow: /secret", Duration::ZERO);
    let place = Place::new();
    by_spider(&place, web.origins()).args(["--soft-404", "off"]).finish().expect_code(0);
    let origin = &web.origins()[0];
    let expected = ["/", "/a?x=1"].map(|path| format!("{origin}{path}"));
    assert_eq!(web.asked().into_keys().collect::<BTreeSet<_>>(), BTreeSet::from(expected));
    let lines = lines(&place.path("out"));
    let reason = |path: &str| text(&lines[&format!("{origin}{path}")], "reason").to_owned();
    assert_eq!(
        (reason("/nofollow"), reason("/secret.html"), reason("/secretary")),
        ("nofollow".to_owned(), "robots".to_owned(), "robots".to_owned())
    );
    assert_eq!(text(&lines["http://127.0.0.99:9/out"], "reason"), "scope");
}

#[test]
fn limits_hold_and_unfetched_urls_are_recorded() {
    let web = web_of(tree, "", Duration::ZERO);
    let run = |flags: &[&str]| {
        let place = Place::new();
        by_spider(&place, web.origins()).args(flags).finish().expect_code(0);
        assert_folder_is_sound(&place);
        lines(&place.path("out"))
    };
    let reasons = |lines: &Lines, reason: &str| lines.values().filter(|line| text(line, "reason") == reason).count();
    let few = run(&["--max-pages", "7"]);
    assert_eq!(with_outcome(&few, "stored").len(), 7, "{few:?}");
    assert!(reasons(&few, "budget") > 0, "{few:?}");
    let flat = run(&["--depth", "1"]);
    assert_eq!((with_outcome(&flat, "stored").len(), reasons(&flat, "depth")), (4, 9), "{flat:?}");
}

/// A link in a frame, which spider does not see, is recorded as not fetched.
#[test]
fn urls_that_spider_never_requests_are_reported() {
    fn body(path: &str) -> Option<String> {
        Some(if path == "/" { "<iframe src='/framed'></iframe><a href='/a'>a</a>".to_owned() } else { String::new() })
    }
    let web = web_of(body, "", Duration::ZERO);
    let place = Place::new();
    by_spider(&place, web.origins()).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    let framed = &lines[&format!("{}/framed", web.origins()[0])];
    assert_eq!((text(framed, "outcome"), text(framed, "reason")), ("deferred", "not-asked"));
    let url = text(framed, "url").to_owned();
    let told = place.run(["explain", "out", &url]).finish().expect_code(0).stdout;
    assert!(told.contains("--engine"), "{told}");
    place.run(["report", "out"]).finish().expect_code(0);
}

#[test]
fn sitemap_pages_are_entry_points_of_spider() {
    fn body(path: &str) -> Option<String> {
        match path {
            "/" => Some(String::new()),
            "/alone" => Some("<a href='/behind'>on</a>".to_owned()),
            "/behind" => Some(String::new()),
            _ => None,
        }
    }
    struct WithSitemap(Pages);
    impl Content for WithSitemap {
        fn answer(&self, url: &str, before: usize) -> Answer {
            let origin = &self.0.origins[0];
            match url.strip_prefix(origin.as_str()) {
                Some("/robots.txt") => Answer::text(&format!("Sitemap: {origin}/map.xml\n")),
                Some("/map.xml") => Answer {
                    headers: vec![("content-type", "application/xml".to_owned())],
                    ..Answer::text(&format!("<urlset><url><loc>{origin}/alone</loc></url></urlset>"))
                },
                _ => self.0.answer(url, before),
            }
        }
    }
    let web = Web::start(1, |origins| {
        Arc::new(WithSitemap(Pages { origins: origins.to_vec(), body, robots: "", delay: Duration::ZERO }))
    });
    let place = Place::new();
    by_spider(&place, web.origins()).finish().expect_code(0);
    let lines = lines(&place.path("out"));
    let stored = ["/", "/alone", "/behind"].map(|path| format!("{}{path}", web.origins()[0]));
    assert_eq!(with_outcome(&lines, "stored"), stored.iter().map(String::as_str).collect());
}

#[test]
fn a_stopped_spider_crawl_is_complete_and_cannot_be_resumed() {
    let web = web_of(tree, "", Duration::from_millis(50));
    let place = Place::new();
    let start = || by_spider(&place, web.origins()).args(["--host-concurrency", "1"]);
    let mut running = start().start();
    assert!(running.wait_until(|| web.pages_asked() >= 5));
    running.signal("INT");
    let stopped = running.finish().expect_code(130);
    assert!(stopped.stderr.contains("spider cannot resume"), "{}", stopped.stderr);
    place.run(["verify", "out"]).finish().expect_code(0);
    let asked = web.pages_asked();
    let refused = start().finish().expect_code(5);
    assert!(
        refused.stderr.contains("spider cannot resume") && refused.stderr.contains("--fresh"),
        "{}",
        refused.stderr
    );
    // The other engine does not know spider's queue.
    place.crawl(web.origins()).finish().expect_code(5);
    assert_eq!(web.pages_asked(), asked);
    start().args(["--resume"]).finish().expect_code(2);
    start().args(["--fresh", "--force", "--max-time", "300ms"]).finish().expect_code(0);
    let crawl: Value = serde_json::from_str(&std::fs::read_to_string(place.path("out/crawl.json")).unwrap()).unwrap();
    assert_eq!((&crawl["settings"]["engine"], &crawl["stopped"]), (&"spider".into(), &"time".into()), "{crawl}");
}

#[test]
fn settings_that_spider_cannot_obey_are_refused_by_name() {
    let place = Place::new();
    let seeds = ["http://127.0.0.1:9/".to_owned()];
    let refused = by_spider(&place, &seeds).args(["--duplicate-links", "defer"]).finish().expect_code(2);
    assert!(refused.stderr.contains("--duplicate-links"), "{}", refused.stderr);
    let refused = by_spider(&place, &seeds).args(["--focus", "tides"]).finish().expect_code(2);
    assert!(refused.stderr.contains("--focus"), "{}", refused.stderr);
    place.crawl(&seeds).args(["--engine", "ant"]).finish().expect_code(2);
}
