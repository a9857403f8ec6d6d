//! What is lost with near-duplicates: told, bounded, and counted again.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::invariants::{assert_folder_is_sound, lines};
use crate::program::{Finished, Place};
use crate::web::{Answer, Content, Web};
use crate::words::words_of;

/// A text of 200 words; one that is cut; and those that have one and four other words instead.
fn rows() -> Vec<Value> {
    let (text, other) = (words_of(1, "text", 200), words_of(2, "other", 8));
    let edited = |more: usize| [&text[..190], &other[..more]].concat().join(" ");
    vec![
        json!({"id": "whole", "text": text.join(" "), "fetched_at": "2026-03-02T00:00:00Z"}),
        json!({"id": "cut", "text": edited(0), "fetched_at": "2026-03-05T00:00:00Z"}),
        json!({"id": "one", "text": edited(1)}),
        json!({"id": "four", "text": edited(4), "fetched_at": "2026-03-01T00:00:00Z"}),
        json!({"id": "copy of four", "text": format!("  {}", edited(4)), "fetched_at": "2026-03-03T00:00:00Z"}),
        json!({"id": "alone", "text": words_of(3, "alone", 90).join(" "), "fetched_at": "2026-03-04T00:00:00Z"}),
    ]
}

fn dedup(place: &Place, flags: &[&str]) -> Finished {
    place.write("rows.jsonl", &rows().iter().map(|row| format!("{row}\n")).collect::<String>());
    let run = place.run(["dedup", "rows.jsonl", "-o", "out", "--min-free", "0", "--no-report", "--json"]);
    run.args(flags).finish()
}

/// Of each row its outcome, its words and what is lost of them.
fn told(place: &Place) -> BTreeMap<String, (String, Value, Value)> {
    let line = |line: Value| {
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        (text("url"), (text("outcome"), line["words"].clone(), line["loses_words"].clone()))
    };
    place.pages().into_iter().map(line).collect()
}

fn kept(place: &Place, flags: &[&str]) -> Vec<String> {
    dedup(place, &[flags, &["--fresh", "--force"]].concat()).expect_code(0);
    place.run(["verify", "out", "--loss"]).finish().expect_code(0);
    told(place).into_iter().filter(|(_, (outcome, ..))| outcome == "stored").map(|(url, _)| url).collect()
}

#[test]
fn each_near_duplicate_tells_what_is_lost_with_it() {
    let place = Place::new();
    let summary = dedup(&place, &[]).expect_code(0).json();
    let near = |words: u32, lost: u32| ("near-duplicate".to_owned(), json!(words), json!(lost));
    let told = told(&place);
    assert_eq!(told["whole"], ("stored".to_owned(), Value::Null, Value::Null));
    assert_eq!([&told["cut"], &told["one"], &told["four"]], [&near(190, 0), &near(191, 1), &near(194, 4)]);
    assert_eq!(told["copy of four"], near(194, 4), "a copy of a near-duplicate loses what that one loses");
    assert_eq!((&summary["words_dropped"], &summary["words_lost"]), (&json!(769), &json!(9)));
    let text = place.run(["dedup", "rows.jsonl", "-o", "again", "--min-free", "0", "--no-report"]).finish();
    let sum = "Near-duplicates lose 9 of their 769 words (1.2%)\n";
    assert!(text.stdout.contains(sum), "{}", text.stdout);
    place.run(["export", "out", "--format", "dataset", "-o", "data"]).finish().expect_code(0);
    let card = fs::read_to_string(place.path("data/README.md")).unwrap();
    assert!(card.contains("have 769 words. 9 of them (1.17%) stand in no run of four words"), "{card}");
}

#[test]
fn what_would_lose_more_than_the_bound_is_kept() {
    let place = Place::new();
    let kept = |flags: &[&str]| kept(&place, flags);
    assert_eq!(kept(&[]), ["alone", "whole"]);
    assert_eq!(kept(&["--lose-at-most", "0"]), ["alone", "four", "one", "whole"]);
    assert_eq!(kept(&["--lose-at-most", "3"]), ["alone", "four", "whole"]);
    assert_eq!(kept(&["--lose-at-most", "0.6%"]), ["alone", "four", "whole"]);
    assert_eq!(kept(&["--lose-at-most", "0.5%", "--matching", "best"]), ["alone", "four", "one", "whole"]);
    assert_eq!(kept(&["--lose-at-most", "100%"]), ["alone", "whole"]);
}

#[test]
fn the_bound_belongs_to_the_run_and_needs_own_words() {
    let place = Place::new();
    dedup(&place, &["--lose-at-most", "1%"]).expect_code(0);
    dedup(&place, &["--lose-at-most", "1%"]).expect_code(0);
    let refused = dedup(&place, &[]);
    assert!(refused.code != Some(0) && refused.stderr.contains("lose_at_most"), "{refused:?}");
    for flags in [&["--detector", "dd"][..], &["--detector-option", "second_check=none"]] {
        let refused = dedup(&place, &[flags, &["--lose-at-most", "1"]].concat()).expect_code(2);
        assert!(refused.stderr.contains("only the detector mwo with own words counts what is lost"), "{refused:?}");
    }
    let refused = dedup(&place, &["--lose-at-most", "1.5"]).expect_code(2);
    assert!(refused.stderr.contains("such as 0, 12 or 2.5%"), "{refused:?}");
}

