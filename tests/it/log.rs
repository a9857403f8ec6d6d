//! What the log tells of a crawl, by how often `-v` is given.

use crate::program::{Place, pages};

#[test]
fn a_crawl_can_be_followed_by_its_log() {
    let place = Place::new();
    let told =
        |flags: &[&str], out: &str| place.run(["demo", "-o", out].iter().chain(flags)).finish().expect_code(0).stderr;
    assert_eq!(told(&[], "silent"), "");

    let log = told(&["-v"], "told");
    for event in ["crawl begins", "politeness.delay = ", "robots.txt", "failed: http", "checkpoint", "crawl ends"] {
        assert!(log.contains(event), "'{event}' is not in:\n{log}");
    }
    assert!(log.lines().count() < 60 && log.lines().all(|line| line.starts_with("DEBUG ")), "{log}");

    let log = told(&["-vv"], "each");
    for line in pages(&place.path("each")).iter().filter(|line| line["status"].is_number()) {
        let url = line["url"].as_str().unwrap();
        assert!(log.contains(&format!("url={url} ")), "{url} is not in:\n{log}");
    }
    let libraries = told(&["-vvv"], "all").lines().count();
    assert!(libraries > 2 * log.lines().count(), "{libraries} lines");
}
