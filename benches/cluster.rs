//! *How much faster do several workers crawl, and what does sharing cost?*
//!
//! Runs the program against made hosts on loopback, with PostgreSQL and its standby on the same machine: once alone, and
//! with several workers. Where the web is slow, workers add up. Where the processors are the limit, no worker adds one,
//! and the database takes its share.
//!
//! `cargo bench --bench cluster [-- latency|processors]`. Needs PostgreSQL. `-- serve FILE` serves the slow web until its
//! standard input ends, and writes the seeds into FILE: for crawlers of others.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../tests/it/program.rs"]
mod program;
#[allow(dead_code)]
#[path = "../tests/it/cluster/servers.rs"]
mod servers;
#[allow(dead_code)]
#[path = "../tests/it/web.rs"]
mod web;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ndcrawl::cluster::{Connector, CrawlName, decision_times, open};
use ndcrawl::seeded::SeededRng;

use program::{Place, Running};
use servers::LocalServers;
use web::{Answer, Content, Web};

const PATIENCE: Duration = Duration::from_secs(1800);

/// Hosts with a tree of pages each. Every fifth page is a page of another host but for some words.
struct Hosts {
    pages: usize,
    words: usize,
    delay: Duration,
}

impl Content for Hosts {
    fn answer(&self, url: &str, _: usize) -> Answer {
        let (origin, path) = url.split_at(url[7..].find('/').unwrap() + 7);
        let number = if path == "/" { Some(0) } else { path[1..].parse::<usize>().ok() };
        let Some(number) = number.filter(|number| *number < self.pages) else { return Answer::error(404) };
        let family = if number % 5 == 4 { format!("family {number}") } else { url.to_owned() };
        let (mut words, mut own) = (SeededRng::new(1, &family), SeededRng::new(2, url));
        let text: String = (0..self.words)
            .map(|_| match own.below(50) {
                0 => format!("own{} ", own.below(1_000_000)),
                _ => format!("word{} ", words.below(200_000)),
            })
            .collect();
        let links: String = [2 * number + 1, 2 * number + 2]
            .into_iter()
            .filter(|child| *child < self.pages)
            .map(|child| format!("<a href='{origin}/{child}'>{child}</a> "))
            .collect();
        let html = format!("<!DOCTYPE html><html lang=en><title>{path} of {origin}</title><p>{text}<p>{links}");
        Answer { delay: self.delay, ..Answer::html(html) }
    }

    fn is_logged(&self) -> bool {
        false
    }
}

/// A web and what is asked of it.
struct Setting {
    name: &'static str,
    hosts: usize,
    content: Hosts,
    concurrency: &'static str,
}

/// What a run has shown.
struct Outcome {
    pages: f64,
    seconds: f64,
    /// Milliseconds from sending a page to its verdict, median and 99th percentile, and bytes of the database for a page.
    shared: Option<(f64, f64, f64)>,
}

impl Setting {
    fn web(&self) -> Web {
        let addresses: Vec<String> =
            (0..self.hosts).map(|host| format!("127.1.{}.{}", host / 250, host % 250 + 1)).collect();
        let Hosts { pages, words, delay } = self.content;
        Web::start_at(&addresses, |_| Arc::new(Hosts { pages, words, delay }))
    }

    /// Crawls with so many workers; 0 is a process alone.
    fn run(&self, workers: usize) -> Outcome {
        let (web, place) = (self.web(), Place::new());
        place.write("seeds.txt", &web.origins().iter().map(|origin| format!("{origin}/\n")).collect::<String>());
        let servers = (workers > 0).then(LocalServers::start);
        let start = |number: usize| {
            let mut run = place.run(["--seeds", "seeds.txt", "-c", self.concurrency, "--allow-private", "--no-config"]);
            run = run.args(["--delay", "0", "--ip-delay", "0", "--host-concurrency", "8", "--soft-404", "off"]);
            run = run.args(["--trap-guard", "off", "--duplicate-links", "follow", "--matching", "best"]);
            run = run.args(["--progress", "none", "--depth", "50", "--predicted", "fetch"]);
            if let Some(servers) = &servers {
                run = run.args(["--cluster", &servers.url(), "--cluster-name", "bench"]);
            }
            run.args(["-o".to_owned(), format!("out-{number}")]).patience(PATIENCE).start()
        };
        let began = Instant::now();
        let running: Vec<Running> = (0..workers.max(1)).map(start).collect();
        for worker in running {
            worker.finish().expect_code(0);
        }
        let seconds = began.elapsed().as_secs_f64();
        let pages = (self.hosts * self.content.pages) as f64;
        Outcome { pages, seconds, shared: servers.map(|servers| facts(&servers, pages)) }
    }
}

/// Returns the time of turns, and what a page takes in the database.
fn facts(servers: &LocalServers, pages: f64) -> (f64, f64, f64) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let session = Connector::new(servers.address()).connect().await.unwrap();
        let crawl = open(&session, &CrawlName::parse("bench").unwrap()).await.unwrap();
        // Pages that are decided again at the end count once more.
        assert!(crawl.pages as f64 >= pages, "a page is missing: {} of {pages}", crawl.pages);
        let sizes = "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float8 FROM pg_class \
                     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'";
        let bytes: f64 = session.client().query_one(sizes, &[]).await.unwrap().get(0);
        let times = decision_times(&session).await.unwrap();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
        (at(0.5), at(0.99), bytes / pages)
    })
}

fn main() {
    // `cargo test --benches` must not crawl for minutes.
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let slow = Setting {
        name: "latency",
        hosts: 400,
        content: Hosts { pages: 8, words: 150, delay: Duration::from_millis(200) },
        concurrency: "8",
    };
    let fast = Setting {
        name: "processors",
        hosts: 40,
        content: Hosts { pages: 250, words: 400, delay: Duration::ZERO },
        concurrency: "32",
    };
    if let Some(place) = arguments.iter().position(|argument| argument == "serve") {
        let web = slow.web();
        let seeds: String = web.origins().iter().map(|origin| format!("{origin}/\n")).collect();
        std::fs::write(&arguments[place + 1], seeds).unwrap();
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        return;
    }
    for (setting, workers) in [(slow, [0, 1, 2, 4]), (fast, [0, 1, 2, 3])] {
        let is_named = arguments.iter().any(|argument| argument == setting.name);
        let is_any_named = arguments.iter().any(|argument| ["latency", "processors"].contains(&argument.as_str()));
        if is_any_named && !is_named {
            continue;
        }
        println!("{}: {} hosts of {} pages", setting.name, setting.hosts, setting.content.pages);
        println!(
            "{:<8} {:>7} {:>8} {:>15} {:>12} {:>13}",
            "workers", "s", "pages/s", "verdict p50, ms", "p99, ms", "bytes a page"
        );
        for count in workers {
            let Outcome { pages, seconds, shared } = setting.run(count);
            let name = if count == 0 { "alone".to_owned() } else { count.to_string() };
            let facts =
                shared.map_or(String::new(), |(half, most, bytes)| format!("{half:>15.0} {most:>12.0} {bytes:>13.0}"));
            println!("{name:<8} {seconds:>7.1} {:>8.0} {facts}", pages / seconds);
        }
    }
}
