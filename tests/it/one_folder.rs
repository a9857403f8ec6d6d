//! Two crawls and one folder: which seeds may join, which limits go on, and what `status` says.

use std::time::Duration;

use crate::graph::{Options, planned_web};
use crate::program::Place;

fn hosts(place: &Place) -> usize {
    let pages = place.pages();
    let hosts = pages.iter().filter(|line| line["outcome"] == "stored").filter_map(|line| line["url"].as_str());
    hosts.map(|url| url.split('/').nth(2).unwrap()).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn a_second_site_joins_only_if_it_is_added() {
    let (web, graph) = planned_web(2, Options { pages: 10, ..Options::default() });
    let seeds = graph.seeds();
    let place = Place::new();
    place.crawl(&seeds[..1]).finish().expect_code(0);
    let before = (place.pages(), web.pages_asked());

    for flags in [&[][..], &["--resume"], &["--recrawl"]] {
        let refused = place.crawl(&seeds[1..]).args(flags).finish().expect_code(5);
        assert!(refused.stderr.contains(&format!("the folder holds the crawl of {},", seeds[0])), "{}", refused.stderr);
        assert!(refused.stderr.contains("-o DIR") && refused.stderr.contains("--add"), "{}", refused.stderr);
    }
    assert_eq!((place.pages(), web.pages_asked()), before, "nothing was fetched, set aside or written");
    assert!(!place.path("out/earlier").exists());

    place.crawl(&seeds[1..]).args(["--add"]).finish().expect_code(0);
    assert_eq!(hosts(&place), 2);
    // Now both are seeds, and either may be named.
    place.crawl(&seeds[1..]).finish().expect_code(0);
    place.crawl(&seeds).finish().expect_code(0);
}

#[test]
fn a_site_that_did_not_answer_does_not_join_the_next_one() {
    let (_web, graph) = planned_web(1, Options { pages: 5, ..Options::default() });
    let place = Place::new();
    place.crawl(&["http://127.0.0.1:9/"]).args(["--retries", "0"]).finish().expect_code(1);
    place.crawl(&graph.seeds()).finish().expect_code(0);
    let crawl = std::fs::read_to_string(place.path("out/crawl.json")).unwrap();
    assert!(!crawl.contains("127.0.0.1:9/"), "{crawl}");
}

#[test]
fn a_limit_that_is_reached_is_named_and_a_higher_one_goes_on() {
    let (_web, graph) = planned_web(1, Options { pages: 30, ..Options::default() });
    for limit in ["--max-pages", "--max-pages-per-host"] {
        let place = Place::new();
        let crawl = |flags: &[&str]| place.crawl(&graph.seeds()).args(flags).finish().expect_code(0);
        let first = crawl(&[limit, "5"]);
        assert!(first.stderr.contains("with a higher limit"), "{}", first.stderr);
        let status = place.run(["status", "out"]).finish().expect_code(0).stdout;
        assert!(status.contains(&format!("{limit} reached; it goes on with a higher limit")), "{status}");
        let again = crawl(&["--resume", limit, "5"]);
        assert!(again.stderr.contains(&format!("had already reached {limit} with 5 pages")), "{}", again.stderr);
        let more = crawl(&["--resume", limit, "9", "--json"]).json();
        let count = |name: &str| more[name].as_u64().unwrap();
        assert_eq!(count("stored") + count("near_duplicates") + count("exact_duplicates"), 9, "{more}");
    }
}

#[test]
fn the_status_of_a_killed_crawl_is_that_it_stopped() {
    let delay = (Duration::from_millis(20), Duration::from_millis(40));
    let (web, graph) = planned_web(1, Options { pages: 40, delay, ..Options::default() });
    let place = Place::new();
    let mut running = place.crawl(&graph.seeds()).start();
    assert!(running.wait_until(|| web.pages_asked() > 10 && place.path("out/status.json").exists()));
    let status = |flags: &[&str]| place.run(["status", "out"]).args(flags).finish().expect_code(0);
    assert!(status(&[]).stdout.starts_with("Running for "), "{}", status(&[]).stdout);
    assert_eq!(status(&["--json"]).json()["state"], "running");
    running.kill();

    assert!(status(&[]).stdout.starts_with("Stopped ") && status(&[]).stdout.contains(" was killed; run it again"));
    let json = status(&["--json"]).json();
    assert_eq!((&json["state"], &json["cause"]), (&"stopped".into(), &"killed".into()));
    assert_eq!(json["leased"], 0);

    place.crawl(&graph.seeds()).finish().expect_code(0);
    assert!(status(&[]).stdout.starts_with("Finished "), "{}", status(&[]).stdout);
}
