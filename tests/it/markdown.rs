//! Text that sites offer: Markdown on request, and the files `llms.txt` and `llms-full.txt`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::HeaderMap;
use serde_json::Value;

use crate::invariants::{lines, outcome, text};
use crate::program::{Finished, Place};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

/// A site whose pages are HTML, and Markdown for whoever names it.
struct Offering;

const LLMS: &str = "# The manual\n\n> All about valves.\n\n## Docs\n\n- [Valves](/docs/valves.md): what turns\n\
    - [Pumps](docs/pumps.md)\n\n## Optional\n\n- [All](/llms-full.txt)\n";

fn words(of: &str) -> String {
    sentences(&words_of(13, of, 150))
}

fn markdown(body: String) -> Answer {
    Answer {
        status: 200,
        headers: vec![("content-type", "text/markdown; charset=utf-8".to_owned())],
        body: body.into(),
        ..Answer::default()
    }
}

impl Content for Offering {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(500)
    }

    fn answer_to(&self, url: &str, _: usize, headers: &HeaderMap) -> Answer {
        let path = url::Url::parse(url).unwrap().path().to_owned();
        let wants = headers.get("accept").is_some_and(|accept| accept.to_str().unwrap().contains("text/markdown"));
        match path.as_str() {
            "/llms.txt" => Answer::text(LLMS),
            "/llms-full.txt" => Answer::text(&format!("# All\n\n{}\n", words("full"))),
            "/docs/valves.md" | "/docs/pumps.md" => markdown(format!("# {path}\n\n{}\n", words(&path))),
            "/" if wants => markdown(format!("# Start\n\n[one](/one) {}\n", words("start"))),
            "/one" if wants => markdown(format!("---\ntitle: One\n---\n\n{}\n", words("one"))),
            "/" => Answer::html(format!("<title>Start</title><a href=/one>one</a><p>{}", words("start"))),
            "/one" => Answer::html(format!("<title>One</title><p>{}", words("one"))),
            _ => Answer::error(404),
        }
    }
}

/// Crawls from this path, and returns the lines by path.
fn crawled(place: &Place, path: &str, flags: &[&str]) -> BTreeMap<String, Value> {
    let web = Web::start(1, |_| Arc::new(Offering));
    let seed = format!("{}{path}", web.origins()[0]);
    place.crawl(&[seed]).args(["--soft-404", "off"]).args(flags).finish().expect_code(0);
    let path = |url: &str| url::Url::parse(url).unwrap().path().to_owned();
    lines(&place.path("out")).into_iter().map(|(url, line)| (path(&url), line)).collect()
}

fn types(lines: &BTreeMap<String, Value>) -> Vec<(&str, &str, &str)> {
    lines.iter().map(|(path, line)| (path.as_str(), outcome(line), text(line, "type"))).collect()
}

fn exported(place: &Place) -> Finished {
    let flags = ["--format", "jsonl", "-o", "-", "--text", "main,markdown", "-q"];
    place.run(["export", "out"]).args(flags).finish().expect_code(0)
}

#[test]
fn markdown_is_sent_to_those_who_ask_for_it_and_read_as_pages() {
    let place = Place::new();
    let lines = crawled(&place, "/", &[]);
    assert_eq!(types(&lines), [("/", "stored", "text/html"), ("/one", "stored", "text/html")]);
    let place = Place::new();
    let lines = crawled(&place, "/", &["--markdown"]);
    assert_eq!(types(&lines), [("/", "stored", "text/markdown"), ("/one", "stored", "text/markdown")]);
    assert_eq!((text(&lines["/"], "title"), text(&lines["/one"], "title")), ("Start", "One"));
    let rows = exported(&place).stdout;
    let row: Value = serde_json::from_str(rows.lines().find(|row| row.contains("/one\"")).unwrap()).unwrap();
    assert!(text(&row, "text").contains(words("one").trim()) && !text(&row, "text").contains("title:"), "{row}");
}

#[test]
fn files_for_models_are_lists_of_links_and_pages() {
    let place = Place::new();
    let lines = crawled(&place, "/llms.txt", &[]);
    let expected = [
        ("/docs/pumps.md", "stored", "text/markdown"),
        ("/docs/valves.md", "stored", "text/markdown"),
        ("/llms-full.txt", "stored", "text/plain"),
        ("/llms.txt", "stored", "text/plain"),
    ];
    assert_eq!(types(&lines), expected);
    assert_eq!(text(&lines["/llms-full.txt"], "title"), "All");
    let rows = exported(&place).stdout;
    let row: Value = serde_json::from_str(rows.lines().find(|row| row.contains("/llms.txt\"")).unwrap()).unwrap();
    assert!(text(&row, "markdown").contains("## Docs"), "{row}");
}
