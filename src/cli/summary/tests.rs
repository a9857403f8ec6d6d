//! What the summary prints.

use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use crate::cli::counts::OutcomeCounts;
use crate::cli::text_width::width;

fn site(host: &str, stored: u64, near_duplicates: u64) -> SiteSummary {
    SiteSummary {
        host: host.to_owned(),
        fetched: stored + near_duplicates,
        stored,
        near_duplicates,
        duplicate_rate: OutcomeCounts { stored, near_duplicates, ..OutcomeCounts::default() }.duplicate_rate(),
        mean_response: Duration::from_millis(120),
        ..SiteSummary::default()
    }
}

fn summary() -> Summary {
    Summary {
        stopped: None,
        elapsed: Duration::from_secs(123),
        requests: 1300,
        probes: 12,
        bytes: 24_536_000,
        seen: 15_300,
        stored: 1000,
        not_modified: 0,
        near_duplicates: 150,
        exact_duplicates: 84,
        words_dropped: 120_433,
        words_lost: 361,
        revised: 7,
        redirected: 30,
        excluded: 12_000,
        soft_404s: 9,
        documents: 40,
        text_errors: BTreeMap::from([("empty".to_owned(), 3), ("encrypted".to_owned(), 1)]),
        failed: 3,
        deferred: 2033,
        links_skipped: 420,
        links_unmatched: 12,
        skipping: Some(SkippingCost {
            gates: 40,
            followed: 4,
            requests: 12,
            unique: 3,
            new_text: 2.75,
            lost_per_1000: Some(250.0),
            interval: Some((81.2, 554.0)),
            hosts: BTreeMap::new(),
            is_of_unmatched: false,
        }),
        repeating: 11_000,
        predicted: 0,
        recrawl: None,
        predicting: Some(PredictionCost {
            drawn: 30,
            unique: 1,
            lost_per_1000: Some(7.2),
            interval: Some((0.0, 31.4)),
            ..PredictionCost::default()
        }),
        sites: vec![site("docs.example.org", 800, 150), site("www.example.net", 200, 0), site("down.example", 0, 0)],
        slowest: vec![SlowSite { host: "docs.example.org".to_owned(), mean_response: Duration::from_millis(1234) }],
        failing: vec![FailingSite { host: "down.example".to_owned(), failed: 3, class: "connect".to_owned() }],
        seeds_failed: vec![FailedSeed {
            seed: "https://down.example/".to_owned(),
            why: "connection refused".to_owned(),
        }],
        out: "./ndcrawl-out".to_owned(),
        report: Some("ndcrawl-out/report.html".to_owned()),
        hint: Some("pages.jsonl has one line for each URL".to_owned()),
    }
}

#[test]
fn a_summary_is_read_by_people() {
    insta::assert_snapshot!("summary", summary().text(false, 80));
}

#[test]
fn a_summary_of_nothing_is_short() {
    let nothing = Summary { stopped: Some("time".to_owned()), out: "o".to_owned(), ..Summary::default() };
    insta::assert_snapshot!(nothing.text(false, 80), @r"
    Crawl stopped (time) after 0 ms: 0 requests, 0 B

            0  stored            unique pages
            0  near-duplicates   of a stored page
            0  exact duplicates  same bytes or same text
            0  redirected
            0  excluded          by scope, robots.txt, type and other rules
            0  failed
            0  deferred          seen, not fetched
            0  URLs seen

    Results: o
    ");
}

#[test]
fn a_summary_is_read_by_programs() {
    let json: serde_json::Value = serde_json::from_str(&summary().json()).unwrap();
    assert_eq!(json["elapsed_seconds"], 123.0);
    assert_eq!(json["sites"][0]["mean_response_seconds"], 0.12);
    assert_eq!(json["sites"][2]["duplicate_rate"], serde_json::Value::Null);
    assert_eq!(json["failing"][0]["class"], "connect");
    assert_eq!(summary().json().lines().count(), 1);
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    let mut summary = summary();
    let long = "a-very-long-host-name-that-does-not-end-世界.".repeat(4);
    summary.sites = (0..30).map(|n| site(&format!("{n}.{long}"), 9_999_999_999, 9_999_999_999)).collect();
    summary.slowest = vec![SlowSite { host: long.clone(), mean_response: Duration::ZERO }; 5];
    summary.seeds_failed = vec![FailedSeed { seed: long, why: "x\ny".to_owned() }; 25];
    let huge = 9_999_999_999_999;
    (summary.stored, summary.near_duplicates, summary.links_skipped) = (huge, huge, huge);
    (summary.requests, summary.bytes) = (u64::MAX, u64::MAX);
    for columns in [80, 40] {
        let text = summary.text(false, columns);
        // Paths and commands are copied, so they are not broken.
        let lines = text.lines().filter(|line| !line.starts_with("Report:") && !line.starts_with("hint:"));
        let longest = lines.max_by_key(|line| width(line)).unwrap();
        assert!(width(longest) <= columns, "{columns}: {longest}\n{text}");
        assert!(text.contains("and 10 more sites\n") && text.contains("and 5 more seeds\n"), "{text}");
        assert!(text.starts_with("At least 50.0% of "), "{text}");
        assert!(text.contains("  9,999,999,999,999  stored"), "{text}");
    }
}

#[test]
fn what_a_server_says_cannot_colour_the_summary() {
    let mut summary = summary();
    summary.seeds_failed[0].why = "\u{1b}[31mred".to_owned();
    assert!(!summary.text(false, 80).contains('\u{1b}'));
    let colored = summary.text(true, 80);
    assert!(
        colored.starts_with("At least \u{1b}[1m19.0%\u{1b}[0m of 1,234 pages compared are duplicates; "),
        "{colored}"
    );
    let red =
        ["        3  failed", "Seeds that could not be fetched:"].map(|line| format!("\u{1b}[31m{line}\u{1b}[0m\n"));
    assert!(red.iter().all(|line| colored.contains(line)), "{colored}");
    assert_eq!(colored.matches('\u{1b}').count(), 6);
}
