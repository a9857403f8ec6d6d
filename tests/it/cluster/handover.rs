//! A host that changes its worker is asked no sooner than by one worker alone.

use std::sync::Arc;
use std::time::Duration;

use ndcrawl::cluster::Connector;

use super::servers::LocalServers;
use crate::program::{Place, Running};
use crate::web::{Answer, Content, Web};

const RETRY_AFTER: Duration = Duration::from_secs(12);
const GAP: Duration = Duration::from_millis(1500);

/// Hosts of eight pages in a row. `asks_to_wait`: whether the first answer of each is to come again later.
struct Patient {
    asks_to_wait: bool,
}

impl Content for Patient {
    fn answer(&self, url: &str, before: usize) -> Answer {
        let number: usize = match crate::graph::path(url) {
            "/" => 0,
            path => path[1..].parse().unwrap_or(100),
        };
        if number >= 8 {
            return Answer::error(404);
        }
        if self.asks_to_wait && number == 0 && before == 0 {
            let seconds = RETRY_AFTER.as_secs().to_string();
            return Answer { headers: vec![("retry-after", seconds)], ..Answer::error(503) };
        }
        Answer::html(format!("<!DOCTYPE html><title>{url}</title><p>the page {url}<p><a href=/{}>next</a>", number + 1))
    }
}

struct Handover {
    servers: LocalServers,
    place: Place,
    web: Web,
}

impl Handover {
    fn new(hosts: usize, asks_to_wait: bool) -> Self {
        let web = Web::start(hosts, |_| Arc::new(Patient { asks_to_wait }));
        Self { servers: LocalServers::start(), place: Place::new(), web }
    }

    fn worker(&self, number: usize, delay: &str) -> Running {
        let folder = self.place.path(&format!("worker-{number}"));
        let run = self.place.run(["--cluster", &self.servers.url(), "--slots=8", "--lease=2s", "--ip-delay=0", delay]);
        let run = run.args(["--allow-private", "--no-config", "--soft-404=off", "--progress=none", "--scope=host"]);
        run.args(["--depth=50", "-c8", "--out"]).args([folder]).args(self.web.origins()).start()
    }

    fn await_pages(&self, count: usize) {
        while self.web.pages_asked() < count {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A worker is asked to come again later, and killed. Returns how long after that its successor comes. `forgets`: whether
/// the rests of hosts are lost.
async fn comes_again_after(forgets: bool) -> Duration {
    let crawl = Handover::new(1, true);
    let first = crawl.worker(1, "--delay=100ms");
    crawl.await_pages(1);
    let session = Connector::new(crawl.servers.address()).connect().await.unwrap();
    // The commit that has the rest.
    loop {
        let row = session.client().query_one("SELECT count(rest) FROM nd_crawl.host", &[]).await.unwrap();
        if row.get::<_, i64>(0) > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    first.kill();
    if forgets {
        session.client().execute("UPDATE nd_crawl.host SET rest = NULL, until = NULL", &[]).await.unwrap();
    }
    let finished = crawl.worker(2, "--delay=100ms").finish();
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let requests = crawl.web.requests();
    let pages: Vec<_> = requests.iter().filter(|request| !request.url.ends_with("/robots.txt")).collect();
    assert!(pages.len() > 8, "{} requests", pages.len());
    pages[1].at - pages[0].at
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_host_that_asks_to_wait_is_not_asked_by_the_next_worker() {
    let after = comes_again_after(false).await;
    assert!(after >= RETRY_AFTER - Duration::from_millis(100), "{after:?}");
    // The control: without the rests in the database the next worker comes too soon.
    let after = comes_again_after(true).await;
    assert!(after < RETRY_AFTER - Duration::from_secs(1), "{after:?}");
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
fn a_frozen_worker_and_its_successor_keep_the_gap_of_a_host() {
    let crawl = Handover::new(4, false);
    let workers: Vec<Running> = (1..=2).map(|number| crawl.worker(number, "--delay=1500ms")).collect();
    crawl.await_pages(6);
    workers[0].signal("STOP");
    // Longer than its lease, and in the middle of gaps of the other one.
    std::thread::sleep(Duration::from_millis(5700));
    workers[0].signal("CONT");
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let requests = crawl.web.requests();
    for origin in crawl.web.origins() {
        let of_host: Vec<_> = requests.iter().filter(|request| request.url.starts_with(origin.as_str())).collect();
        assert!(of_host.len() >= 9, "{} requests to {origin}", of_host.len());
        for pair in of_host.windows(2) {
            let gap = pair[1].at - pair[0].at;
            // A request may be on its way longer than the next one.
            assert!(gap >= GAP * 9 / 10, "{} came {} ms after {}", pair[1].url, gap.as_millis(), pair[0].url);
        }
    }
}
