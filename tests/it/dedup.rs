//! Deduplicating pages that a crawl, or another program, fetched before.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;

use crate::foreign::output;
use crate::graph::{Graph, Options};
use crate::invariants::{assert_folder_is_sound, lines};
use crate::needs::{Program, has_all};
use crate::program::{BY_WEIGHTS, Place};
use crate::web::Web;

/// A finished crawl that kept the bodies of all pages.
fn crawled() -> Place {
    let mut graph = None;
    let web = Web::start(2, |origins| {
        let planned = Arc::new(Graph::new(origins, Options { pages: 150, ..Options::default() }));
        graph = Some(Arc::clone(&planned));
        planned
    });
    let place = Place::new();
    place
        .crawl(&graph.unwrap().seeds())
        .args(["--keep-duplicates", "--duplicate-links", "follow"])
        .finish()
        .expect_code(0);
    drop(web);
    place
}

fn dedup(place: &Place, input: &str, out: &str) -> crate::program::Run {
    place.run([
        "dedup",
        input,
        "-o",
        out,
        "--detector-option",
        "second_check=none",
        "-t",
        "0.8",
        "--min-free",
        "0",
        "--json",
    ])
}

/// The verdict on each compared page: outcome, the page it repeats, the score.
fn verdicts(place: &Place, out: &str) -> BTreeMap<String, (String, Value, Value)> {
    let judged = lines(&place.path(out)).into_iter().filter(|(_, line)| {
        ["stored", "near-duplicate", "exact-duplicate"].contains(&line["outcome"].as_str().unwrap_or_default())
    });
    let verdict = |line: &Value| {
        (line["outcome"].as_str().unwrap_or_default().to_owned(), line["duplicate_of"].clone(), line["score"].clone())
    };
    judged.map(|(url, line)| (url, verdict(&line))).collect()
}

fn archives(place: &Place) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place.path("out/warc")).unwrap();
    let mut archives: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    archives.sort();
    archives
}

