//! Crawls that compare with the pages of earlier crawls.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::program::{Place, Run, pages};
use crate::web::{Answer, Content, Web};
use crate::words::words_of;

const PAGES: usize = 12;

/// A site whose pages change: a third stays the same, a third becomes a near-duplicate, a third is rewritten.
struct Changing {
    has_changed: Arc<AtomicBool>,
}

impl Content for Changing {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let links: String = (0..PAGES).map(|page| format!("<a href=/{page}>{page}</a> ")).collect();
        let Ok(number) = path.parse::<usize>() else {
            return if path.is_empty() { Answer::html(links) } else { Answer::error(404) };
        };
        let has_changed = self.has_changed.load(Ordering::SeqCst);
        let mut words = words_of(number as u64, "as it was", 80);
        match number % 3 {
            1 if has_changed => words[7] = "changed".to_owned(),
            2 if has_changed => words = words_of(number as u64, "as it is", 80),
            _ => {}
        }
        Answer::html(format!("<!doctype html><html lang=en><p>{}</p>{links}</html>", words.join(" ")))
    }
}

/// A site that was crawled into the folder `out` and has changed since.
fn changed() -> (Web, Place) {
    let has_changed = Arc::new(AtomicBool::new(false));
    let web = Web::start(1, |_| Arc::new(Changing { has_changed: has_changed.clone() }));
    let place = Place::new();
    place.crawl(&seeds(&web)).finish().expect_code(0);
    has_changed.store(true, Ordering::SeqCst);
    (web, place)
}

fn seeds(web: &Web) -> [String; 1] {
    [format!("{}/", web.origins()[0])]
}

/// The crawl of the changed site into the folder `new`.
fn again(place: &Place, web: &Web) -> Run {
    place.crawl(&seeds(web)).args(["-o", "new", "--against", "out", "--duplicate-links", "follow"])
}

fn number(line: &Value) -> Option<usize> {
    line["url"].as_str().unwrap().rsplit('/').next().unwrap().parse().ok()
}

/// The outcome of each page of the changed site, the page that it repeats and that page's folder.
fn told(lines: &[Value]) -> BTreeMap<usize, (String, Option<String>, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let tell =
        |line: &Value| (text(&line["outcome"]).unwrap(), text(&line["duplicate_of"]), text(&line["duplicate_in"]));
    lines.iter().filter_map(|line| Some((number(line)?, tell(line)))).collect()
}

fn expected(web: &Web) -> BTreeMap<usize, (String, Option<String>, Option<String>)> {
    let of = |page: usize| (Some(format!("{}/{page}", web.origins()[0])), Some("out".to_owned()));
    let expected = |page: usize| match page % 3 {
        0 => ("exact-duplicate".to_owned(), of(page).0, of(page).1),
        1 => ("near-duplicate".to_owned(), of(page).0, of(page).1),
        _ => ("stored".to_owned(), None, None),
    };
    (0..PAGES).map(|page| (page, expected(page))).collect()
}

/// All files of a folder except those that a reader of the store may change.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap().is_dir() {
            true if name == "store" => {}
            true => {
                found.extend(contents(&entry.path()).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)))
            }
            false if name == "ndcrawl.lock" => {}
            false => drop(found.insert(name, fs::read(entry.path()).unwrap())),
        }
    }
    found
}

#[test]
fn pages_of_an_earlier_crawl_are_not_stored_again() {
    let (web, place) = changed();
    let before = contents(&place.path("out"));
    let crawled = again(&place, &web).finish().expect_code(0);
    let lines = pages(&place.path("new"));
    assert_eq!(told(&lines), expected(&web), "{}", crawled.stderr);
    assert_eq!(contents(&place.path("out")), before);
    for folder in ["out", "new"] {
        place.run(["verify", folder]).finish().expect_code(0);
    }

    let url = format!("{}/1", web.origins()[0]);
    let explained = place.run(["explain", "new", &url]).finish().expect_code(0).stdout;
    assert!(explained.contains(&format!("it duplicates {url} of the earlier crawl in out")), "{explained}");
    assert!(explained.contains("compared with the pages stored in out"), "{explained}");
    let clusters = place.run(["clusters", "new"]).finish().expect_code(0).stdout;
    assert!(clusters.contains(&format!("\n{url} of the earlier crawl in out\n")), "{clusters}");
    place.run(["report", "new"]).finish().expect_code(0);
    let exported = place.run(["export", "new", "--format", "jsonl", "-o", "-"]).finish().expect_code(0);
    assert_eq!(exported.stdout.lines().count(), PAGES / 3, "{}", exported.stdout);
}

