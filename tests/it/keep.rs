//! Which copy of a cluster is kept (`--keep`): exchanged at the end, with true certificates of what is lost.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ndcrawl::seeded::SeededRng;
use serde_json::{Value, json};

use crate::invariants::{assert_folder_is_sound, lines};
use crate::judged::Log;
use crate::program::{Place, Run, finish_under_kills, pages};
use crate::web::{Answer, Content, Web};
use crate::words::words_of;

/// A text in four editions, the first, the longest, the newest and the oldest, with a copy of one; and another text.
fn rows() -> Vec<Value> {
    let (text, other) = (words_of(1, "text", 200), words_of(2, "other", 8));
    let edited = |more: usize| [&text[..190], &other[..more]].concat().join(" ");
    let row = |id: &str, text: String, day: u32, source: &str| json!({"id": id, "text": text, "fetched_at": format!("2026-03-{day:02}T00:00:00Z"), "source": source});
    vec![
        row("first", edited(1), 2, "web"),
        row("longest", text.join(" "), 3, "web"),
        row("newest", edited(0), 6, "web"),
        row("oldest", edited(4), 1, "books"),
        row("copy of oldest", edited(4), 4, "web"),
        row("alone", words_of(3, "alone", 90).join(" "), 5, "web"),
    ]
}

