//! Workers that are killed between a verdict and its outcome, on a web whose pages change and vanish meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ndcrawl::cluster::{
    Connector, CrawlName, CrawlState, LogCheck, LoggedLine, ReplayOptions, check_log, logged_lines, open,
};
use ndcrawl::detect::{Options, SecondCheck};
use ndcrawl::model::{Detector, Slot};
use ndcrawl::seeded::SeededRng;
use serde_json::Value;

use super::crawl::OF_THE_CRAWL;
use super::servers::LocalServers;
use crate::invariants::{outcome, text, with_outcome};
use crate::program::{Place, Running};
use crate::web::{Answer, Content, Web};
use crate::words::{sentences, words_of};

const HOSTS: usize = 6;
const SLOTS: u16 = 16;
/// Pages of each host beside its front page.
const PAGES: usize = 16;
/// Where a worker dies: when its pages are sent, when it has answered a turn, when the turn has decided on its pages,
/// when these are archived, and when their outcomes are committed.
const POINTS: [&str; 6] = ["sent", "deciding", "entered", "turn", "archive", "commit"];
/// How often a worker passes a point, at most, before it dies there.
const TIMES: usize = 6;

/// Pages that stay, pages of another text at the second request, pages that are gone then, and copies of the first text
/// of such pages on other hosts.
struct ChangingWeb {
    origins: Vec<String>,
    seed: u64,
}

impl ChangingWeb {
    fn words(&self, host: usize, page: usize, version: usize) -> String {
        let host = host % self.origins.len();
        sentences(&words_of(self.seed, &format!("page {page} of host {host}, version {version}"), 150))
    }
}

impl Content for ChangingWeb {
    fn answer(&self, url: &str, before: usize) -> Answer {
        let Some(host) = self.origins.iter().position(|origin| url.starts_with(&format!("{origin}/"))) else {
            return Answer::error(404);
        };
        let path = crate::graph::path(url);
        let delay = Duration::from_millis(10 + 5 * (host as u64 % 4));
        if path == "/" {
            let links: String = (1..=PAGES).map(|page| format!("<a href='/p/{page}'>page {page}</a> ")).collect();
            let body = self.words(host, 0, 0);
            return Answer {
                delay,
                ..Answer::html(format!("<!DOCTYPE html><title>front {host}</title><p>{body}{links}"))
            };
        }
        let Some(page) = path.strip_prefix("/p/").and_then(|page| page.parse::<usize>().ok()) else {
            return Answer::error(404);
        };
        let body = match page % 4 {
            0 => self.words(host, page, 0),
            1 => self.words(host, page, before.min(1)),
            2 if before > 0 => return Answer { delay, ..Answer::error(404) },
            2 => self.words(host, page, 0),
            // Of a page that changes, or that vanishes.
            _ => self.words(host + 1, page - 1 - page / 4 % 2, 0),
        };
        Answer { delay, ..Answer::html(format!("<!DOCTYPE html><title>page</title><p>{body}")) }
    }
}

/// What a crawl has left.
struct Left {
    check: LogCheck,
    /// Duplicates whose line names a page that is not stored.
    naming_nobody: usize,
}

