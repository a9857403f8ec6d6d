//! `dedup --within host` by several workers.

use std::collections::BTreeMap;
use std::fs;

use ndcrawl::cluster::{Connector, RunId, pages_of, read_arrivals};
use ndcrawl::detect::{Decider, Options, Settling, Within};
use ndcrawl::model::{Detector, PageInput, Verdict};
use serde_json::Value;

use super::dedup::{PAGES, dedup, page, write_record};
use super::servers::LocalServers;
use crate::program::{Place, Run};

const TURN: usize = 64;
const INPUTS: usize = 6;
/// Each input has pages of all hosts.
const HOSTS: usize = 11;

/// Every third page is one of a family, which has pages on three hosts, two on each.
fn place() -> Place {
    let place = Place::new();
    for input in 0..INPUTS {
        let record = |number: usize| {
            let host = (number / 3 + input / 2) % HOSTS;
            write_record(&format!("http://h{host}.test/{input}/{number}"), input, number, &page(input, number))
        };
        place.write(&format!("in{input}.warc"), &(0..PAGES).map(record).collect::<String>());
    }
    let names: Vec<String> = (0..INPUTS).map(|input| format!("in{input}.warc")).collect();
    place.write("manifest", &(names.join("\n") + "\n"));
    place
}

fn within_hosts(place: &Place, crawl: &str, out: &str, workers: usize) -> Run {
    dedup(place, crawl, out, "manifest", workers).args(["--within", "host"])
}

fn files(place: &Place, out: &str) -> BTreeMap<String, String> {
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    let entries = fs::read_dir(place.path(out)).unwrap().map(Result::unwrap);
    entries.map(|entry| (name(&entry), fs::read_to_string(entry.path()).unwrap())).collect()
}

fn lines(files: &BTreeMap<String, String>) -> Vec<Value> {
    let verdicts = files.iter().filter(|(name, _)| name.ends_with(".verdicts.jsonl"));
    verdicts.flat_map(|(_, text)| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn host(url: &str) -> &str {
    url.split('/').nth(2).unwrap()
}

/// The pages as they arrived, with their URLs.
async fn arrived(crawl: &str) -> Vec<(PageInput, String)> {
    let session = Connector::new(LocalServers::shared().address()).connect().await.unwrap();
    session.client().batch_execute(&format!("SET search_path = nd_{crawl}")).await.unwrap();
    let mut all = Vec::new();
    for input in 0..INPUTS as i32 {
        for chunk in read_arrivals(&session, RunId(-1 - input), 0, i64::MAX).await.unwrap() {
            all.extend(pages_of(&chunk).unwrap().into_iter().map(|page| (page.input, page.facts.url)));
        }
    }
    all
}

/// Outcome and original of each page, as one decider gives them.
fn decided_by_one(pages: &[(PageInput, String)], within: Within) -> Vec<(&'static str, Option<String>)> {
    let options = Options { settling: Settling::AtMarks, within, ..Options::of(Detector::Mwo) };
    let mut decider = Decider::in_memory(options);
    let mut told = Vec::new();
    for turn in pages.chunks(TURN) {
        for answer in decider.decide_turn(turn.iter().map(|(page, _)| page.clone()).collect::<Vec<_>>()).unwrap() {
            let original = answer.verdict.duplicate_of().map(|of| pages[of.index()].1.clone());
            told.push((
                match answer.verdict {
                    Verdict::Unique => "stored",
                    Verdict::NearDuplicate { .. } => "near-duplicate",
                    Verdict::ExactDuplicate { .. } => "exact-duplicate",
                },
                original,
            ));
        }
    }
    told
}

fn told(line: &Value) -> (&str, Option<String>) {
    (line["outcome"].as_str().unwrap(), line["duplicate_of"].as_str().map(str::to_owned))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_decide_within_hosts_as_one_decider_does() {
    let place = place();
    for workers in 1..=3 {
        let (crawl, out) = (format!("within_by_{workers}"), format!("out{workers}"));
        let finished = within_hosts(&place, &crawl, &out, workers).finish().expect_code(0);
        let given_up = "compared within their hosts only (--within host): copies on other hosts are kept";
        assert!(finished.stdout.contains(given_up), "{}", finished.stdout);
        assert_eq!(files(&place, &out), files(&place, "out1"), "{workers} workers");
    }
    let written = files(&place, "out3");
    let (lines, pages) = (lines(&written), arrived("within_by_3").await);
    let found: Vec<_> = lines.iter().map(told).collect();
    assert_eq!(found, decided_by_one(&pages, Within::Host));
    assert_ne!(found, decided_by_one(&pages, Within::Crawl), "the control");
    let duplicates: Vec<&Value> = lines.iter().filter(|line| line["duplicate_of"].is_string()).collect();
    assert!(duplicates.len() > PAGES / 6, "{} duplicates", duplicates.len());
    for line in duplicates {
        let [url, of] = ["url", "duplicate_of"].map(|name| line[name].as_str().unwrap());
        assert_eq!(host(url), host(of), "{line}");
    }

    // The crawl is sound by the same law.
    let url = LocalServers::shared().url();
    let verified = place.run(["verify", &url, "--cluster-name", "within_by_3"]).finish().expect_code(0);
    assert!(verified.stdout.contains("is intact"), "{}", verified.stdout);
    let other = dedup(&place, "within_by_3", "other", "manifest", 1).finish();
    assert!(other.expect_code(2).stderr.contains("configuration"), "a worker that compares all pages cannot join");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_killed_worker_is_replaced_also_within_hosts() {
    let place = place();
    within_hosts(&place, "within_whole", "whole", 1).finish().expect_code(0);
    let expected = files(&place, "whole");
    for point in ["chunk:7", "deciding:2", "entered:2", "decided:1", "done:2"] {
        let (name, out) = (point.split(':').next().unwrap(), format!("out-{}", point.replace(':', "-")));
        let crawl = format!("within_{name}");
        let killed = within_hosts(&place, &crawl, &out, 1).env("TEST_NDCRAWL_ABORT_AT", point).finish();
        assert_eq!(killed.signal, Some(6), "{point}: {}", killed.stderr);
        within_hosts(&place, &crawl, &out, 2).finish().expect_code(0);
        assert_eq!(files(&place, &out), expected, "{point}");
    }
}

#[test]
fn the_host_of_a_document_without_url_is_its_file() {
    let place = Place::new();
    let row = |number| serde_json::json!({ "text": page(0, number) }).to_string() + "\n";
    place.write("a.jsonl", &[row(1), row(2), row(1)].concat());
    place.write("b.jsonl", &row(1));
    for (within, outcomes) in [
        ("host", ["stored", "stored", "exact-duplicate", "stored"]),
        ("all", ["stored", "stored", "exact-duplicate", "exact-duplicate"]),
    ] {
        place
            .run(["dedup", "a.jsonl", "b.jsonl", "--no-warc", "--within", within, "-o", within])
            .finish()
            .expect_code(0);
        let lines = fs::read_to_string(place.path(within).join("pages.jsonl")).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let found: Vec<String> = lines.map(|line| told(&line).0.to_owned()).collect();
        assert_eq!(found, outcomes, "{within}");
    }
}
