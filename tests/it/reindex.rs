//! Rebuilding a store from the files beside it.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use crate::graph::{Graph, Options, path};
use crate::invariants::{
    Lines, assert_as_expected, assert_duplicates_name_stored_pages, assert_folder_is_sound, lines, outcome,
};
use crate::program::Place;
use crate::web::Web;

fn planned_web() -> (Web, Arc<Graph>) {
    let mut graph = None;
    let web = Web::start(1, |origins| {
        let planned = Arc::new(Graph::new(origins, Options { seed: 31, pages: 200, ..Options::default() }));
        graph = Some(Arc::clone(&planned));
        planned
    });
    (web, graph.unwrap())
}

fn outcomes(lines: &Lines) -> BTreeMap<String, &str> {
    lines.iter().map(|(url, line)| (path(url).to_owned(), outcome(line))).collect()
}

/// Interrupts a crawl, applies `damage` to its store, rebuilds it and resumes.
fn crawled_with(damage: impl Fn(&Place)) {
    let (web, graph) = planned_web();
    let place = Place::new();
    let crawl = || place.crawl(&graph.seeds()).args(["-c", "4"]);
    let mut running = crawl().start();
    let out = place.path("out");
    let has_lines = || fs::read_to_string(out.join("pages.jsonl")).is_ok_and(|text| text.lines().count() > 60);
    assert!(running.wait_until(has_lines), "the crawl was over too early");
    running.kill();
    let text = fs::read_to_string(out.join("pages.jsonl")).unwrap();
    // The kill may have truncated the last line, which then does not count.
    let whole_lines = text.rfind('\n').map_or("", |end| &text[..end]);
    let kept = whole_lines.matches("\"stored\"").count();
    damage(&place);
    let refused = crawl().finish();
    assert!(matches!(refused.code, Some(4 | 5)) && refused.stderr.contains("ndcrawl reindex"), "{refused:?}");

    let rebuilt = place.run(["reindex", "out", "--json"]).finish().expect_code(0).json();
    assert_eq!(rebuilt["unreadable_count"], 0, "{rebuilt}");
    assert!(rebuilt["kept"].as_u64().unwrap() as usize >= kept && kept > 10, "{kept} of {rebuilt}");
    assert!(rebuilt["waiting"].as_u64().unwrap() > 0, "{rebuilt}");
    place.run(["verify", "out"]).finish().expect_code(0);
    let stored: Vec<String> =
        lines(&out).into_iter().filter(|(_, line)| outcome(line) == "stored").map(|(url, _)| url).collect();
    let before = web.asked();
    crawl().finish().expect_code(0);

    let after = web.asked();
    for url in &stored {
        assert_eq!(after[url], before[url], "{url} was fetched again");
    }
    let found = lines(&out);
    let mut expected = graph.expected(false);
    expected.retain(|url, _| !is_forgotten(url) || found.contains_key(url));
    assert_as_expected(&found, &expected);
    assert_duplicates_name_stored_pages(&found);
    assert_folder_is_sound(&place);
    // The result equals that of an undisturbed crawl.
    let calm = Place::new();
    calm.crawl(&graph.seeds()).args(["-c", "4"]).finish().expect_code(0);
    let mut calmly = lines(&calm.path("out"));
    calmly.retain(|url, _| !is_forgotten(url) || found.keys().any(|found| path(found) == path(url)));
    assert_eq!(outcomes(&found), outcomes(&calmly));
}

/// Whether only pages link to it whose links are lost with the store.
fn is_forgotten(url: &str) -> bool {
    ["/hidden/", "/behind-noindex/"].iter().any(|part| url.contains(part))
}

#[test]
fn reindex_rebuilds_a_damaged_store_and_the_crawl_resumes() {
    crawled_with(|place| {
        let path = place.path("out/store/db");
        let mut bytes = fs::read(&path).unwrap();
        let used = bytes.iter().rposition(|&byte| byte != 0).unwrap();
        bytes[..used].iter_mut().step_by(97).for_each(|byte| *byte ^= 0x55);
        fs::write(&path, bytes).unwrap();
    });
}

#[test]
fn reindex_rebuilds_a_missing_store_and_the_crawl_resumes() {
    crawled_with(|place| {
        let store = place.path("out/store");
        fs::remove_dir_all(&store).unwrap();
    });
}

#[test]
fn a_finished_crawl_requests_nothing_after_reindex() {
    let (web, graph) = planned_web();
    let place = Place::new();
    place.crawl(&graph.seeds()).finish().expect_code(0);
    let before = (web.asked(), lines(&place.path("out")));
    let kept = place.run(["reindex", "out"]).finish().expect_code(0);
    assert!(kept.stdout.contains("can be opened"), "{}", kept.stdout);
    let told = place.run(["reindex", "out", "--force"]).finish().expect_code(0);
    assert!(told.stdout.contains("Lost with the store:"), "{}", told.stdout);
    place.crawl(&graph.seeds()).finish().expect_code(0);
    let asked = web.asked();
    for (url, times) in &before.0 {
        let is_kept = before.1.get(url).is_some_and(|line| outcome(line) == "stored");
        assert!(!is_kept || asked[url] == *times, "{url} was fetched again");
    }
    let found = lines(&place.path("out"));
    let mut expected = before.1.clone();
    expected.retain(|url, _| !is_forgotten(url) || found.contains_key(url));
    assert_eq!(outcomes(&found), outcomes(&expected));
    assert_folder_is_sound(&place);
}
