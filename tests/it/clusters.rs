//! The election of a cluster's page, on a site with authors and dates.

use std::process::Command;
use std::sync::Arc;

use serde_json::Value;

use crate::foreign::output;
use crate::program::{Finished, Place};
use crate::web::{Answer, Content, Web};

/// An article at two URLs, a near-duplicate by its first author, and a front page.
struct Press;

impl Press {
    fn page(head: &str, word: &str) -> Answer {
        let words: String = (0..90).map(|number| format!(" word{}", number * 7919 % 1000)).collect();
        Answer::html(format!(
            "<!doctype html><html lang=en><head><title>An article</title>{head}</head><body><p>{words} {word}</body></html>"
        ))
    }
}

impl Content for Press {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        match path {
            "" => {
                Answer::html("<title>Press</title><a href=/copy>1</a> <a href=/copy-of-copy>2</a> <a href=/first>3</a>")
            }
            "first" => Self::page(
                "<script type='application/ld+json'>{\"author\":{\"name\":\"Jane Roe\"},\"datePublished\":\"2019-03-01\"}</script>",
                "original",
            ),
            "copy" | "copy-of-copy" => Self::page(
                "<meta name=author content='John Doe'><meta property=article:published_time content=2020-05-01>",
                "copied",
            ),
            _ => Answer::error(404),
        }
    }
}

fn crawled(flags: &[&str]) -> (Place, String) {
    let web = Web::start(1, |_| Arc::new(Press));
    let place = Place::new();
    let origin = web.origins()[0].clone();
    place.crawl(&[format!("{origin}/")]).args(flags).finish().expect_code(0);
    (place, origin)
}

fn objects(finished: &Finished) -> Vec<Value> {
    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_judged_page_has_its_provenance() {
    let (place, _) = crawled(&[]);
    let pages = place.pages();
    let of = |path: &str| {
        let is_it = |line: &&Value| line["url"].as_str().is_some_and(|url| url.ends_with(path));
        pages.iter().find(is_it).unwrap()["provenance"].clone()
    };
    assert_eq!(
        of("/first"),
        serde_json::json!({
            "who": "Jane Roe", "who_from": "json-ld", "when": "2019-03-01", "when_from": "json-ld",
            "where": "127.0.0.1", "why": "An article", "why_from": "title", "how": "text/html", "markup": "html5",
        })
    );
    assert_eq!(of("/copy"), of("/copy-of-copy"));
    assert_eq!(of("/copy")["who_from"], "meta");
    assert_eq!(of("/")["who"], Value::Null);
}

#[test]
fn the_page_of_the_earliest_date_is_elected_whichever_came_first() {
    let (place, origin) = crawled(&["--keep-duplicates"]);
    let told = place.run(["clusters", "out"]).finish().expect_code(0);
    assert!(told.stdout.starts_with("1 cluster of 3 pages; 4 pages compared\n"), "{}", told.stdout);
    assert!(told.stdout.contains("(earliest date 2019-03-01 (json-ld))"), "{}", told.stdout);
    assert_eq!(told.stdout.lines().filter(|line| line.starts_with('*')).count(), 1, "{}", told.stdout);

    let clusters = objects(&place.run(["clusters", "--json", "out"]).finish().expect_code(0));
    assert_eq!(clusters.len(), 1);
    assert_eq!(clusters[0]["elected"], format!("{origin}/first"));
    assert_eq!(clusters[0]["preferred"], Value::Null);
    let pages = clusters[0]["pages"].as_array().unwrap();
    assert!(pages.iter().all(|page| page["archived"] == true), "{pages:?}");
    assert!(pages.iter().all(|page| page["trust"]["score"].is_number() && page["trust"]["coverage"].is_null()));
    // An exact copy of a near-duplicate inherits its score; a copy of the stored page has none.
    let all = place.run(["clusters", "--json", "--min-mwo", "0.8", "out"]).finish().expect_code(0);
    assert_eq!(objects(&all)[0]["pages"].as_array().unwrap().len(), 3);
    let copies = place.run(["clusters", "--json", "--min-mwo", "1", "out"]).finish().expect_code(0);
    assert!(objects(&copies).iter().all(|cluster| cluster["pages"].as_array().unwrap().len() == 2));
}

#[test]
fn a_page_whose_body_was_not_kept_is_not_elected() {
    let (place, _) = crawled(&[]);
    let clusters = objects(&place.run(["clusters", "out", "--json"]).finish().expect_code(0));
    assert_eq!(clusters[0]["elected"], clusters[0]["representative"]);
    assert_eq!(clusters[0]["why"], "only one whose body is archived");
    let without = crawled(&["--no-warc"]).0;
    let clusters = objects(&without.run(["clusters", "out", "--json"]).finish().expect_code(0));
    assert_eq!((&clusters[0]["elected"], &clusters[0]["why"]), (&Value::Null, &Value::from("no body is archived")));
}

#[test]
fn clusters_of_the_demo_are_listed_and_a_closed_pipe_is_no_error() {
    let place = Place::new();
    place.run(["demo", "-q"]).finish().expect_code(0);
    let clusters = objects(&place.run(["clusters", "demo-out", "--json"]).finish().expect_code(0));
    let duplicates = pages_of(&place).iter().filter(|line| line["duplicate_of"].is_string()).count();
    let listed: usize = clusters.iter().map(|cluster| cluster["pages"].as_array().unwrap().len() - 1).sum();
    assert_eq!(listed, duplicates);
    let shown = |flags: &[&str]| {
        objects(&place.run(["clusters", "demo-out", "--json"].iter().chain(flags)).finish().expect_code(0))
    };
    assert_eq!(shown(&["--limit", "2"]), clusters[..2]);
    assert_eq!(shown(&["--host", "127.0.0.1"]), clusters);
    assert!(shown(&["--host", "a.test"]).is_empty());

    let sizes: Vec<usize> = clusters.iter().map(|cluster| cluster["pages"].as_array().unwrap().len()).collect();
    assert!(sizes.is_sorted_by(|one, other| one >= other), "{sizes:?}");

    let program = env!("CARGO_BIN_EXE_ndcrawl");
    let line = format!("set -o pipefail; {program} clusters demo-out | head -1");
    let output = output(Command::new("bash").args(["-c", &line]).current_dir(place.path("")));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

fn pages_of(place: &Place) -> Vec<Value> {
    crate::program::pages(&place.path("demo-out"))
}

#[test]
fn a_folder_without_clusters_or_with_a_broken_line_is_reported() {
    let place = Place::new();
    std::fs::create_dir(place.path("out")).unwrap();
    let empty = place.run(["clusters", "out"]).finish().expect_code(2);
    assert!(empty.stdout.is_empty() && empty.stderr.contains("hint: "), "{}", empty.stderr);
    place.write("out/pages.jsonl", "{\"url\":\"http://a.test/\",\"outcome\":\"stored\"}\n");
    let none = place.run(["clusters", "out"]).finish().expect_code(0);
    assert!(none.stdout.starts_with("No clusters: no duplicate among 1 page compared"), "{}", none.stdout);
    place.write("out/pages.jsonl", "{\"url\":\"http://a.test/\",\"outcome\":\"stored\"}\nnonsense\n");
    let broken = place.run(["clusters", "out"]).finish().expect_code(4);
    assert!(broken.stdout.is_empty() && broken.errors()[0].contains("pages.jsonl, line 2"), "{}", broken.stderr);
    place.run(["clusters", "out", "--min-mwo", "1.5"]).finish().expect_code(2);
}
