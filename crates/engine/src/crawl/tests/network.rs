//! Lost connections at the start of a crawl: a server's, or the network's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tempfile::tempdir;

use super::site::{Answer, Site, page};
use super::{assert_outcomes, crawl, outcomes, setup};

/// A site whose first so many requests get no answer.
async fn losing(lost: usize) -> Site {
    let requests = AtomicUsize::new(0);
    Site::new(move |path, _| match (requests.fetch_add(1, Ordering::SeqCst) < lost, path) {
        (true, _) => Answer::Http(String::new()),
        (_, "/") => page(0, &["/a"]),
        (_, path) => page(path.len() as u32, &[]),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_whose_first_connection_is_lost_is_tried_again() {
    let site = losing(1).await;
    let folder = tempdir().unwrap();
    let ending = crawl(folder.path(), setup(&[site.url("/")])).await;
    assert_eq!(ending.failed_seeds, []);
    assert_outcomes(folder.path(), &[("/", "stored"), ("/a", "stored")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_robots_the_request_for_the_seed_itself_is_tried_again() {
    let site = losing(1).await;
    let folder = tempdir().unwrap();
    let mut setup = setup(&[site.url("/")]);
    setup.fetch.ignore_robots = true;
    crawl(folder.path(), setup).await;
    assert_outcomes(folder.path(), &[("/", "stored"), ("/a", "stored")]);
    assert_eq!((site.times("/"), site.requests()), (2, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_that_nobody_answers_for_is_tried_twice_and_fails() {
    for ignore_robots in [false, true] {
        let site = losing(usize::MAX).await;
        let folder = tempdir().unwrap();
        let mut setup = setup(&[site.url("/"), site.url("/other")]);
        setup.fetch.ignore_robots = ignore_robots;
        let ending = crawl(folder.path(), setup).await;
        assert_eq!(ending.failed_seeds.len(), 2);
        assert_outcomes(folder.path(), &[("/", "failed protocol"), ("/other", "failed protocol")]);
        let each = if ignore_robots { 2 } else { 1 };
        assert_eq!(site.requests(), 2 * each, "each request twice; robots.txt counts for both seeds");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_retries_there_is_none_before_the_first_answer_either() {
    let site = losing(1).await;
    let folder = tempdir().unwrap();
    let mut setup = setup(&[site.url("/")]);
    (setup.crawl.retries, setup.fetch.retries) = (0, 0);
    crawl(folder.path(), setup).await;
    assert_outcomes(folder.path(), &[("/", "failed protocol")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_that_failed_before_the_first_answer_is_tried_again_after_it() {
    for ignore_robots in [false, true] {
        let shaky = Arc::new(losing(2).await);
        let watched = shaky.clone();
        // It answers when the other seed has failed as often as is allowed before any answer.
        let late = Site::new(move |_, _| {
            tokio::task::block_in_place(|| {
                while watched.requests() < 2 {
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            page(7, &[])
        })
        .await;
        let folder = tempdir().unwrap();
        let mut setup = setup(&[shaky.url("/"), late.url("/late")]);
        // Both are at one address.
        setup.fetch.host_concurrency = 2;
        setup.fetch.ignore_robots = ignore_robots;
        let ending = crawl(folder.path(), setup).await;
        assert_eq!(ending.failed_seeds, []);
        let expected = [("/", "stored"), ("/a", "stored"), ("/late", "stored")];
        assert_eq!(outcomes(folder.path()), expected.map(|(path, outcome)| (path.into(), outcome.into())).into());
    }
}
