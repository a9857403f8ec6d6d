//! What people are told who mistyped something, came from another program, or got nowhere.

use std::sync::Arc;

use crate::graph::{Graph, Options};
use crate::program::{Finished, Place};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const SEED: &str = "http://127.0.0.1:9/";

#[track_caller]
fn assert_hint(finished: &Finished, hint: &str) {
    let hints: Vec<&str> = finished.stderr.lines().filter_map(|line| line.strip_prefix("hint: ")).collect();
    assert!(hints.iter().any(|told| told.contains(hint)), "'{hint}' is not in {hints:?}\n{}", finished.stderr);
}

#[test]
fn a_mistyped_line_is_answered_with_the_right_word() {
    let place = Place::new();
    place.write("pages.jsonl", "");
    for (line, hint) in [
        (&["--wait", "1", SEED][..], "--wait of another crawler: --delay DURATION"),
        (&["--level=3", SEED], "-d N"),
        (&["-list", "urls.txt"], "--seeds FILE"),
        (&["-depth", "3", SEED], "--depth"),
        (&["crwal", SEED], "ndcrawl crawl"),
        (&["statsu"], "ndcrawl status"),
        (&["exprot", "--format", "jsonl"], "ndcrawl export"),
        (&["export", "--format", "docx"], "ndcrawl export --help"),
        (&["-o", "pages.jsonl", SEED], "name a folder with -o DIR"),
    ] {
        assert_hint(&place.run(line).finish().expect_code(2), hint);
    }
    let refused = place.run(["ht!tp://foo"]).finish().expect_code(2);
    assert!(refused.stderr.contains("'ht!tp' is no scheme"), "{}", refused.stderr);
    let refused = place.run(["-t", "80", SEED]).finish().expect_code(2);
    assert!(refused.stderr.contains("80"), "{}", refused.stderr);
}

#[test]
fn a_threshold_of_zero_is_warned_of() {
    let place = Place::new();
    let arguments = ["-t", "0", "--retries", "0", "--allow-private", SEED];
    let weights_alone = ["--detector-option", "second_check=none"];
    let run = place.run(arguments).args(weights_alone).finish().expect_code(1);
    assert!(run.stderr.contains("warning: --threshold 0: nearly every page"), "{}", run.stderr);
    let run = place.run(arguments).args(["-o", "own-words"]).finish().expect_code(1);
    assert!(!run.stderr.contains("nearly every page"), "own words decide: {}", run.stderr);
}

#[test]
fn explain_finds_a_page_by_the_end_of_its_path() {
    let place = Place::new();
    place.run(["demo", "-o", "out", "-q"]).finish().expect_code(0);
    let url = place.pages().iter().filter_map(|line| line["url"].as_str().map(str::to_owned)).max().unwrap();
    let path = url.splitn(4, '/').nth(3).unwrap();
    for typed in [path.to_owned(), format!("http://elsewhere.test/{path}")] {
        assert_hint(&place.run(["explain", "out", &typed]).finish().expect_code(2), &url);
    }
}

#[test]
fn explain_looks_in_the_folder_that_a_crawl_takes() {
    let place = Place::new();
    place.run(["demo", "-o", "ndcrawl-out", "-q"]).finish().expect_code(0);
    let pages = crate::program::pages(&place.path("ndcrawl-out"));
    let url = pages[0]["url"].as_str().unwrap();
    let told = place.run(["explain", url]).finish().expect_code(0).stdout;
    assert_eq!(
        told,
        place
            .run(["explain", "ndcrawl-out", url])
            .finish()
            .expect_code(0)
            .stdout
            .replace("ndcrawl-out", "./ndcrawl-out")
    );
    place.run(["explain", url, url, "--all"]).finish().expect_code(0);
    assert_hint(&place.run(["explain", "ndcrawl-out"]).finish().expect_code(2), "ndcrawl explain DIR URL");
}

#[test]
fn the_folder_of_somebody_else_is_not_filled() {
    let place = Place::new();
    std::fs::create_dir(place.path("site")).unwrap();
    place.write("site/index.html", "<p>mine</p>");
    for folder in ["site", "."] {
        let refused = place.run([SEED, "-o", folder]).finish().expect_code(5);
        assert_hint(&refused, "name a new folder");
        assert!(refused.stderr.contains("holds no crawl but '"), "{}", refused.stderr);
    }
    assert_eq!(place.names(), ["site"]);
    // What file systems and tools leave behind is nobody's.
    std::fs::create_dir_all(place.path("new/lost+found")).unwrap();
    place.write("new/.gitkeep", "");
    place.run(["demo", "-q", "-o", "new"]).finish().expect_code(0);
}

#[test]
fn a_file_or_a_folder_is_no_seed() {
    let place = Place::new();
    std::fs::create_dir(place.path("site")).unwrap();
    place.write("site/index.html", "<p>mine</p>");
    for path in ["./site", "site/index.html", "/etc/hostname"] {
        let refused = place.run([path]).finish().expect_code(2);
        assert!(refused.stderr.contains("a path, not a URL: ndcrawl dedup"), "{path}: {}", refused.stderr);
    }
    let refused = place.run(["--seeds", env!("CARGO_BIN_EXE_ndcrawl")]).finish().expect_code(2);
    assert!(refused.stderr.contains(": no text"), "{}", refused.stderr);
}

#[test]
fn too_many_duplicates_have_an_exit_code_of_their_own() {
    let place = Place::new();
    let row = |n: u32| format!("{{\"id\":{n},\"text\":\"{}\"}}\n", sentences(&words_of(n.into(), "gate", 60)));
    place.write("rows.jsonl", &[row(1), row(2), row(2).replace("\"id\":2", "\"id\":3"), row(4)].concat());
    let gate =
        |rate: &str, out: &str| place.run(["dedup", "rows.jsonl", "-o", out, "--max-duplicate-rate", rate]).finish();
    gate("25", "enough").expect_code(0);
    let run = gate("24.9", "too-many").expect_code(9);
    let told = "error: 25.0% of 4 pages compared are duplicates, more than --max-duplicate-rate 24.9%";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

/// A page all of whose links leave its host.
struct Portal;

impl Content for Portal {
    fn answer(&self, url: &str, _: usize) -> Answer {
        if !url.ends_with('/') {
            return Answer::error(404);
        }
        let links: String = (0..12).map(|n| format!("<a href='http://n{n}.test/'>{n}</a> ")).collect();
        Answer::html(format!("<title>Portal</title><p>{}</p>{links}", sentences(&words_of(1, "portal", 80))))
    }
}

#[test]
fn a_crawl_of_one_page_says_that_every_link_was_out_of_scope() {
    let web = Web::start(1, |_| Arc::new(Portal));
    let place = Place::new();
    let run = place.crawl(&[format!("{}/", web.origins()[0])]).finish().expect_code(0);
    assert_hint(&run, "no further than its seeds: 12 URLs out of scope (--scope host); --scope domain");
}

#[test]
fn a_topic_that_no_page_speaks_of_is_named_at_the_end() {
    let mut seeds = Vec::new();
    let web = Web::start(1, |origins| {
        let graph = Graph::new(origins, Options { pages: 12, ..Options::default() });
        seeds = graph.seeds();
        Arc::new(graph)
    });
    let place = Place::new();
    let run = place.crawl(&seeds).args(["--focus", "asdkjh qwe"]).finish().expect_code(0);
    assert_hint(&run, "no page has a word of the topic 'asdkjh qwe'");
    assert!(web.pages_asked() > 0);
}