/// Crawls by two workers of which one dies at this point, when it passes it for the n-th time.
async fn crawl(name: &str, point: &str, times: usize, seed: u64, fault: bool) -> Left {
    let (servers, place) = (LocalServers::shared(), Place::new());
    let web = Web::start(HOSTS, |origins| Arc::new(ChangingWeb { origins: origins.to_vec(), seed }));
    let seeds: Vec<String> = web.origins().iter().map(|origin| format!("{origin}/")).collect();
    let worker = |number: usize, abort: Option<String>| {
        let folder = place.path(&format!("worker-{number}"));
        let mut run = place.run(["--cluster", &servers.url(), "--cluster-name", name, "-c", "8", "--out"]);
        run = run.args([folder]).args(OF_THE_CRAWL).args(["--host-concurrency=4"]).args(&seeds);
        if let Some(abort) = abort {
            run = run.env("TEST_NDCRAWL_ABORT_AT", &abort);
        }
        if fault {
            run = run.env("TEST_NDCRAWL_COMPLETE_CHANGED_PAGES", "1");
        }
        run.start()
    };
    let workers: [Running; 2] = [worker(1, Some(format!("{point}:{times}"))), worker(2, None)];
    let [killed, finished] = workers.map(Running::finish);
    // One that passes the point less often ends as the other one.
    assert!(killed.signal == Some(6) || killed.code == Some(0), "{killed:?}");
    assert_eq!(finished.code, Some(0), "{finished:?}");

    let session = Connector::new(servers.address()).connect().await.unwrap();
    let row = open(&session, &CrawlName::parse(name).unwrap()).await.unwrap();
    assert_eq!(row.state, CrawlState::Finished);
    let threshold = Options::default_threshold(Detector::Mwo, false);
    let options = Options { second: SecondCheck::None, threshold, ..Options::of(Detector::Mwo) };
    let check = check_log(&session, &row, ReplayOptions::all(options)).await.unwrap();
    let logged = logged_lines(&session, (0..SLOTS).map(Slot)).await.unwrap();
    let line = |LoggedLine { line, .. }: &LoggedLine| serde_json::from_str::<Value>(line).unwrap();
    let lines: BTreeMap<String, Value> =
        logged.iter().map(line).map(|line| (text(&line, "url").to_owned(), line)).collect();
    assert_eq!(lines.len(), HOSTS * (PAGES + 1), "each URL has an outcome");
    let stored = with_outcome(&lines, "stored");
    let duplicates = lines.values().filter(|line| outcome(line).ends_with("-duplicate"));
    let naming_nobody = duplicates.filter(|line| !stored.contains(text(line, "duplicate_of"))).count();
    if check.is_sound() && !fault {
        let folder = place.path("gathered");
        place.run(["gather", &servers.url(), "--cluster-name", name, "-o"]).args([&folder]).finish().expect_code(0);
        place.run(["verify"]).args([&folder]).finish().expect_code(0);
    }
    // The lease of a worker that died late has not run out.
    let drop = || place.run(["cluster", "drop", &servers.url(), "--cluster-name", name]).finish();
    let mut dropped = drop();
    for _ in 0..60 {
        if !dropped.stderr.contains("at work on the crawl") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        dropped = drop();
    }
    dropped.expect_code(0);
    Left { check, naming_nobody }
}

/// Crawls round by round, each by another point. Returns the withdrawals.
async fn rounds(count: usize, seed: u64) -> u64 {
    let mut withdrawn = 0;
    for round in 0..count {
        let point = POINTS[round % POINTS.len()];
        let mut random = SeededRng::new(seed, &format!("round {round}"));
        let times = 1 + random.below(TIMES);
        let name = format!("lost_{seed}_{round}");
        let Left { check, naming_nobody } = crawl(&name, point, times, seed + round as u64, false).await;
        eprintln!(
            "round {round}: {point}:{times}, {} pages, {} withdrawn, {} named one that left",
            check.replay.pages, check.replay.withdrawn, check.naming_withdrawn
        );
        assert!(check.is_sound(), "round {round}, {point}:{times}: {check:?}");
        assert_eq!(check.uncompleted, 0, "round {round}, {point}:{times}: {check:?}");
        assert!(naming_nobody as u64 <= check.naming_withdrawn, "round {round}, {point}:{times}: {naming_nobody}");
        withdrawn += check.replay.withdrawn;
    }
    withdrawn
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn pages_of_killed_workers_are_completed_replaced_or_withdrawn() {
    let of_variable = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let count = of_variable("LOST_PAGES_ROUNDS").unwrap_or(POINTS.len());
    let seed = of_variable("LOST_PAGES_SEED").unwrap_or(1);
    eprintln!("LOST_PAGES_SEED={seed}");
    let withdrawn = rounds(count, seed as u64).await;
    assert!(withdrawn > 0, "no page was judged and not completed");
}

/// The control: a process that completes what it finds as what was judged is noticed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_postgres), ignore = "needs postgresql")]
async fn completing_what_was_not_judged_is_noticed() {
    let mut found = (0, 0);
    for round in 0..6 {
        let times = 3 + round as usize % 3;
        let Left { check, .. } = crawl(&format!("not_judged_{round}"), "turn", times, 2 + round, true).await;
        eprintln!("turn:{times}, {} of another body, {} without outcome", check.changed, check.uncompleted);
        found = (found.0 + check.changed, found.1 + check.uncompleted);
        assert_eq!(check.is_sound(), check.changed == 0, "{check:?}");
        if found.0 > 0 && found.1 > 0 {
            return;
        }
    }
    panic!("{} stored pages of another body, {} judged ones without outcome", found.0, found.1);
}
