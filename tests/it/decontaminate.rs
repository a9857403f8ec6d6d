//! Documents that hold items of a test set.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::program::{Finished, Place};
use crate::words::words_of;

fn words(seed: &str, count: usize) -> String {
    words_of(7, seed, count).join(" ")
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// Each hit of a run: document and item, and both shares in percent.
fn hits(finished: &Finished) -> BTreeMap<(String, String), (i64, i64)> {
    let name = |place: &Value| place["id"].as_str().map_or_else(|| place["line"].to_string(), str::to_owned);
    let percent = |share: &Value| (share.as_f64().unwrap() * 100.0).round() as i64;
    let hit = |line: &str| {
        let hit: Value = serde_json::from_str(line).unwrap();
        let shares = (percent(&hit["item_share"]), percent(&hit["document_share"]));
        ((name(&hit["document"]), name(&hit["item"])), shares)
    };
    finished.stdout.lines().map(hit).collect()
}

/// A training set of which one document holds an item, one half of it, and one a run of it.
fn collection() -> Place {
    let place = Place::new();
    let item = words_of(7, "item", 100);
    let part = |from: usize, to: usize| item[from..to].join(" ");
    place.write(
        "train.jsonl",
        &lines(&[
            json!({"id": "whole", "text": format!("{} {} {}", words("a", 50), part(0, 100), words("b", 50)), "n": 1}),
            json!({"id": "half", "text": format!("{} {}", words("c", 50), part(20, 80)), "n": 2}),
            json!({"id": "run", "text": format!("{} {}", words("d", 85), part(40, 55)), "n": 3}),
            json!({"id": "few words", "text": format!("{} {}", words("e", 88), part(40, 52)), "n": 4}),
            json!({"id": "none", "text": words("f", 100), "n": 5}),
            json!({"id": "empty", "text": "", "n": 6}),
        ]),
    );
    place.write(
        "test.jsonl",
        &lines(&[
            json!({"id": "q1", "question": part(0, 60), "answer": part(60, 100)}),
            json!({"id": "q2", "question": words("g", 30), "answer": "no"}),
            json!({"id": "q3", "question": "How far", "answer": "is it?"}),
        ]),
    );
    place
}

const TEST: [&str; 4] = ["--against", "test.jsonl", "--test-field", "question,answer"];

#[test]
fn documents_are_told_that_hold_an_item_and_how_much_of_it() {
    let place = collection();
    let told = place.run(["decontaminate", "train.jsonl"]).args(TEST).args(["--kept", "clean.jsonl"]).finish();
    let told = told.expect_code(0);
    let found = hits(&told);
    let documents: Vec<&str> = found.keys().map(|(document, _)| document.as_str()).collect();
    assert_eq!(documents, ["half", "run", "whole"]);
    assert!(found.keys().all(|(_, item)| item == "q1"));
    let shares = |document: &str| found[&(document.to_owned(), "q1".to_owned())];
    assert_eq!(shares("whole"), (100, 50));
    assert_eq!((shares("half"), shares("run")), ((60, 55), (15, 15)));
    assert!(told.stderr.contains("5 documents: 2 with 50.0% of an item or more"), "{}", told.stderr);
    assert!(told.stderr.contains("1 item is not searched, with fewer than 8 words, such as q3"), "{}", told.stderr);

    // The rows come as they were, and the empty one is no part of a test set.
    let clean = std::fs::read_to_string(place.path("clean.jsonl")).unwrap();
    let train = std::fs::read_to_string(place.path("train.jsonl")).unwrap();
    assert_eq!(clean.lines().collect::<Vec<_>>(), train.lines().skip(2).collect::<Vec<_>>());
}

#[test]
fn the_length_of_runs_and_the_share_are_the_users() {
    let place = collection();
    let found = |flags: &[&str]| {
        let told = place.run(["decontaminate", "train.jsonl"]).args(TEST).args(flags);
        hits(&told.args(["--kept", "clean.jsonl"]).finish().expect_code(0)).len()
    };
    let clean = || std::fs::read_to_string(place.path("clean.jsonl")).unwrap().lines().count();
    assert_eq!((found(&["--words", "12"]), clean()), (4, 4));
    assert_eq!((found(&["--share", "0.001%"]), clean()), (3, 3));
    assert_eq!((found(&["--share", "100%"]), clean()), (3, 5));
    assert_eq!((found(&["--words", "80"]), clean()), (1, 5));
}

#[test]
fn an_instruction_that_all_items_have_names_none_of_them() {
    let place = Place::new();
    let frame = words("instruction", 20);
    let item = |number: usize| format!("{frame} {}", words(&format!("item {number}"), 20));
    let rows = (0..12).map(|number| json!({"id": format!("q{number}"), "text": item(number)}));
    let others = [json!({"id": "q3 again", "text": item(3)}), json!({"id": "bare", "text": frame})];
    place.write("test.jsonl", &lines(&rows.chain(others).collect::<Vec<_>>()));
    let train = [json!({"id": "framed", "text": frame}), json!({"id": "holds", "text": item(3)})];
    place.write("train.jsonl", &lines(&train));
    let told = place.run(["decontaminate", "train.jsonl", "--against", "test.jsonl"]).finish().expect_code(0);
    assert_eq!(hits(&told), BTreeMap::from([(("holds".to_owned(), "q3".to_owned()), (100, 100))]));
    let why = "1 item is not searched, with runs of more than 10 items only, such as bare";
    assert!(told.stderr.contains(why), "{}", told.stderr);
}

#[test]
fn a_test_set_that_cannot_be_searched_is_an_error() {
    let place = collection();
    let told = place.run(["decontaminate", "train.jsonl", "--against", "test.jsonl"]).finish().expect_code(1);
    assert!(told.stderr.contains("--test-field question"), "{}", told.stderr);
    let other = ["--against", "test.jsonl", "--test-field", "question,solution"];
    let told = place.run(["decontaminate", "train.jsonl"]).args(other).finish().expect_code(8);
    assert!(told.stderr.contains("no row has the field 'solution' (--test-field)"), "{}", told.stderr);
    let told = place.run(["decontaminate", "train.jsonl"]).args(TEST).args(["--kept", "train.jsonl"]).finish();
    assert!(told.expect_code(2).stderr.contains("it is an input"));
    let told = place.run(["decontaminate", "train.jsonl"]).args(TEST).args(["--kept", "-"]).finish().expect_code(2);
    assert!(told.stderr.contains("add -o hits.jsonl"), "{}", told.stderr);
    let told = place.run(["decontaminate", "train.jsonl"]).args(TEST).args(["--kept", "-", "-o", "hits.jsonl"]);
    assert_eq!(told.finish().expect_code(0).stdout.lines().count(), 4);
    assert_eq!(std::fs::read_to_string(place.path("hits.jsonl")).unwrap().lines().count(), 3);
}

#[test]
fn what_cannot_be_read_is_told_and_not_called_clean() {
    let broken = "{\"id\": \"broken\", \"text\"\n";
    for (file, place_told) in [("train.jsonl", "train.jsonl, line 7"), ("test.jsonl", "test.jsonl, line 4")] {
        let place = collection();
        let whole = std::fs::read_to_string(place.path(file)).unwrap();
        place.write(file, &(whole + broken));
        let told = place.run(["decontaminate", "train.jsonl"]).args(TEST).args(["--kept", "clean.jsonl"]).finish();
        let told = told.expect_code(0);
        assert!(told.stderr.contains(&format!("warning: {place_told}: no JSON object")), "{}", told.stderr);
        assert_eq!(hits(&told).len(), 3, "the rest is searched");
        let clean = std::fs::read_to_string(place.path("clean.jsonl")).unwrap();
        assert!(clean.lines().count() == 4 && !clean.contains("broken"), "{clean}");
    }
}
