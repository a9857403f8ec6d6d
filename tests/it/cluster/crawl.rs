//! Workers that crawl together: the program itself, on real database servers and a web on loopback.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek, SeekFrom};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use flate2::read::GzDecoder;
use ndcrawl::cluster::{
    Connector, CrawlName, CrawlRow, CrawlState, LoggedLine, ReplayOptions, Session, check_log, logged_lines, open,
};
use ndcrawl::detect::{Options, SecondCheck};
use ndcrawl::model::{Detector, Slot};
use ndcrawl::seeded::SeededRng;
use serde_json::Value;

use super::servers::LocalServers;
use crate::graph::{Graph, Options as GraphOptions, planned_web};
use crate::invariants::{Lines, outcome, text, with_outcome};
use crate::needs::{LowPorts, has_all};
use crate::program::{Place, Running};
use crate::web::{Answer, Content, Web};

const SLOTS: u16 = 16;

/// Flags of the crawl, the same for each worker.
pub(super) const OF_THE_CRAWL: [&str; 15] = [
    "--slots=16",
    "--delay=0",
    "--ip-delay=0",
    "--host-concurrency=8",
    "--scope=host",
    "--depth=50",
    "--duplicate-links=follow",
    "--predicted=fetch",
    "--detector-option=second_check=none",
    "--soft-404=off",
    "--trap-guard=off",
    "--lease=2s",
    "--no-config",
    "--allow-private",
    "--progress=none",
];

/// A crawl under test.
pub struct SharedCrawl {
    pub servers: LocalServers,
    pub place: Place,
    pub name: &'static str,
    pub web: Web,
    pub graph: Arc<Graph>,
}

impl SharedCrawl {
    pub fn new(name: &'static str, options: GraphOptions) -> Self {
        Self::of(name, planned_web(6, options))
    }

    fn of(name: &'static str, (web, graph): (Web, Arc<Graph>)) -> Self {
        Self { servers: LocalServers::start(), place: Place::new(), name, web, graph }
    }

    /// Starts a worker with these further flags.
    pub fn worker(&self, number: usize, flags: &[&str]) -> Running {
        self.worker_at(number, &self.servers.url(), flags)
    }

    /// The same with another address of the servers.
    pub fn worker_at(&self, number: usize, url: &str, flags: &[&str]) -> Running {
        let folder = self.place.path(&format!("worker-{number}"));
        let run = self.place.run(["--cluster", url, "--cluster-name", self.name, "-c", "8", "--out"]);
        run.args([folder]).args(OF_THE_CRAWL).args(flags).args(self.graph.seeds()).start()
    }

