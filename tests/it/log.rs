//! What the log tells of a crawl, by how often `-v` is given.

use std::sync::Arc;

use serde_json::Value;

use crate::program::{Place, pages};
use crate::web::{Answer, Content, Web};

/// A page that links to another one.
struct TwoPages;

impl Content for TwoPages {
    fn answer(&self, url: &str, _: usize) -> Answer {
        match &url[url.rfind('/').unwrap()..] {
            "/" => Answer::html("<title>One</title><p>One page. <a href=/two>Two</a>".to_owned()),
            "/two" => Answer::html("<title>Two</title><p>Another one.".to_owned()),
            _ => Answer::error(404),
        }
    }
}

#[test]
fn a_crawl_can_be_followed_by_its_log() {
    let place = Place::new();
    let told =
        |flags: &[&str], out: &str| place.run(["demo", "-o", out].iter().chain(flags)).finish().expect_code(0).stderr;
    assert_eq!(told(&[], "silent"), "");

    let log = told(&["-v"], "told");
    for event in ["crawl begins", "politeness.delay = ", "robots.txt", "failed: http", "checkpoint", "crawl ends"] {
        assert!(log.contains(event), "'{event}' is not in:\n{log}");
    }
    assert!(log.lines().count() < 60 && log.lines().all(|line| line.starts_with("DEBUG ")), "{log}");

    let log = told(&["-vv"], "each");
    assert!(!log.contains("crawl{") && !log.contains("page{"), "{log}");
    for line in pages(&place.path("each")).iter().filter(|line| line["status"].is_number()) {
        let url = line["url"].as_str().unwrap();
        assert!(log.contains(&format!("url={url} ")), "{url} is not in:\n{log}");
    }
    let libraries = told(&["-vvv"], "all").lines().count();
    assert!(libraries > 2 * log.lines().count(), "{libraries} lines");
}

#[test]
fn json_lines_tell_the_spans_of_crawl_and_pages_and_how_long_they_took() {
    let web = Web::start(1, |_| Arc::new(TwoPages));
    let place = Place::new();
    let url = |path: &str| format!("{}{path}", web.origins()[0]);
    let run = place.crawl(&[url("/")]).args(["-vv", "--log-format", "json"]).finish().expect_code(0);
    let lines: Vec<Value> = run.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let closed = |name: &str| -> Vec<&Value> {
        lines.iter().filter(|line| line["fields"]["message"] == "close" && line["span"]["name"] == name).collect()
    };
    let has = |path: &str| closed("page").iter().any(|line| line["span"]["url"] == url(path));
    assert!(closed("crawl").len() == 1 && has("/") && has("/two"), "{}", run.stderr);
    let page = closed("page")[0];
    assert!(page["span"]["host"] == "127.0.0.1" && page["fields"]["time.busy"].is_string(), "{page}");
    let ended = lines.iter().find(|line| line["fields"]["message"] == "stored").unwrap();
    assert_eq!(ended["spans"][0]["name"], "crawl", "{ended}");
}
