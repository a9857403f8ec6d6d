//! What several workers decide again at the end of a manifest: as one process does it, whoever dies.

use std::collections::BTreeMap;

use ndcrawl::cluster::{Connector, CrawlName, ReplayOptions, check_log, open};
use ndcrawl::detect::Options;
use ndcrawl::model::{Detector, Threshold};
use serde_json::{Value, json};

use super::dedup::{LEASE, dedup, files, verdict_lines, write_record};
use super::revisions::{PAGES, POSTS, Sites};
use super::servers::LocalServers;
use crate::better_place::{LIKE, assert_all_but_the_list_are_kept, list_post_and_page_like_the_list};
use crate::invariants::lines;
use crate::program::Place;
use crate::words::words_of;

const INPUTS: usize = 4;

/// Lists that hold posts, the posts, and a manual whose pages look like copies until its template is known, with their
/// URLs.
fn pages() -> Vec<(String, String)> {
    let of_site = |host: &str, path: String| (format!("http://{host}/{path}"), Sites::html(host, &path, "80").unwrap());
    let manual = pages_of_manual(PAGES).into_iter();
    let tags = (0..POSTS).map(|number| of_site("tags.test", format!("tag/{number}")));
    let posts = (0..POSTS).map(|number| of_site("posts.test", format!("post/{number}")));
    let behind = (0..PAGES).map(|number| of_site("manual.test", format!("behind{number}")));
    manual.chain(tags).chain(posts).chain(behind).collect()
}

/// The first pages of the manual.
fn pages_of_manual(count: usize) -> Vec<(String, String)> {
    let page =
        |number: String| (format!("http://manual.test/{number}"), Sites::html("manual.test", &number, "80").unwrap());
    (0..count).map(|number| page(number.to_string())).collect()
}

fn records(input: usize, pages: &[(String, String)]) -> String {
    pages.iter().enumerate().map(|(number, (url, html))| write_record(url, input, number, html)).collect()
}

/// A place with these pages in several inputs, and the manifest of them.
fn place() -> Place {
    let (place, pages) = (Place::new(), pages());
    let mut names = String::new();
    for (input, pages) in pages.chunks(pages.len().div_ceil(INPUTS)).enumerate() {
        place.write(&format!("in{input}.warc"), &records(input, pages));
        names += &format!("in{input}.warc\n");
    }
    place.write("manifest", &names);
    place
}

fn by_url(lines: Vec<Value>) -> BTreeMap<String, Value> {
    lines.into_iter().map(|line| (line["url"].as_str().unwrap().to_owned(), line)).collect()
}