fn summary(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn dedup_of_an_archive_repeats_the_verdicts_of_its_crawl() {
    let place = crawled();
    let finished = dedup(&place, "out/warc", "again").finish().expect_code(0);
    assert_eq!(verdicts(&place, "again"), verdicts(&place, "out"));
    place.run(["verify", "again"]).finish().expect_code(0);
    let told = summary(&finished.stdout);
    assert_eq!(told["damaged"], 0, "{told}");
    assert_eq!(told["answers"], verdicts(&place, "out").len(), "{told}");

    // A second run has nothing left to do.
    let told = summary(&dedup(&place, "out/warc", "again").finish().expect_code(0).stdout);
    assert_eq!(told["known"], told["answers"], "{told}");
    place.run(["verify", "again"]).finish().expect_code(0);
    // A crawl in that folder is refused, and vice versa.
    place.run(["http://127.0.0.1:1/", "-o", "again"]).finish().expect_code(5);
    dedup(&place, "out/warc", "out").finish().expect_code(5);
}

#[test]
fn verdicts_do_not_depend_on_threads_and_files_may_come_one_by_one() {
    let place = crawled();
    // The archive as one uncompressed stream, as other crawlers write it, and cut in two.
    let mut text = Vec::new();
    for archive in archives(&place) {
        let file = std::fs::File::open(archive).unwrap();
        std::io::copy(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
    }
    let middle = text.len() / 2;
    let cut =
        middle + text[middle..].windows(11).position(|window| window.starts_with(b"\r\n\r\nWARC/1.")).unwrap() + 4;
    std::fs::write(place.path("first.warc"), &text[..cut]).unwrap();
    std::fs::write(place.path("second.warc"), &text[cut..]).unwrap();
    dedup(&place, "first.warc", "apart").finish().expect_code(0);
    place
        .run([
            "dedup",
            "first.warc",
            "second.warc",
            "-o",
            "apart",
            "--detector-option",
            "second_check=none",
            "-t",
            "0.8",
            "--min-free",
            "0",
        ])
        .finish()
        .expect_code(0);
    assert_eq!(verdicts(&place, "apart"), verdicts(&place, "out"));
    place.run(["verify", "apart"]).finish().expect_code(0);
}

#[test]
fn folders_and_json_lines_are_read_and_damage_is_reported() {
    let place = Place::new();
    let words = |from: usize| (from..from + 60).map(|word| format!("word{word} ")).collect::<String>();
    std::fs::create_dir(place.path("site")).unwrap();
    place.write("site/a.html", &format!("<title>A</title><p>{}", words(0)));
    place.write("site/b.html", &format!("<title>B</title><p>{}", words(1)));
    place.write("site/c.txt", &words(500));
    place.write("site/picture.png", "GIF89a");
    let row = |url: &str, field: &str, text: &str| format!("{}\n", serde_json::json!({"url": url, field: text}));
    let rows = [
        row("http://a.test/", "content", &format!("<p>{}", words(0))),
        row("http://a.test/", "content", "again"),
        "nonsense\n".to_owned(),
    ];
    place.write("rows.jsonl", &rows.concat());
    let finished = place
        .run(["dedup", "site", "rows.jsonl", "--html-field", "content", "--base", "http://docs.test/x", "-o", "out"])
        .args(["--detector-option", "second_check=none", "-t", "0.8", "--min-free", "0", "--json"])
        .finish()
        .expect_code(0);
    let said = verdicts(&place, "out");
    let outcome = |url: &str| said[url].0.as_str();
    assert_eq!(outcome("http://docs.test/x/a.html"), "stored");
    assert_eq!(
        (outcome("http://docs.test/x/b.html"), outcome("http://docs.test/x/c.txt")),
        ("near-duplicate", "stored")
    );
    assert_eq!(outcome("http://a.test/"), "near-duplicate");
    let told = summary(&finished.stdout);
    assert_eq!(
        (&told["repeated"], &told["damaged"], &told["ignored_files"]),
        (&1.into(), &1.into(), &1.into()),
        "{told}"
    );
    assert!(finished.stderr.contains("rows.jsonl, line 3"), "{}", finished.stderr);
    assert_folder_is_sound(&place);
    place.run(["dedup", "nowhere", "-o", "x"]).finish().expect_code(2);
}

#[test]
fn dedup_of_a_parquet_file_repeats_the_verdicts_of_its_crawl() {
    let place = crawled();
    place
        .run(["export", "out", "--format", "parquet", "--html", "-o", "pages.parquet"])
        .args(["--outcome", "stored,near-duplicate,exact-duplicate"])
        .finish()
        .expect_code(0);
    let told = summary(&dedup(&place, "pages.parquet", "again").finish().expect_code(0).stdout);
    assert_eq!((&told["damaged"], &told["answers"]), (&0.into(), &verdicts(&place, "out").len().into()), "{told}");
    assert_eq!(verdicts(&place, "again"), verdicts(&place, "out"));
    // Its footer is at its end: a stream is copied first.
    dedup(&place, "-", "stream").reading(&place.path("pages.parquet")).finish().expect_code(0);
    assert_eq!(verdicts(&place, "stream"), verdicts(&place, "out"));
}

#[test]
#[cfg_attr(not(has_wget), ignore = "needs wget")]
fn an_archive_of_wget_gets_the_verdicts_of_a_crawl_in_the_same_order() {
    if !has_all(&[Program("wget")]) {
        return;
    }
    let mut graph = None;
    let web = Web::start(1, |origins| {
        let planned = Arc::new(Graph::new(origins, Options { pages: 120, ..Options::default() }));
        graph = Some(Arc::clone(&planned));
        planned
    });
    let place = Place::new();
    let mut wget = Command::new("wget");
    wget.current_dir(place.path("")).env("no_proxy", "*").args(["-q", "-r", "-l", "inf", "-nd", "--delete-after"]);
    // Some pages come compressed, requested or not.
    wget.arg("--compression=auto");
    // Its exit code reports dead links.
    output(wget.args(["--timeout=20", "--tries=2", "--warc-file=wget"]).args(graph.unwrap().seeds()));
    let told = summary(&dedup(&place, "wget.warc.gz", "apart").finish().expect_code(0).stdout);
    assert_eq!(told["damaged"], 0, "{told}");

    let judged = |line: &Value| line["outcome"] == "stored" || !line["duplicate_of"].is_null();
    let pages = crate::program::pages(&place.path("apart"));
    let seeds: Vec<&str> = pages.iter().filter(|line| judged(line)).filter_map(|line| line["url"].as_str()).collect();
    assert!(seeds.len() > 100, "{told}");
    place.write("seeds.txt", &seeds.join("\n"));
    place
        .run(["--seeds", "seeds.txt", "-o", "out", "--delay", "0", "--ip-delay", "0", "--allow-private"])
        .args(["--depth", "0", "--concurrency", "1", "--host-concurrency", "1", "--ignore-robots"])
        .args(BY_WEIGHTS)
        .args(["-t", "0.8"])
        .finish()
        .expect_code(0);
    drop(web);
    let crawled: Vec<Value> = place.pages().into_iter().filter(judged).collect();
    assert_eq!(seeds, crawled.iter().map(|line| line["url"].as_str().unwrap()).collect::<Vec<_>>());
    assert_eq!(verdicts(&place, "apart"), verdicts(&place, "out"));
}