#[test]
fn a_crawl_that_was_stopped_goes_on_against_the_same_pages_only() {
    let (web, place) = changed();
    for most in ["4", "7"] {
        again(&place, &web).args(["--max-pages", most]).finish().expect_code(0);
    }
    let alone = place.crawl(&seeds(&web)).args(["-o", "new", "--duplicate-links", "follow"]).finish().expect_code(5);
    assert!(alone.errors()[0].contains("dedup.against") && alone.stderr.contains("hint: "), "{}", alone.stderr);
    again(&place, &web).args(["--max-pages", "0"]).finish().expect_code(0);
    assert_eq!(told(&pages(&place.path("new"))), expected(&web));
    place.run(["verify", "new"]).finish().expect_code(0);

    // Resuming the earlier crawl would change the pages to compare with.
    place.crawl(&[format!("{}/{PAGES}", web.origins()[0])]).args(["--add"]).finish().expect_code(0);
    let changed = again(&place, &web).finish();
    assert_eq!(changed.code, Some(5), "{}", changed.stderr);
}

#[test]
fn a_crawl_that_was_killed_goes_on_against_the_same_pages() {
    let (web, place) = changed();
    let lines = || fs::read_to_string(place.path("new/pages.jsonl")).is_ok_and(|text| text.lines().count() > 2);
    // Slow enough to be killed midway: it commits at least once a second.
    let slow = ["--host-concurrency", "1", "--delay", "300ms"];
    let mut running = again(&place, &web).args(slow).start();
    assert!(running.wait_until(lines), "it ended before it was killed");
    running.kill();
    again(&place, &web).finish().expect_code(0);
    assert_eq!(told(&pages(&place.path("new"))), expected(&web));
    place.run(["verify", "new"]).finish().expect_code(0);
}

#[test]
fn unusable_reference_folders_are_refused() {
    let (web, place) = changed();
    let refused = |flags: &[&str], code: i32, why: &str| {
        let run = place.crawl(&seeds(&web)).args(["-o", "new"]).args(flags).finish().expect_code(code);
        assert!(run.errors()[0].contains(why) && run.stderr.contains("hint: "), "{}", run.stderr);
        assert!(!place.path("new").exists());
    };
    refused(&["--against", "nowhere"], 2, "nowhere: cannot read the pages to compare with");
    refused(&["--against", "out", "--field-weights", "title=1"], 2, "rendered differently");
    refused(&["--against", "out", "--min-terms", "3"], 2, "dedup.min_terms = 20");
    let own = place.crawl(&seeds(&web)).args(["--against", "out"]).finish().expect_code(2);
    assert!(own.errors()[0].contains("the output folder itself"), "{}", own.stderr);
}

#[test]
fn dedup_compares_with_an_earlier_crawl() {
    let (web, place) = changed();
    let archive = place.path("out/warc");
    let flags = ["-o", "judged", "--against", "out", "--detector-option", "second_check=none"];
    place.run(["dedup".as_ref(), archive.as_os_str()]).args(flags).finish().expect_code(0);
    let lines = pages(&place.path("judged"));
    for line in lines.iter().filter(|line| number(line).is_some()) {
        assert_eq!(
            (line["outcome"].as_str(), line["duplicate_in"].as_str()),
            (Some("exact-duplicate"), Some("out")),
            "{line}"
        );
        assert_eq!(line["duplicate_of"], line["url"]);
    }
    assert!(lines.len() > PAGES, "{lines:?}");
    place.run(["verify", "judged"]).finish().expect_code(0);
    drop(web);
}