/// Changes a text in `pages.jsonl`.
fn change(place: &Place, line: &str, from: &str, to: &str) {
    let path = place.path("out/pages.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let changed = text.lines().map(|it| if it.contains(line) { it.replace(from, to) } else { it.to_owned() } + "\n");
    let changed: String = changed.collect();
    assert_ne!(changed, text);
    fs::write(&path, changed).unwrap();
}

#[test]
fn losses_are_counted_again_and_a_lie_is_found() {
    let place = Place::new();
    dedup(&place, &["--keep-duplicates"]).expect_code(0);
    let verify = || place.run(["verify", "out", "--loss", "--json"]).finish();
    let sound = verify().expect_code(0).json();
    let checked = &sound["checked"];
    assert_eq!(checked["near-duplicates counted again"], 4, "{sound}");
    assert_eq!(checked["words of near-duplicates"], 769);
    assert_eq!(checked["words that the page kept in their place has not"], 9);
    assert_eq!(checked["words that no kept page has"], 9);
    assert_eq!(checked["pages with the same words in the archive"], 6);
    change(&place, "\"url\":\"four\"", "\"loses_words\":4", "\"loses_words\":3");
    place.run(["verify", "out"]).finish().expect_code(0);
    let found = verify().expect_code(1).json();
    assert_eq!(found["problems"], json!(["four: it loses 4 of 194 words, its line says 3 of 194 words"]));
    change(&place, "\"url\":\"four\"", "\"words\":194", "\"words\":994");
    assert_eq!(verify().expect_code(1).json()["problem_count"], 1);
    let without =
        place.run(["dedup", "rows.jsonl", "-o", "w", "--detector-option", "second_check=none", "--min-free", "0"]);
    without.args(["--no-report"]).finish().expect_code(0);
    let refused = place.run(["verify", "w", "--loss"]).finish().expect_code(2);
    assert!(refused.stderr.contains("was decided without own words"), "{refused:?}");
}

#[test]
fn words_that_another_kept_page_has_are_not_lost_everywhere() {
    let place = Place::new();
    let (text, other) = (words_of(1, "text", 200), words_of(2, "other", 60));
    let both = [&text[..], &other[..20], &words_of(3, "new", 6)].concat().join(" ");
    let rows = [
        json!({"id": "a", "text": text.join(" ")}),
        json!({"id": "b", "text": other.join(" ")}),
        json!({"id": "both", "text": both}),
    ];
    place.write("rows.jsonl", &rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    place.run(["dedup", "rows.jsonl", "-o", "out", "--min-free", "0", "--no-report"]).finish().expect_code(0);
    let checked = place.run(["verify", "out", "--loss", "--json"]).finish().expect_code(0).json()["checked"].clone();
    assert_eq!(checked["words that the page kept in their place has not"], 26, "{checked}");
    assert_eq!(checked["words that no kept page has"], 6);
}

#[test]
fn rows_say_how_often_where_and_since_when_they_were_seen() {
    let place = Place::new();
    let marked = dedup(&place, &["--mark", "marked.jsonl"]).expect_code(0);
    assert!(marked.stderr.is_empty(), "{marked:?}");
    let marked = fs::read_to_string(place.path("marked.jsonl")).unwrap();
    let marked: Vec<Value> = marked.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let of = |field: &str| -> Vec<Value> { marked.iter().map(|row| row[field].clone()).collect() };
    assert_eq!(of("dedup_loses_words"), [Value::Null, json!(0), json!(1), json!(4), json!(4), Value::Null]);
    assert_eq!(of("dedup_copies"), [json!(4), Value::Null, Value::Null, Value::Null, Value::Null, json!(0)]);
    place.run(["export", "out", "-o", "pages.jsonl"]).finish().expect_code(0);
    let rows = fs::read_to_string(place.path("pages.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let seen = |row: &Value| ["url", "copies", "copy_hosts", "first_seen"].map(|field| row[field].clone());
    assert_eq!(seen(&rows[0]), [json!("whole"), json!(4), json!(1), json!("2026-03-01T00:00:00.000Z")]);
    assert_eq!(seen(&rows[1]), [json!("alone"), json!(0), json!(0), json!("2026-03-04T00:00:00.000Z")]);
}

/// A page, and an edition of it with a line more and a link of its own.
struct Editions;

impl Content for Editions {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let text = words_of(1, "text", 200).join(" ");
        Answer::html(match url.splitn(4, '/').nth(3).unwrap_or_default() {
            "" => "<a href=/first>First</a> <a href=/second>Second</a>".to_owned(),
            "first" => format!("<title>Text</title><p>{text}"),
            "second" => {
                format!("<title>Text</title><p>{text}<p>{} <a href=/behind>this</a>", words_of(2, "more", 9).join(" "))
            }
            "behind" => words_of(3, "behind", 80).join(" "),
            _ => return Answer::error(404),
        })
    }
}

#[test]
fn a_crawl_stores_what_would_lose_more_and_follows_its_links() {
    let web = Web::start(1, |_| Arc::new(Editions));
    let origin = web.origins()[0].clone();
    for (bound, outcomes) in [(None, ["near-duplicate", "deferred"]), (Some("5"), ["stored"; 2])] {
        let place = Place::new();
        let crawl = place.run(["-o", "out", "--allow-private", "--delay", "0", "--ip-delay", "0", "-c", "1"]);
        let crawl = crawl.args(["--min-free", "0", "--progress", "none", &format!("{origin}/")]);
        let crawl = bound.into_iter().fold(crawl, |crawl, most| crawl.args(["--lose-at-most", most]));
        crawl.finish().expect_code(0);
        let lines = lines(&place.path("out"));
        let found = ["second", "behind"].map(|page| lines[&format!("{origin}/{page}")]["outcome"].clone());
        assert_eq!(found, outcomes.map(Value::from));
        assert_folder_is_sound(&place);
        let told = place.run(["explain", "out", &format!("{origin}/second")]).finish().expect_code(0).stdout;
        let why = "more of its words than may be lost are not in that one (--lose-at-most)";
        assert_eq!(told.contains(why), bound.is_some(), "{told}");
    }
}
