//! What a crawl of several processes refuses, beside [servers](super::commands) and plans: each with what to do instead.

use std::time::Duration;

use ndcrawl::cluster::{ArrivalRange, ClusterError, Judge, Refusal};

use super::crawl::{SharedCrawl, slow};
use super::servers::LocalServers;
use super::{begin, plan, session};
use crate::program::Place;

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn settings_that_one_process_must_have_alone_are_refused() {
    let (servers, place) = (LocalServers::shared(), Place::new());
    for (flags, message) in [
        (
            &["--engine", "spider"][..],
            "--engine cannot be shared by several processes\nhint: the engine spider chooses",
        ),
        (&["--against", "x"], "--against cannot be shared by several processes\nhint: compare with earlier crawls by"),
        (&["--recrawl"], "--recrawl cannot be shared by several processes\nhint: crawl again with one process"),
        (&["--focus", "heat pumps"], "--focus cannot be shared by several processes\nhint: a topic is learned by one"),
        (&["--detector", "dd"], "--detector cannot be shared by several processes\nhint: only mwo compares"),
        (&["--filter", "paper"], "--filter cannot be shared by several processes\nhint: only the exact index finds"),
        (&["--matching", "any"], "--matching cannot be shared by several processes\nhint: the first match found"),
    ] {
        let run = place.run(["--cluster", &servers.url(), "--cluster-name", "refused", "http://127.0.0.1:1/"]);
        let refused = run.args(["--allow-private", "--no-config", "-o", "out"]).args(flags).finish().expect_code(2);
        assert!(refused.stdout.is_empty() && refused.stderr.contains(message), "{flags:?}: {}", refused.stderr);
    }
    // Nothing was made.
    let status = place.run(["status", &servers.url(), "--cluster-name", "refused"]).finish().expect_code(2).stderr;
    assert!(status.contains("there is no crawl 'refused' in this database"), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn two_workers_do_not_write_one_archive() {
    let crawl = SharedCrawl::new("one_archive", slow(45, 80));
    let first = crawl.worker(1, &[]);
    crawl.await_pages(5);
    let second = crawl.worker(1, &[]).finish().expect_code(2).stderr;
    assert!(second.contains("another worker writes its archive to '"), "{second}");
    assert!(second.contains("give each worker a folder of its own"), "{second}");
    first.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_crawl_with_too_many_pages_is_refused() {
    let plan = plan("too_many", 1);
    let mut session = session(LocalServers::shared(), &plan).await;
    let run = begin(&mut session, "too-many", Duration::from_secs(60)).await.unwrap();
    let most: i64 = 1 << 31;
    session.client().execute("UPDATE crawl SET pages = $1", &[&(most - 10)]).await.unwrap();
    let mut judge = Judge::take(&mut session, run.id()).await.unwrap().unwrap();
    let turn = |count| [ArrivalRange { run: run.id(), first: 0, count }];
    judge.open_turn(&mut session, &turn(10)).await.unwrap();
    let refused = judge.open_turn(&mut session, &turn(11)).await.unwrap_err();
    assert!(matches!(refused, ClusterError::Refused(Refusal::TooManyPages(pages)) if pages == most), "{refused:?}");
    let told = refused.to_string();
    assert!(told.contains("the crawl has 2147483648 pages, and can have no more: gather it"), "{told}");
}
