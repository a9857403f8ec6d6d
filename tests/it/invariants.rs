//! Invariants of every crawl, however it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::foreign::run;
use crate::graph::{Expected, Graph};
use crate::needs::{Program, has_for_part, tool};
use crate::program::{Place, pages};

/// The lines of `pages.jsonl` by URL.
pub type Lines = BTreeMap<String, Value>;

/// Reads the lines; each URL must have one.
pub fn lines(out: &Path) -> Lines {
    let mut lines = Lines::new();
    for line in pages(out) {
        let url = text(&line, "url").to_owned();
        assert!(lines.insert(url.clone(), line).is_none(), "two lines for {url}");
    }
    lines
}

/// A text field of a line; empty if it is missing.
pub fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}

pub fn outcome(line: &Value) -> &str {
    text(line, "outcome")
}

/// The URLs with this outcome.
pub fn with_outcome<'a>(lines: &'a Lines, name: &str) -> BTreeSet<&'a str> {
    lines.iter().filter(|(_, line)| outcome(line) == name).map(|(url, _)| url.as_str()).collect()
}

/// Checks that every duplicate names a stored page, and every near-duplicate its score.
pub fn assert_duplicates_name_stored_pages(lines: &Lines) {
    let stored = with_outcome(lines, "stored");
    for (url, line) in lines {
        let of = line.get("duplicate_of").and_then(Value::as_str);
        if !outcome(line).ends_with("-duplicate") {
            assert_eq!(of, None, "{url} is no duplicate: {line}");
            continue;
        }
        assert!(of.is_some_and(|of| stored.contains(of)), "{url} does not name a stored page: {line}");
        if outcome(line) == "near-duplicate" {
            let score = line["score"].as_f64().unwrap_or_default();
            assert!((0.8..=1.0).contains(&score), "{url}: {line}");
        }
    }
}

/// Checks that planted copies are stored once, and that duplicates name their original.
pub fn assert_planted_copies_meet(lines: &Lines, graph: &Graph) {
    let mut kept = BTreeMap::new();
    for url in with_outcome(lines, "stored") {
        if let Some(other) = kept.insert(graph.original(url), url) {
            panic!("{url} and {other} are both stored");
        }
    }
    for (url, line) in lines.iter().filter(|(_, line)| outcome(line).ends_with("-duplicate")) {
        assert_eq!(text(line, "duplicate_of"), graph.original(url), "{line}");
    }
}

/// Checks that the lines equal the plan of the web, URL by URL.
pub fn assert_as_expected(lines: &Lines, expected: &BTreeMap<String, Expected>) {
    let mut wrong = String::new();
    for (url, expected) in expected {
        match lines.get(url) {
            None => writeln!(wrong, "no line for {url}, expected {expected:?}").unwrap(),
            Some(line) if !agrees(line, expected) => writeln!(wrong, "{line}\n    expected {expected:?}").unwrap(),
            Some(_) => {}
        }
    }
    for (url, line) in lines.iter().filter(|(url, _)| !expected.contains_key(*url)) {
        writeln!(wrong, "unexpected line for {url}: {line}").unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn agrees(line: &Value, expected: &Expected) -> bool {
    // A redirect loop may also count as a failure.
    let looping = text(line, "url").contains("/loop/") && outcome(line) == "failed";
    (outcome(line) == expected.outcome || looping)
        && expected.reason.is_none_or(|reason| text(line, "reason") == reason)
}

/// Checks that `ndcrawl verify` and readers of other projects find no fault. Where own words were compared, what is lost is
/// counted again.
pub fn assert_folder_is_sound(place: &Place) {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(place.path("out/crawl.json")).unwrap()).unwrap();
    let has_own_words = ["dedup.detector", "dedup.second_check"].map(|key| file["settings"][key].as_str().unwrap())
        == ["mwo", "own-words"];
    let loss = if has_own_words { &["--loss"][..] } else { &[] };
    place.run(["verify", "out"]).args(loss).finish().expect_code(0);
    let mut archives: Vec<_> =
        std::fs::read_dir(place.path("out/warc")).unwrap().map(|entry| entry.unwrap().path()).collect();
    archives.sort();
    assert!(!archives.is_empty());
    for archive in &archives {
        assert!(archive.to_string_lossy().ends_with(".warc.gz"), "{} is still open", archive.display());
    }
    if has_for_part(&[Program("python3")]) {
        run(Command::new("python3").arg(tool("warc_check.py")).args(&archives));
    }
    if has_for_part(&[Program("warcio")]) {
        run(Command::new("warcio").arg("check").args(&archives));
    }
}