    /// Waits until so many pages were asked for.
    pub fn await_pages(&self, count: usize) {
        while self.web.pages_asked() < count {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A session that uses the crawl.
    pub async fn connected(&self) -> (Session, CrawlRow) {
        let session = Connector::new(self.servers.address()).connect().await.unwrap();
        let crawl = open(&session, &CrawlName::parse(self.name).unwrap()).await.unwrap();
        (session, crawl)
    }

    /// The same, once the crawl is over.
    pub async fn session(&self) -> (Session, CrawlRow) {
        let (session, crawl) = self.connected().await;
        assert_eq!(crawl.state, CrawlState::Finished);
        (session, crawl)
    }

    /// What holds after every crawl: one decider gives the same verdicts, each URL has one outcome, and each stored page
    /// is in an archive. Returns the lines.
    pub async fn audit(&self) -> Lines {
        let (session, crawl) = self.session().await;
        let check = check_log(&session, &crawl, ReplayOptions::all(options())).await.unwrap();
        assert!(check.is_sound() && check.replay.pages > 0, "{check:?}");
        assert_eq!(check.uncompleted, 0);
        let logged = logged_lines(&session, (0..SLOTS).map(Slot)).await.unwrap();
        let mut lines = Lines::new();
        for LoggedLine { folder, line } in logged {
            let line: Value = serde_json::from_str(&line).unwrap();
            let url = text(&line, "url").to_owned();
            if outcome(&line) == "stored" {
                self.assert_archived(&folder, &line);
            }
            if let Some(other) = lines.insert(url.clone(), line) {
                panic!("two outcomes of {url}: {other} and in {folder} {}", lines[&url]);
            }
        }
        lines
    }

    fn assert_archived(&self, folder: &str, line: &Value) {
        let (file, offset) = (text(line, "warc_file"), line["warc_offset"].as_u64().unwrap());
        let workers = self.place.names().into_iter().filter(|name| name.starts_with("worker-"));
        // One that was killed has not given its last file its final name.
        let candidates = workers.flat_map(|worker| {
            let path = self.place.path(&worker).join(folder).join(file);
            [path.clone(), PathBuf::from(format!("{}.open", path.display()))]
        });
        let is_there =
            candidates.filter(|path| path.exists()).any(|path| target_at(&path, offset) == text(line, "url"));
        assert!(is_there, "no record of {line} in {folder}");
    }

    /// Checks that each page of the plan was fetched, and that of copies one is stored.
    pub fn assert_as_planned(&self, lines: &Lines) {
        for (url, expected) in self.graph.expected(true) {
            // What is out of scope is never fetched.
            if expected.reason != Some("scope") {
                let found = lines.get(&url).unwrap_or_else(|| panic!("no line for {url}, expected {expected:?}"));
                let is_page = |outcome: &str| outcome == "stored" || outcome.ends_with("-duplicate");
                // Which of the copies was decided first depends on the workers.
                let agrees = outcome(found) == expected.outcome || is_page(outcome(found)) && is_page(expected.outcome);
                assert!(agrees, "{found}, expected {expected:?}");
            }
        }
        let mut kept = BTreeMap::new();
        for url in with_outcome(lines, "stored") {
            if let Some(other) = kept.insert(self.graph.original(url), url) {
                panic!("{url} and {other} are both stored");
            }
        }
        for line in lines.values().filter(|line| outcome(line).ends_with("-duplicate")) {
            let of = text(line, "duplicate_of");
            assert_eq!(self.graph.original(of), self.graph.original(text(line, "url")), "{line}");
        }
    }

    /// Gathers the crawl into a folder, which must be sound. Returns its name.
    pub fn gather(&self) -> PathBuf {
        let folder = self.place.path("gathered");
        let url = self.servers.url();
        self.place.run(["gather", &url, "--cluster-name", self.name, "-o"]).args([&folder]).finish().expect_code(0);
        self.place.run(["verify"]).args([&folder]).finish().expect_code(0);
        folder
    }

    /// Checks that no page was asked for twice.
    pub fn assert_asked_once(&self) {
        let asked = self.web.asked();
        let twice: Vec<_> = asked.iter().filter(|(url, times)| **times > 1 && !self.graph.is_flaky(url)).collect();
        assert_eq!(twice, Vec::<(&String, &usize)>::new());
    }
}

/// The detector that [`OF_THE_CRAWL`] sets.
fn options() -> Options {
    let threshold = Options::default_threshold(Detector::Mwo, false);
    Options { second: SecondCheck::None, threshold, ..Options::of(Detector::Mwo) }
}

/// Returns the URL of the record at this place of an archive; empty if there is none.
fn target_at(path: &Path, offset: u64) -> String {
    let mut file = std::fs::File::open(path).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    let mut record = String::new();
    let mut start = GzDecoder::new(file).take(2000);
    let mut bytes = Vec::new();
    if start.read_to_end(&mut bytes).is_err() {
        return record;
    }
    let header = String::from_utf8_lossy(&bytes).into_owned();
    if let Some(line) = header.lines().find_map(|line| line.strip_prefix("WARC-Target-URI: ")) {
        record = line.trim().to_owned();
    }
    record
}

pub fn slow(seed: u64, pages: usize) -> GraphOptions {
    let delay = (Duration::from_millis(20), Duration::from_millis(60));
    GraphOptions { seed, pages, oddities: false, delay, ..GraphOptions::default() }
}

/// One that takes many times as long as a worker needs to see that it is to end.
fn very_slow(seed: u64, pages: usize) -> GraphOptions {
    GraphOptions { delay: (Duration::from_millis(150), Duration::from_millis(250)), ..slow(seed, pages) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn three_workers_crawl_each_page_once() {
    let crawl = SharedCrawl::new("three", slow(31, 120));
    let workers: Vec<Running> = (1..=3).map(|number| crawl.worker(number, &[])).collect();
    for worker in workers {
        let finished = worker.finish();
        assert!(finished.stdout.starts_with("crawl 'three': finished"), "{finished:?}");
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
    crawl.assert_asked_once();

    let folder = crawl.gather();
    let gathered = crate::invariants::lines(&folder);
    for (url, line) in &lines {
        assert_eq!(outcome(&gathered[url]), outcome(line));
        assert_eq!(gathered[url].get("duplicate_of"), line.get("duplicate_of"));
    }
    let exported = crawl.place.path("pages.jsonl");
    crawl.place.run(["export"]).args([&folder]).args(["-o"]).args([&exported]).finish().expect_code(0);
    let texts = std::fs::read_to_string(exported).unwrap();
    assert_eq!(texts.lines().count(), with_outcome(&lines, "stored").len());
    crawl.place.run(["report"]).args([&folder]).finish().expect_code(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_of_one_command_get_whole_lists_and_crawl_on_port_80() {
    if !has_all(&[LowPorts]) {
        return;
    }
    let addresses = ["127.0.0.83", "127.0.0.84"];
    let listeners = addresses.map(|address| TcpListener::bind((address, 80)).unwrap()).into();
    let mut graph = None;
    let web = Web::start_on(listeners, |origins| {
        let planned = Arc::new(Graph::new(origins, slow(34, 60)));
        graph = Some(Arc::clone(&planned));
        planned
    });
    let crawl = SharedCrawl::of("ports", (web, graph.unwrap()));
    let url = crawl.servers.url();
    let run =
        crawl.place.run(["--cluster", &url, "--cluster-name", "ports", "--workers", "3", "-c", "8", "--out", "."]);
    let flags = OF_THE_CRAWL.into_iter().filter(|flag| *flag != "--allow-private");
    // Each of the workers meets both addresses.
    let run = run.args(addresses.map(|address| format!("--allow-net={address}"))).args(flags);
    let finished = run.args(crawl.graph.seeds()).finish().expect_code(0);
    assert!(!finished.stderr.contains("ended with"), "{}", finished.stderr);
    let lines = crawl.audit().await;
    assert!(lines.len() > 50 && lines.keys().all(|url| !url.contains(":80")), "{:?}", lines.keys());
    crawl.assert_as_planned(&lines);
    let folder = crawl.gather();
    assert_eq!(crate::invariants::lines(&folder).len(), lines.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn killed_workers_lose_nothing() {
    let crawl = SharedCrawl::new("killed", slow(32, 160));
    let mut workers: Vec<Running> = (1..=3).map(|number| crawl.worker(number, &[])).collect();
    // One after the other, in the middle of their work; two more come in their place.
    for (round, pages) in [40, 90].into_iter().enumerate() {
        crawl.await_pages(pages);
        workers.remove(0).kill();
        workers.push(crawl.worker(4 + round, &[]));
    }
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_come_and_go() {
    let crawl = SharedCrawl::new("come_and_go", slow(33, 160));
    let mut workers = vec![crawl.worker(1, &[])];
    crawl.await_pages(30);
    workers.extend((2..=4).map(|number| crawl.worker(number, &[])));
    crawl.await_pages(100);
    for worker in workers.drain(..2) {
        worker.signal("INT");
        let finished = worker.finish();
        assert_eq!(finished.code, Some(130), "{finished:?}");
    }
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
    crawl.assert_asked_once();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_limit_of_pages_holds_for_all_workers_together() {
    let crawl = SharedCrawl::new("limit", slow(34, 160));
    let workers: Vec<Running> = (1..=3).map(|number| crawl.worker(number, &["--max-pages=77"])).collect();
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let lines = crawl.audit().await;
    let is_page = |line: &&Value| outcome(line) == "stored" || outcome(line).ends_with("-duplicate");
    assert_eq!(lines.values().filter(is_page).count(), 77);

    // One process goes on where they stopped, with the links that were on their way between them.
    let folder = crawl.gather();
    let run = crawl.place.run(["--max-pages=1000", "-c8", "--allow-private", "--progress=none", "-o"]).args([&folder]);
    let flags = OF_THE_CRAWL.iter().filter(|flag| !flag.starts_with("--slots") && !flag.starts_with("--lease"));
    run.args(flags).finish().expect_code(0);
    crawl.assert_as_planned(&crate::invariants::lines(&folder));
    crawl.place.run(["verify"]).args([&folder]).finish().expect_code(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_crawl_goes_on_after_the_primary_was_killed() {
    let crawl = SharedCrawl::new("failover", slow(35, 160));
    let workers: Vec<Running> = (1..=2).map(|number| crawl.worker(number, &["--one-copy"])).collect();
    crawl.await_pages(60);
    crawl.servers.run("kill-primary");
    crawl.servers.run("promote");
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_frozen_worker_commits_nothing_when_it_wakes_up() {
    let crawl = SharedCrawl::new("frozen", slow(36, 160));
    let workers: Vec<Running> = (1..=2).map(|number| crawl.worker(number, &[])).collect();
    crawl.await_pages(60);
    workers[0].signal("STOP");
    // Longer than its lease: the other one takes its slots.
    std::thread::sleep(Duration::from_secs(5));
    workers[0].signal("CONT");
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
}

/// Pages that name each other, on many hosts of one address.
struct Crowd;

impl Content for Crowd {
    fn answer(&self, _: &str, _: usize) -> Answer {
        Answer::error(404)
    }

    fn answer_to(&self, url: &str, before: usize, headers: &HeaderMap) -> Answer {
        let path = crate::graph::path(url);
        if path == "/robots.txt" {
            return self.answer(url, before);
        }
        let url = &format!("http://{}{path}", headers["host"].to_str().unwrap());
        let links: String = (0..3).map(|number| format!("<a href='/{number}'>page {number}</a> ")).collect();
        let mut random = SeededRng::new(1, url);
        let words: String = (0..80).map(|_| format!("word{} ", random.below(100_000))).collect();
        Answer::html(format!("<!DOCTYPE html><title>{url}</title><p>{words}{links}"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_crawl_that_was_stopped_goes_on() {
    let crawl = SharedCrawl::new("stopped", very_slow(35, 240));
    let of_crawl = [&*crawl.servers.url(), "--cluster-name", crawl.name];
    let command = |command: &str| crawl.place.run(["cluster", command]).args(of_crawl).finish();
    let cluster = |name: &str| command(name).expect_code(0).stderr;
    let joining = || {
        let flags = ["-c8", "--lease=2s", "--no-config", "--allow-private", "--progress=none", "--out"];
        crawl.place.run(["worker"]).args(of_crawl).args(flags).args([crawl.place.path("worker-9")]).finish()
    };
    let workers: Vec<Running> = (1..=2).map(|number| crawl.worker(number, &[])).collect();
    crawl.await_pages(30);
    assert!(cluster("stop").contains("`ndcrawl cluster resume` has it go on"));
    for worker in workers {
        let told = worker.finish().expect_code(143).stdout;
        assert!(told.starts_with("crawl 'stopped': stopped\n"), "{told}");
    }
    let asked = crawl.web.pages_asked();
    joining().expect_code(143);
    assert_eq!(crawl.web.pages_asked(), asked, "who joins does not undo the stop");

    let again = crawl.worker(3, &[]);
    crawl.await_pages(asked + 10);
    cluster("stop");
    again.finish().expect_code(143);
    assert!(cluster("resume").contains("goes on: start its workers"));
    assert!(cluster("resume").contains("was not stopped"));
    joining().expect_code(0);
    assert!(cluster("stop").contains("is finished"));
    assert!(command("resume").expect_code(5).stderr.contains("is finished"));
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn a_worker_ends_at_its_time_and_where_no_room_is_left() {
    let crawl = SharedCrawl::new("limits_of_workers", very_slow(36, 240));
    let told = crawl.worker(1, &["--max-time=3s"]).finish().expect_code(0).stdout;
    assert!(told.starts_with("crawl 'limits_of_workers': left by this worker, whose time is over\n"), "{told}");
    let asked = crawl.web.pages_asked();
    let told = crawl.worker(2, &["--min-free=9000T"]).finish().expect_code(7).stderr;
    assert!(told.contains("worker-2") && told.contains("hint: "), "{told}");

    crawl.worker(3, &[]).finish().expect_code(0);
    assert!(crawl.web.pages_asked() > asked, "the worker has left something to others");
    let lines = crawl.audit().await;
    crawl.assert_as_planned(&lines);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn workers_keep_the_gap_of_an_address_together() {
    const GAP: Duration = Duration::from_millis(200);
    let (servers, place) = (LocalServers::start(), Place::new());
    let web = Web::start(1, |_| Arc::new(Crowd));
    let port = web.origins()[0].rsplit(':').next().unwrap().to_owned();
    let hosts: Vec<String> = (0..7).map(|number| format!("host-{number}.test")).collect();
    let seeds: Vec<String> = hosts.iter().map(|host| format!("http://{host}:{port}/")).collect();
    let workers = (1..=3).map(|number| {
        let folder = place.path(&format!("worker-{number}"));
        let run = place.run(["--cluster", &servers.url(), "--slots=16", "--delay=200ms", "--ip-delay=200ms", "-c8"]);
        let run = run.args(["--resolve=*:127.0.0.1", "--allow-private", "--no-config", "--soft-404=off", "--out"]);
        run.args([folder]).args(&seeds).start()
    });
    let workers: Vec<Running> = workers.collect();
    for worker in workers {
        let finished = worker.finish();
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let requests = web.requests();
    assert!(requests.len() >= 3 * hosts.len(), "{}", requests.len());
    let remotes: BTreeSet<_> = requests.iter().map(|request| request.remote).collect();
    assert!(remotes.len() >= 3);
    for pair in requests.windows(2) {
        let gap = pair[1].at - pair[0].at;
        assert!(gap >= GAP, "{} came {} ms after {}", pair[1].url, gap.as_millis(), pair[0].url);
    }
}
