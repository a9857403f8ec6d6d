//! What a crawl of several processes refuses, beside [servers](super::commands) and plans: each with what to do instead.

use super::crawl::{SharedCrawl, slow};
use super::servers::LocalServers;
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
        (&["--keep", "longest"], "--keep cannot be shared by several processes\nhint: several processes keep"),
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