/// Checks that the log is what one process decides, with its questions.
async fn assert_sound(crawl: &str, threshold: Threshold) {
    let session = Connector::new(LocalServers::shared().address()).connect().await.unwrap();
    let crawl = open(&session, &CrawlName::parse(crawl).unwrap()).await.unwrap();
    let options = Options { threshold, ..Options::of(Detector::Mwo) };
    let check = check_log(&session, &crawl, ReplayOptions::all(options)).await.unwrap();
    assert!(check.is_sound() && check.replay.questions > 1, "{check:?}");
    assert_eq!(check.uncompleted, 0, "pages of inputs are in no log of a slot");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_revise_what_one_process_does() {
    let place = place();
    for workers in 1..=3 {
        let (crawl, out) = (format!("revised_by_{workers}"), format!("out{workers}"));
        let told = dedup(&place, &crawl, &out, "manifest", workers).finish().expect_code(0).stdout;
        assert!(told.contains("decided again: more was known by then"), "{told}");
    }
    // Nothing is kept of what was read, and so it is read again.
    let flags = ["--min-free", "9000000G"];
    dedup(&place, "revised_reading", "read-again", "manifest", 2).args(flags).finish().expect_code(0);
    let written = files(&place.path("out1"));
    assert_eq!(files(&place.path("read-again")), written);
    assert_eq!(written.len(), 2 * INPUTS, "{:?}", written.keys());
    for workers in 2..=3 {
        assert_eq!(files(&place.path(&format!("out{workers}"))), written, "{workers} workers");
    }
    assert_sound("revised_by_2", Options::of(Detector::Mwo).threshold).await;

    let inputs = (0..INPUTS).map(|input| format!("in{input}.warc"));
    let flags = ["--no-config", "--progress=none", "--min-free=0"];
    place.run(["dedup", "-o", "alone"]).args(flags).args(inputs).finish().expect_code(0);
    let (shared, alone) =
        (by_url(verdict_lines(&written)), by_url(lines(&place.path("alone")).into_values().collect()));
    assert!(shared.keys().eq(alone.keys()), "the same URLs have lines");
    for (url, line) in &shared {
        for key in ["outcome", "duplicate_of"] {
            assert_eq!(line.get(key), alone[url].get(key), "{url}: {line}, alone {}", alone[url]);
        }
    }
    let revised = |lines: &BTreeMap<String, Value>| lines.values().filter(|line| !line["revised"].is_null()).count();
    assert!(
        revised(&shared) > 2 * POSTS as usize && revised(&alone) > 2 * POSTS as usize,
        "there is more than exchange"
    );
    let (tag, post) = (&shared["http://tags.test/tag/3"], &shared["http://posts.test/post/3"]);
    assert_eq!((&post["outcome"], &post["revised"]["reason"]), (&json!("stored"), &json!("better-place")), "{post}");
    assert_eq!(post["revised"]["duplicate_of"], tag["url"], "{post}");
    assert_eq!((&tag["outcome"], &tag["duplicate_of"]), (&json!("near-duplicate"), &post["url"]), "{tag}");
    assert_eq!(tag["revised"], json!({ "outcome": "stored", "reason": "displaced" }));

    // Kept pages are those of the last verdicts.
    let kept: Vec<Value> = written
        .iter()
        .filter(|(name, _)| name.ends_with(".kept.jsonl"))
        .flat_map(|(_, text)| text.lines().map(|line| serde_json::from_str(line).unwrap()))
        .collect();
    let stored = shared.values().filter(|line| line["outcome"] == "stored");
    assert!(by_url(kept).keys().eq(stored.map(|line| line["url"].as_str().unwrap())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn what_was_like_a_displaced_page_only_is_kept() {
    let (place, pages) = (Place::new(), (0..POSTS).flat_map(list_post_and_page_like_the_list).collect::<Vec<_>>());
    place.write("in0.warc", &records(0, &pages));
    place.write("manifest", "in0.warc\n");
    dedup(&place, "like_the_list", "out", "manifest", 2).args([LIKE]).finish().expect_code(0);
    let lines = by_url(verdict_lines(&files(&place.path("out"))));
    (0..POSTS).for_each(|number| assert_all_but_the_list_are_kept(&lines, number));
    assert_sound("like_the_list", Threshold::from_millionths(950_000).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_killed_during_a_second_look_lose_nothing() {
    let place = place();
    dedup(&place, "look_whole", "whole", "manifest", 1).finish().expect_code(0);
    let whole = files(&place.path("whole"));
    let again = format!("leased:{}", INPUTS + 2);
    let (kept, done) = (format!("kept:{}", INPUTS + 1), format!("done:{}", INPUTS + 1));
    for point in ["questions", "questions:2", "revisions", "looked", &again, &kept, &done] {
        let (crawl, out) = (format!("look_killed_at_{}", point.replace(':', "_")), format!("out-{point}"));
        let killed = dedup(&place, &crawl, &out, "manifest", 1).env("TEST_NDCRAWL_ABORT_AT", point).finish();
        assert_eq!(killed.signal, Some(6), "{point}: {}", killed.stderr);
        assert_ne!(files(&place.path(&out)), whole, "{point}");
        dedup(&place, &crawl, &out, "manifest", 2).finish().expect_code(0);
        assert_eq!(files(&place.path(&out)), whole, "{point}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn what_an_earlier_manifest_has_kept_stays_kept() {
    let place = place();
    // The lists come with the first manifest, the posts with the second.
    for (input, host) in ["tags.test", "posts.test"].into_iter().enumerate() {
        let pages: Vec<(String, String)> = pages().into_iter().filter(|(url, _)| url.contains(host)).collect();
        place.write(&format!("{host}.warc"), &records(input, &pages));
        place.write(host, &format!("{host}.warc\n"));
        dedup(&place, "looked_twice", "out", host, 1).finish().expect_code(0);
    }
    assert_sound("looked_twice", Options::of(Detector::Mwo).threshold).await;
    let written = files(&place.path("out"));
    let names: Vec<&str> = written.keys().map(String::as_str).collect();
    let expected = ["000000.kept.jsonl", "000000.verdicts.jsonl", "000001.kept.jsonl", "000001.verdicts.jsonl"];
    assert_eq!(names, expected, "inputs have numbers without gaps");
    for line in verdict_lines(&written) {
        let is_list = line["url"].as_str().unwrap().contains("tags.test");
        let outcome = if is_list { "stored" } else { "near-duplicate" };
        assert_eq!((&line["outcome"], &line["revised"]), (&json!(outcome), &Value::Null), "{line}");
    }
    // The control: in one manifest they change places.
    place.write("both", "tags.test.warc\nposts.test.warc\n");
    dedup(&place, "looked_once", "both-out", "both", 1).finish().expect_code(0);
    let lines = verdict_lines(&files(&place.path("both-out")));
    let exchanged = lines.iter().filter(|line| line["revised"]["reason"] == "displaced").count();
    assert_eq!(exchanged, POSTS as usize);
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn a_worker_that_waits_for_a_look_takes_it_over() {
    let place = place();
    let killed = dedup(&place, "look_free", "out", "manifest", 1).env("TEST_NDCRAWL_ABORT_AT", "questions").finish();
    assert_eq!(killed.signal, Some(6), "{}", killed.stderr);
    // The look belongs to the dead run for a while, and a worker of a further manifest takes as many inputs as it may.
    let further: String = (0..6).map(|input| format!("further{input}.warc\n")).collect();
    for (input, name) in further.lines().enumerate() {
        place.write(name, &records(10 + input, &[(format!("http://f{input}.test/"), format!("<p>further {input}"))]));
    }
    place.write("further", &further);
    let ended = dedup(&place, "look_free", "out", "further", 1).args(["--json"]).finish().expect_code(0).json();
    assert_eq!((&ended["done"], &ended["complete"]), (&json!(6), &json!(true)), "{ended}, with leases of {LEASE}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_stop_before_a_look_has_ended_says_that_files_may_change() {
    let (place, servers) = (place(), LocalServers::shared());
    let killed = dedup(&place, "look_stopped", "out", "manifest", 1).env("TEST_NDCRAWL_ABORT_AT", "questions").finish();
    assert_eq!(killed.signal, Some(6), "{}", killed.stderr);
    // So a further worker waits for the look, and has nothing else to do.
    let session = Connector::new(servers.address()).connect().await.unwrap();
    let kept = "SET search_path = nd_look_stopped; UPDATE run SET until = clock_timestamp() + interval '1 h'";
    session.client().batch_execute(kept).await.unwrap();
    let of_crawl = [&*servers.url(), "--cluster-name", "look_stopped"];
    let status = || place.run(["status"]).args(of_crawl).finish().expect_code(0).stdout;
    let mut worker = dedup(&place, "look_stopped", "out", "manifest", 1).start();
    assert!(worker.wait_until(|| status().contains("2 workers")), "{}", worker.stderr());
    assert!(status().contains("4 of 4 inputs done\nthe second look at a manifest is under way\n"), "{}", status());
    place.run(["cluster", "stop"]).args(of_crawl).finish().expect_code(0);
    let told = worker.finish().expect_code(143).stdout;
    assert!(told.contains("4 of 4 inputs done"), "{told}");
    let says = "Stopped before the end: the same command goes on.\nUntil it has ended, a second look may change";
    assert!(told.contains(says), "{told}");

    let freed = "UPDATE run SET until = clock_timestamp()";
    session.client().batch_execute(freed).await.unwrap();
    let told = dedup(&place, "look_stopped", "out", "manifest", 1).finish().expect_code(0).stdout;
    assert!(told.contains("4 of 4 inputs done") && !told.contains("Stopped"), "{told}");
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn an_input_that_has_grown_before_it_is_written_again_is_told() {
    let more = records(9, &[("http://more.test/".to_owned(), words_of(900, "more", 90).join(" "))]);
    // Pages are sent in chunks: the one more may lie in the last one or make another.
    for (crawl, pages) in [("look_grown", 22), ("look_grown_by_a_chunk", 16)] {
        let place = place();
        place.write("in0.warc", &records(0, &pages_of_manual(pages)));
        let killed = dedup(&place, crawl, "out", "manifest", 1).env("TEST_NDCRAWL_ABORT_AT", "looked").finish();
        assert_eq!(killed.signal, Some(6), "{}", killed.stderr);
        let before = std::fs::read_to_string(place.path("in0.warc")).unwrap();
        place.write("in0.warc", &(before.clone() + &more));
        let told = dedup(&place, crawl, "out", "manifest", 1).finish().expect_code(4).stderr;
        assert!(told.contains("the input in0.warc differs from what another worker has read"), "{told}");
        place.write("in0.warc", &before);
        dedup(&place, crawl, "out", "manifest", 1).finish().expect_code(0);
    }
}
