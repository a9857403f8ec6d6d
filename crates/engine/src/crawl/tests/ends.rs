//! How a run ends before the crawl does, and how another goes on.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tempfile::tempdir;
use tokio::sync::watch;

use crate::pipeline::{PipelineError, Stop, StopReason};

use super::super::CrawlError;
use super::site::{Answer, Site, missing, page};
use super::{Switch, assert_asked_once, assert_outcomes, assert_sound, crawl, crawl_until, lines, run, setup};
use ndcrawl_model::Normalizer;
use ndcrawl_store as store;

/// Pages behind the front page of a large site: more than one batch.
const MANY: u32 = 150;

fn numbered(path: &str) -> Answer {
    match path.strip_prefix("/n") {
        Some(number) => page(1 + number.parse::<u32>().unwrap(), &[]),
        None => missing(),
    }
}

async fn large_site() -> Site {
    let links: Vec<String> = (0..MANY).map(|number| format!("/n{number}")).collect();
    Site::new(move |path, _| match path {
        "/" => page(0, &links.iter().map(String::as_str).collect::<Vec<_>>()),
        path => numbered(path),
    })
    .await
}

fn stored(folder: &Path) -> BTreeSet<String> {
    lines(folder).into_iter().filter(|(_, line)| line["outcome"] == "stored").map(|(path, _)| path).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_ends_the_run_with_its_error_and_another_run_finishes_the_crawl() {
    let site = large_site().await;
    let folder = tempdir().unwrap();
    let faults = Switch::after_flushes(1);
    let error =
        run(folder.path(), setup(&[site.url("/")]), watch::channel(Stop::Go).0, Some(faults)).await.unwrap_err();
    assert!(matches!(error, CrawlError::Pipeline(PipelineError::Store(store::Error::DiskFull { .. }))), "{error}");

    // What the failed commit left behind is there until the folder is opened again.
    let ending = crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_eq!(ending.reason, StopReason::Finished);
    assert_eq!(stored(folder.path()).len(), 1 + MANY as usize);
    assert_sound(folder.path());
    let again = site.asked().len() - stored(folder.path()).len();
    assert!(again < MANY as usize, "nothing was committed before the failure: {again} pages were asked for again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_ends_the_run_although_a_fetch_hangs() {
    let site = Site::new(|path, _| if path == "/" { Answer::Silence } else { missing() }).await;
    let folder = tempdir().unwrap();
    let setup = setup(&[site.url("/")]);
    let error =
        run(folder.path(), setup, watch::channel(Stop::Go).0, Some(Switch::after_flushes(0))).await.unwrap_err();
    assert!(matches!(error, CrawlError::Pipeline(PipelineError::Store(store::Error::DiskFull { .. }))), "{error}");
}

/// A site whose page `/b` sends this stop when it is asked for the first time, and then answers or
/// is silent.
async fn stopping_site(how: Stop, silent: bool) -> (Site, watch::Sender<Stop>) {
    let (stop, _) = watch::channel(Stop::Go);
    let sender = stop.clone();
    let site = Site::new(move |path, times| match (path, times) {
        ("/", _) => page(0, &["/a", "/b", "/c"]),
        ("/b", 0) => {
            sender.send_replace(how);
            if silent { Answer::Silence } else { page(2, &["/d"]) }
        }
        ("/a", _) => page(1, &[]),
        ("/b", _) => page(2, &["/d"]),
        ("/c", _) => page(3, &[]),
        ("/d", _) => page(4, &[]),
        _ => missing(),
    })
    .await;
    (site, stop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_the_fetch_in_flight_end_and_the_next_run_fetches_only_the_rest() {
    let (site, stop) = stopping_site(Stop::Soon, false).await;
    let folder = tempdir().unwrap();
    let ending = crawl_until(folder.path(), setup(&[site.url("/")]), stop).await;
    assert_eq!((ending.reason, ending.deferred.len()), (StopReason::Signal, 0));
    assert_outcomes(folder.path(), &[("/", "stored"), ("/a", "stored"), ("/b", "stored")]);

    // The crawl knows its own seeds.
    crawl(folder.path(), setup(&[])).await;
    assert_outcomes(folder.path(), &["/", "/a", "/b", "/c", "/d"].map(|path| (path, "stored")));
    assert_asked_once(&site);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_at_once_drops_the_fetch_in_flight_and_the_next_run_repeats_it() {
    let (site, stop) = stopping_site(Stop::Now, true).await;
    let folder = tempdir().unwrap();
    let ending = crawl_until(folder.path(), setup(&[site.url("/")]), stop).await;
    assert_eq!(ending.reason, StopReason::Signal);
    assert_outcomes(folder.path(), &[("/", "stored"), ("/a", "stored")]);

    crawl(folder.path(), setup(&[])).await;
    assert_outcomes(folder.path(), &["/", "/a", "/b", "/c", "/d"].map(|path| (path, "stored")));
    assert_eq!((site.times("/b"), site.asked().len()), (2, 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_may_go_deeper_takes_a_finished_crawl_up_again() {
    let site = Site::new(|path, _| match path {
        "/" => page(0, &["/a"]),
        "/a" => page(1, &[]),
        _ => missing(),
    })
    .await;
    let folder = tempdir().unwrap();
    let shallow = || {
        let mut setup = setup(&[site.url("/")]);
        setup.frontier.depth = 0;
        setup
    };
    for _ in 0..2 {
        crawl(folder.path(), shallow()).await;
        assert_outcomes(folder.path(), &[("/", "stored"), ("/a", "deferred depth")]);
    }
    crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_outcomes(folder.path(), &[("/", "stored"), ("/a", "stored")]);
    assert_asked_once(&site);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_leaves_the_rest_and_failures_do_not_count_against_it() {
    let site = Site::new(|path, _| match path {
        "/" => page(0, &["/dead", "/a", "/b"]),
        "/a" => page(1, &[]),
        "/b" => page(2, &[]),
        _ => missing(),
    })
    .await;
    let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/")]));
    setup.frontier.max_pages = 2;
    let ending = crawl(folder.path(), setup).await;
    assert!(ending.budget_used_up);
    assert_outcomes(
        folder.path(),
        &[("/", "stored"), ("/dead", "failed http"), ("/a", "stored"), ("/b", "deferred budget")],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_limit_beyond_all_clocks_is_none_and_one_of_no_time_fetches_nothing() {
    let site = Arc::new(Site::new(|path, _| if path == "/" { page(0, &[]) } else { missing() }).await);
    for (time, reason) in
        [(std::time::Duration::ZERO, StopReason::Time), (std::time::Duration::MAX, StopReason::Finished)]
    {
        let (folder, mut setup) = (tempdir().unwrap(), setup(&[site.url("/")]));
        setup.crawl.max_time = Some(time);
        let ending = crawl(folder.path(), setup).await;
        assert_eq!((ending.reason, site.requests() > 0), (reason, reason == StopReason::Finished));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_that_is_added_takes_into_scope_what_was_excluded_before() {
    let other = Arc::new(OnceLock::new());
    let host = other.clone();
    let site = Site::new(move |path, _| {
        let host: &String = host.get().unwrap();
        match path {
            "/" => page(0, &[&format!("{host}/away"), &format!("{host}/away/deeper")]),
            "/away" => page(1, &["/away/deeper"]),
            "/away/deeper" => page(2, &[]),
            _ => missing(),
        }
    })
    .await;
    let away = site.url("/away").as_str().replace("127.0.0.1", "localhost");
    other.set(away.trim_end_matches("/away").to_owned()).unwrap();
    let folder = tempdir().unwrap();

    let ending = crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_eq!(ending.frontier.excluded, 2);
    assert_outcomes(folder.path(), &[("/", "stored"), ("/away", "excluded scope"), ("/away/deeper", "excluded scope")]);

    let away = Normalizer::default().absolute(&away).unwrap();
    let ending = crawl(folder.path(), setup(&[site.url("/"), away])).await;
    assert_eq!(ending.frontier.excluded, 0);
    assert_outcomes(folder.path(), &[("/", "stored"), ("/away", "stored"), ("/away/deeper", "stored")]);
    assert_sound(folder.path());
    assert_eq!(site.times("/"), 1);
}
