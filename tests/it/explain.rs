//! Explanations of outcomes, and comparisons of two pages, on the demo site.

use regex::Regex;
use serde_json::Value;

use crate::program::{Place, pages};

/// Crawls the demo; returns its origin and its lines.
fn demo() -> (Place, String, Vec<Value>) {
    let place = Place::new();
    place.run(["demo", "-o", "out", "-q"]).finish().expect_code(0);
    let lines = pages(&place.path("out"));
    let seed = lines.iter().find(|line| line["depth"] == 0 && line["outcome"] == "stored").unwrap();
    let origin = seed["url"].as_str().unwrap().trim_end_matches('/').to_owned();
    (place, origin, lines)
}

fn explained(place: &Place, arguments: &[&str]) -> String {
    place.run(["explain", "out"].iter().chain(arguments)).finish().expect_code(0).stdout
}

fn object(place: &Place, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&explained(place, &arguments)).unwrap()
}

/// Masks everything that differs from run to run.
fn settled(text: &str, origin: &str) -> String {
    let text = text.replace(origin, "http://demo");
    [(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"), (r"NDCRAWL-\S+?\.warc\.gz", "WARC"), (r"offset \d+", "offset N")]
        .into_iter()
        .fold(text, |text, (pattern, name)| Regex::new(pattern).unwrap().replace_all(&text, name).into_owned())
}

/// The first line for which this holds.
fn url_of(lines: &[Value], is_it: impl Fn(&Value) -> bool) -> &str {
    lines.iter().find(|line| is_it(line)).unwrap()["url"].as_str().unwrap()
}

#[test]
fn every_outcome_is_explained() {
    let (place, origin, lines) = demo();
    let is_near = |line: &Value| line["outcome"] == "near-duplicate" && line["decided_by"] == "similarity";
    let urls = [
        ("stored", url_of(&lines, |line| line["outcome"] == "stored" && line["depth"] == 2)),
        ("near-duplicate", url_of(&lines, is_near)),
        ("exact-duplicate", url_of(&lines, |line| line["outcome"] == "exact-duplicate")),
        ("excluded", url_of(&lines, |line| line["reason"] == "robots")),
        ("failed", url_of(&lines, |line| line["outcome"] == "failed")),
        ("redirected", url_of(&lines, |line| line["outcome"] == "redirected")),
        ("deferred", url_of(&lines, |line| line["outcome"] == "deferred")),
    ];
    for (name, url) in urls {
        insta::assert_snapshot!(format!("explain_{name}"), settled(&explained(&place, &[url]), &origin));
        let json = object(&place, &[url]);
        assert_eq!((&json["url"], &json["line"]["outcome"]), (&Value::from(url), &Value::from(name)));
    }
}

#[test]
fn the_sum_of_the_table_is_the_score_of_the_line_and_of_the_decision() {
    let (place, origin, lines) = demo();
    let near: Vec<&Value> = lines.iter().filter(|line| line["score"].is_number()).collect();
    assert!(near.len() > 5);
    for line in near.iter().step_by(4) {
        let [url, of] = ["url", "duplicate_of"].map(|name| line[name].as_str().unwrap());
        // Copies of near-duplicates inherit the score of another pair.
        if line["decided_by"] != "similarity" {
            continue;
        }
        let pair = object(&place, &[url, of]);
        assert_eq!(pair["score"], line["score"], "{line}");
        assert_eq!(pair["terms"].as_array().unwrap().last().unwrap()["sum"], line["score"]);
        assert_eq!((&pair["pages"][0]["url"], &pair["pages"][1]["url"]), (&line["duplicate_of"], &line["url"]));
        assert_eq!(object(&place, &[of, url]), pair, "the order in which they are named does not matter");
        let judgement = &object(&place, &[url])["judgement"];
        let candidates = judgement["candidates"].as_array().unwrap();
        let named = candidates.iter().find(|candidate| candidate["is_named"] == true).unwrap();
        assert_eq!((&named["url"], &named["score"]), (&line["duplicate_of"], &line["score"]));
        assert_eq!((&named["adds_words"], &named["is_match"]), (&line["adds_words"], &Value::from(true)));
        assert!(judgement["stages"]["matching"].as_u64().unwrap() >= 1);
    }
    let one = near.iter().find(|line| line["decided_by"] == "similarity").unwrap();
    let urls = ["url", "duplicate_of"].map(|name| one[name].as_str().unwrap());
    insta::assert_snapshot!("explain_two_pages", settled(&explained(&place, &urls), &origin));
    let all = explained(&place, &[urls[0], urls[1], "--all"]);
    assert!(!all.contains("(see --all)") && all.lines().count() > 100, "{all}");
}

#[test]
fn no_stored_page_matches_an_earlier_one_in_hindsight() {
    let (place, _, lines) = demo();
    for line in lines.iter().filter(|line| line["outcome"] == "stored").step_by(7) {
        let stages = &object(&place, &[line["url"].as_str().unwrap()])["judgement"]["stages"];
        assert_eq!(stages["matching"], 0, "{line}");
    }
}

#[test]
fn two_duplicates_can_be_compared_and_undecided_urls_cannot() {
    let (place, origin, lines) = demo();
    let copies: Vec<&str> =
        lines.iter().filter(|line| line["duplicate_of"].is_string()).filter_map(|line| line["url"].as_str()).collect();
    let pair = object(&place, &[copies[0], copies[1]]);
    assert!((0.0..=1.0).contains(&pair["score"].as_f64().unwrap()), "{pair}");
    let failed = url_of(&lines, |line| line["outcome"] == "failed");
    let refused = place.run(["explain", "out", copies[0], failed]).finish().expect_code(2);
    assert!(refused.errors()[0].contains("failed") && refused.stderr.contains("hint:"), "{}", refused.stderr);
    let bare = origin.trim_start_matches("http://");
    assert!(explained(&place, &[bare]).starts_with(&format!("{origin}/\n")), "a scheme may be left out");
}

#[test]
fn an_unknown_url_gets_suggestions() {
    let (place, _, lines) = demo();
    let url = url_of(&lines, |line| line["outcome"] == "stored" && line["depth"] == 2);
    let wrong = place.run(["explain", "out", &format!("{url}x")]).finish().expect_code(2);
    assert!(wrong.stderr.contains("not seen") && wrong.stderr.contains(url), "{}", wrong.stderr);
    let far = place.run(["explain", "out", "https://elsewhere.example/"]).finish().expect_code(2);
    assert!(far.stderr.contains("hint: no page that was fetched links to it"), "{}", far.stderr);
    assert_eq!(place.run(["explain", ".", url]).finish().expect_code(2).errors().len(), 1);
}
