//! Depths do not depend on the order in which answers arrive.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::tempdir;
use tokio::sync::watch;

use super::site::{Site, http, page, redirect};
use super::{assert_sound, crawl, crawl_until, lines, setup};
use crate::crawl::CrawlSetup;
use crate::pipeline::{Stop, StopReason};

/// A hub one link away from the start, and a chain of pages to the same list. By the hub the items are within reach, by
/// the chain they are not. The hub fails so many times at first; with a stop, until the list has been asked for.
async fn late_hub(fails: usize, stop: Option<watch::Sender<Stop>>) -> Site {
    let is_listed = AtomicBool::new(stop.is_none());
    Site::new(move |path, times| match path {
        "/" => page(0, &["/hub", "/a"]),
        "/hub" if times < fails || !is_listed.load(Ordering::Relaxed) => http("500 Oops", "", ""),
        "/hub" => page(1, &["/moved"]),
        "/moved" => redirect("/list"),
        "/a" => page(2, &["/b"]),
        "/b" => page(3, &["/c"]),
        "/c" => page(4, &["/list"]),
        "/list" => {
            is_listed.store(true, Ordering::Relaxed);
            if let Some(stop) = stop.as_ref().filter(|_| times == 0) {
                stop.send_replace(Stop::Soon);
            }
            page(5, &["/item1", "/item2", "/"])
        }
        "/item1" => page(6, &["/beyond"]),
        "/item2" => page(7, &["/list"]),
        _ => http("404 Not Found", "", ""),
    })
    .await
}

fn near(site: &Site) -> CrawlSetup {
    let mut setup = setup(&[site.url("/")]);
    setup.frontier.depth = 4;
    setup
}

/// Outcome and depth by path.
fn depths(folder: &Path) -> BTreeMap<String, (String, u64)> {
    assert_sound(folder);
    let tell =
        |line: &serde_json::Value| (line["outcome"].as_str().unwrap().to_owned(), line["depth"].as_u64().unwrap());
    lines(folder).iter().map(|(path, line)| (path.clone(), tell(line))).collect()
}

fn expected() -> BTreeMap<String, (String, u64)> {
    let stored = [("/", 0), ("/hub", 1), ("/a", 1), ("/b", 2), ("/c", 3), ("/list", 2), ("/item1", 3), ("/item2", 3)];
    let mut expected: BTreeMap<_, _> =
        stored.iter().map(|(path, depth)| ((*path).to_owned(), ("stored".to_owned(), *depth))).collect();
    expected.insert("/moved".to_owned(), ("redirected".to_owned(), 2));
    expected.insert("/beyond".to_owned(), ("failed".to_owned(), 4));
    expected
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_comes_late_costs_nothing_that_lies_behind_it() {
    for fails in [0, 1] {
        let site = late_hub(fails, None).await;
        let folder = tempdir().unwrap();
        crawl(folder.path(), near(&site)).await;
        assert_eq!(depths(folder.path()), expected(), "the hub fails {fails} times");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shorter_path_that_turns_up_in_a_later_run_brings_back_what_lies_behind_pages_of_an_earlier_one() {
    let (stop, _) = watch::channel(Stop::Go);
    let site = late_hub(1, Some(stop.clone())).await;
    let folder = tempdir().unwrap();
    let mut patient = near(&site);
    patient.crawl.retries = 20;
    let ending = crawl_until(folder.path(), patient, stop).await;
    assert_eq!(ending.reason, StopReason::Signal);
    let before = lines(folder.path());
    assert_eq!(before["/list"]["depth"], 4, "{before:?}");
    crawl(folder.path(), near(&site)).await;
    assert_eq!(depths(folder.path()), expected());
    assert_eq!(site.times("/list"), 1, "it is not fetched again");

    // A finished crawl that is taken up again keeps the depths.
    let mut deeper = near(&site);
    deeper.frontier.depth = 5;
    crawl(folder.path(), deeper).await;
    assert_eq!(depths(folder.path()), expected());
}