fn jsonl(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn read_jsonl(place: &Place, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn dedup(place: &Place, out: &str, rule: &str) -> Run {
    place.run(["dedup", "rows.jsonl", "-o", out, "--min-free", "0", "--no-report", "--keep", rule])
}

#[test]
fn the_copy_that_the_rule_prefers_is_kept_and_losses_stay_true() {
    let place = Place::new();
    place.write("rows.jsonl", &jsonl(&rows()));
    for (rule, expected, why) in [
        ("first", "first", None),
        ("longest", "longest", Some("longest: 200 words, not 191")),
        ("newest", "newest", Some("newest: 2026-03-06T00:00:00.000Z, not 2026-03-02T00:00:00.000Z")),
        ("oldest", "oldest", Some("oldest: 2026-03-01T00:00:00.000Z, not 2026-03-02T00:00:00.000Z")),
        ("source:books,web", "oldest", Some("source: books")),
    ] {
        let dedup = || dedup(&place, "out", rule).args(["--keep-columns", "source"]);
        dedup().args(["--fresh", "--force"]).finish().expect_code(0);
        place.run(["verify", "out", "--loss"]).finish().expect_code(0);
        // A second run finds nothing to exchange.
        let once = std::fs::read(place.path("out/pages.jsonl")).unwrap();
        dedup().args(["--kept", "kept.jsonl"]).finish().expect_code(0);
        assert!(once == std::fs::read(place.path("out/pages.jsonl")).unwrap(), "{rule}");
        let pages = lines(&place.path("out"));
        for (url, line) in &pages {
            let is_kept = url == expected || url == "alone";
            assert_eq!(line["outcome"] == "stored", is_kept, "{rule}: {line}");
            assert!(is_kept || line["duplicate_of"] == expected, "{rule}: {line}");
        }
        assert_eq!(pages[expected]["kept_by"].as_str(), why);
        if expected == "oldest" {
            assert_eq!(pages["copy of oldest"]["outcome"], "exact-duplicate", "{rule}");
        }
        let kept: Vec<Value> = read_jsonl(&place, "kept.jsonl").into_iter().map(|row| row["id"].clone()).collect();
        assert_eq!(kept, [expected, "alone"]);
        place.run(["export", "out", "--format", "jsonl", "-o", "export.jsonl"]).finish().expect_code(0);
        let rows = read_jsonl(&place, "export.jsonl");
        let row = rows.iter().find(|row| row["url"] == expected).unwrap();
        assert!(row["text"].is_string() && row["copies"] == 4, "{rule}: {row}");
        let explain = |url: &str| place.run(["explain", "out", url]).finish().expect_code(0).stdout;
        if let Some(why) = why {
            let told = explain(expected);
            assert!(told.contains(&format!("; this copy is kept in its place (--keep {why})")), "{told}");
            let told = explain("first");
            assert!(told.contains("stored first; then another copy was kept (--keep)"), "{told}");
        }
        place.run(["report", "out", "-o", "report.html"]).finish().expect_code(0);
    }
}

#[test]
fn a_copy_whose_body_is_not_archived_takes_no_place_and_the_run_says_so() {
    let place = Place::new();
    place.write("rows.jsonl", &jsonl(&rows()));
    dedup(&place, "out", "first").finish().expect_code(0);
    let told = dedup(&place, "out", "longest").finish().expect_code(0).stderr;
    assert!(told.contains("an earlier run without it has not archived their bodies"), "{told}");
    assert_eq!(lines(&place.path("out"))["longest"]["duplicate_of"], "first");
    // An archive that has no body at all keeps none from its place.
    dedup(&place, "lines", "first").args(["--no-warc"]).finish().expect_code(0);
    dedup(&place, "lines", "longest").args(["--no-warc"]).finish().expect_code(0);
    assert_eq!(lines(&place.path("lines"))["first"]["duplicate_of"], "longest");
}

/// Texts in editions: a few words replaced, added or cut, and byte for byte copies; of one in eight so many words are replaced.
/// Times are given or not.
fn random_rows(seed: u64, most_replaced: usize) -> Vec<Value> {
    let random = &mut SeededRng::new(seed, "clusters");
    let mut texts = Vec::<String>::new();
    for text in 0..12 {
        let length = 150 + random.below(100);
        let words = words_of(seed * 100 + text, "text", length);
        for edition in 0..1 + random.below(6) {
            let other = words_of(seed * 10_000 + text * 100 + edition as u64, "other", 40);
            let replaced = if random.below(8) == 0 { most_replaced } else { random.below(4) };
            let from = random.below(100);
            let mut edited = words[..length - random.below(6)].to_vec();
            edited[from..from + replaced].clone_from_slice(&other[..replaced]);
            edited.extend_from_slice(&other[30..30 + random.below(6)]);
            let copies = 1 + usize::from(random.below(5) == 0);
            texts.extend(std::iter::repeat_n(edited.join(" "), copies));
        }
    }
    random.shuffle(&mut texts);
    let row = |(number, text): (usize, String)| {
        let (host, query) = (random.below(3), if random.below(2) == 0 { "?print=1" } else { "" });
        let path = "x".repeat(1 + number % 7);
        let mut row = json!({"url": format!("http://h{host}.test/{seed}/{path}{number}{query}"), "text": text});
        if random.below(6) > 0 {
            let (day, hour) = (1 + random.below(3), random.below(24));
            row["fetched_at"] = json!(format!("2026-04-{day:02}T{hour:02}:00:00Z"));
        }
        row
    };
    texts.into_iter().enumerate().map(row).collect()
}

/// How much a rule wants a row: the greater, the more. A row without time is wanted least.
fn worth(rule: &str, row: &Value) -> (i64, i64) {
    let url = row["url"].as_str().unwrap();
    let time = row["fetched_at"]
        .as_str()
        .map(|time| time[8..10].parse::<i64>().unwrap() * 24 + time[11..13].parse::<i64>().unwrap());
    let host = url[8..9].parse::<i64>().unwrap();
    match rule {
        "longest" => (row["text"].as_str().unwrap().split(' ').count() as i64, 0),
        "newest" => (time.unwrap_or(-1), 0),
        "oldest" => (time.map_or(-1000, |time| -time), 0),
        "cited" => (i64::from(!url.contains('?')), -(url.len() as i64)),
        "source:h2.test,h0.test" => ([1, 0, 2][host as usize], 0),
        _ => (0, 0),
    }
}

/// The kept page of each page.
fn kept_pages(out: &std::path::Path) -> BTreeMap<String, String> {
    let kept = |line: Value| {
        let url = line["url"].as_str().unwrap().to_owned();
        let kept = line["duplicate_of"].as_str().unwrap_or(&url).to_owned();
        (url, kept)
    };
    pages(out).into_iter().map(kept).collect()
}

#[track_caller]
fn assert_same(kept: &BTreeMap<String, String>, expected: &BTreeMap<String, String>) {
    let differences: Vec<_> = kept.iter().filter(|(url, kept)| expected.get(*url) != Some(kept)).collect();
    assert!(differences.is_empty() && kept.len() == expected.len(), "{differences:?}");
}

/// A new decider gives the verdicts of the log.
fn assert_replayed(place: &Place, out: &str) {
    let log = Log::read(&place.path(out)).unwrap();
    assert_eq!(log.replay(&log.options, 7).verdicts(), log.verdicts(), "{out}");
}

const RULES: [&str; 5] = ["longest", "newest", "oldest", "cited", "source:h2.test,h0.test"];

#[test]
fn of_random_clusters_the_best_copy_is_kept_and_rules_may_follow_each_other() {
    let mut exchanged = 0;
    for seed in 1..=4 {
        let place = Place::new();
        let rows = random_rows(seed, 4);
        place.write("rows.jsonl", &jsonl(&rows));
        let place_of = |url: &str| rows.iter().position(|row| row["url"] == url).unwrap();
        let kept_in_turn = |rule: &str| {
            dedup(&place, "in turn", rule).finish().expect_code(0);
            place.run(["verify", "in turn", "--loss"]).finish().expect_code(0);
            assert_replayed(&place, "in turn");
            kept_pages(&place.path("in turn"))
        };
        kept_in_turn("longest");
        let firsts = kept_in_turn("first");
        let mut clusters = BTreeMap::<&String, Vec<&String>>::new();
        firsts.iter().for_each(|(url, kept)| clusters.entry(kept).or_default().push(url));
        for rule in RULES {
            dedup(&place, rule, rule).finish().expect_code(0);
            place.run(["verify", rule, "--loss"]).finish().expect_code(0);
            assert_replayed(&place, rule);
            let once = kept_pages(&place.path(rule));
            for (first, cluster) in &clusters {
                let kept = &once[*first];
                assert!(cluster.iter().all(|url| once[*url] == *kept), "{seed}, {rule}: {cluster:?}");
                let of = |url: &String| worth(rule, &rows[place_of(url)]);
                let by_rule = |url: &&&String| (of(url), *url == first, Reverse(place_of(url)));
                let best = cluster.iter().max_by_key(by_rule).unwrap();
                assert_eq!(kept, *best, "{seed}, {rule}: {cluster:?}");
                exchanged += usize::from(kept != *first);
            }
            assert_same(&kept_in_turn(rule), &once);
        }
        assert_same(&kept_in_turn("first"), &firsts);
    }
    assert!(exchanged > 80, "{exchanged} exchanged");
}

/// Words that few say are looked at: where many of a text are replaced, likeness is not transitive, and changes with what is
/// known.
#[test]
fn where_likeness_is_not_transitive_a_second_run_finds_nothing_to_exchange() {
    for seed in 1..=3 {
        let place = Place::new();
        place.write("rows.jsonl", &jsonl(&random_rows(seed, 30)));
        for rule in RULES {
            dedup(&place, rule, rule).finish().expect_code(0);
            let once = kept_pages(&place.path(rule));
            dedup(&place, rule, rule).finish().expect_code(0);
            assert_same(&kept_pages(&place.path(rule)), &once);
            place.run(["verify", rule, "--loss"]).finish().expect_code(0);
            assert_replayed(&place, rule);
        }
    }
}

#[test]
fn a_kill_during_the_exchange_changes_nothing() {
    let place = Place::new();
    let rows: Vec<Value> = (1..=6).flat_map(|seed| random_rows(seed, 30)).collect();
    place.write("rows.jsonl", &jsonl(&rows));
    dedup(&place, "calm", "longest").finish().expect_code(0);
    finish_under_kills(|| dedup(&place, "out", "longest"), &[150, 200, 250, 300, 320, 340, 360, 400, 450, 500, 600]);
    assert_same(&kept_pages(&place.path("out")), &kept_pages(&place.path("calm")));
    assert_folder_is_sound(&place);
}

/// A front page that links to print versions first, each of which names its article as canonical.
struct Site;

const ARTICLES: u64 = 6;

impl Content for Site {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let html = match path.split_once('/').map(|(kind, number)| (kind, number.parse::<u64>())) {
            None => (0..ARTICLES).map(|number| format!("<a href=/p/{number}>Print {number}</a> ")).collect(),
            Some((kind, Ok(number))) => {
                let more = if kind == "p" { String::new() } else { words_of(900 + number, "more", 3).join(" ") };
                format!(
                    "<!doctype html><title>Article {number}</title><link rel=canonical href=/article/{number}>\
                     <p>{} {more}<p><a href=/article/{number}>Article</a>",
                    words_of(20 + number, "article", 200).join(" ")
                )
            }
            _ => return Answer::error(404),
        };
        Answer { delay: Duration::from_millis(4), ..Answer::html(html) }
    }
}

#[test]
fn a_crawl_keeps_the_cited_page_and_fetches_nothing_twice() {
    let web = Web::start(1, |_| Arc::new(Site));
    let place = Place::new();
    let origin = web.origins()[0].clone();
    let crawl = |rule: &str| {
        let flags = ["-o", "out", "--allow-private", "--delay", "0", "--ip-delay", "0", "-c", "1", "--min-free", "0"];
        place
            .run(flags)
            .args(["--progress", "none", "--keep", rule])
            .args([format!("{origin}/")])
            .finish()
            .expect_code(0)
    };
    let assert_kept = |kind: &str, dropped: &str| {
        let lines = lines(&place.path("out"));
        for number in 0..ARTICLES {
            let [kept, dropped] = [kind, dropped].map(|kind| format!("{origin}/{kind}/{number}"));
            assert_eq!(lines[&kept]["outcome"], "stored", "{}", lines[&kept]);
            assert_eq!(lines[&dropped]["duplicate_of"], kept, "{}", lines[&dropped]);
            assert_eq!(lines[&dropped]["revised"]["reason"], "keep-rule", "{}", lines[&dropped]);
        }
        assert_folder_is_sound(&place);
        place.run(["export", "out", "-o", "pages.jsonl"]).finish().expect_code(0);
        let exported = read_jsonl(&place, "pages.jsonl");
        let of = |kind: &str| {
            exported.iter().filter(|row| row["url"].as_str().unwrap().contains(&format!("/{kind}/"))).count()
        };
        assert_eq!((of(kind), of(dropped)), (ARTICLES as usize, 0));
    };
    crawl("cited");
    assert_kept("article", "p");
    let line = &lines(&place.path("out"))[&format!("{origin}/article/0")];
    assert_eq!(line["kept_by"], "cited: named by 1, not 0");
    // Another rule for the same folder changes its clusters without a request.
    crawl("first");
    assert_kept("p", "article");
    assert!(
        web.asked()
            .iter()
            .filter(|(url, _)| url.contains("/p/") || url.contains("/article/"))
            .all(|(_, times)| *times == 1)
    );
}
