//! *Do memory, open files and throughput stay flat over a million pages?*
//!
//! Runs the program against 100 hosts. Pages have about 120 words with a Zipf distribution; 3 in 10 differ from another
//! page in a few words. The bench measures the process after 10 %, 50 % and nearly 100 % of the pages:
//!
//! - memory, with and without the index and frontier sizes that the program reports (medians, since a growing index
//!   exists twice for a moment);
//! - open file handles;
//! - pages per second, by wall clock and by CPU time, which other work on the machine does not lengthen.
//!
//! Politeness limits a crawl, so the hosts together allow [`PACE`] pages a second; the bench checks that the crawl keeps
//! this rate to the end. With `as-fast-as-it-can` there is no limit; then throughput falls as decisions among more
//! records take longer.
//!
//! `cargo bench --bench soak [-- PAGES] [as-fast-as-it-can]`

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../tests/it/program.rs"]
mod program;
#[allow(dead_code)]
#[path = "../tests/it/web.rs"]
mod web;
#[allow(dead_code)]
#[path = "../tests/it/words.rs"]
mod words;

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ndcrawl::seeded::SeededRng;
use serde_json::Value;

use program::{Place, Running};
use web::{Answer, Content, Web};
use words::{sentences, word};

const PAGES: u64 = 1_000_000;
const HOSTS: u64 = 100;
/// Pages per second of all hosts together, with the politeness limit.
const PACE: u64 = 1000;
/// Pages queued at any time: page k links to page k + QUEUED.
const QUEUED: u64 = 8000;
const WORDS: usize = 120;
/// Ranks of content words; lower ranks are function words.
const RANKS: (f64, f64) = (30.0, 200_000.0);
/// Words of a near-duplicate that its original lacks.
const CHANGED: usize = 3;
/// Maximum relative growth after the first measurement.
const BAR: f64 = 0.1;
const PATIENCE: Duration = Duration::from_secs(4 * 3600);

/// Marks of measurements, and the starts of their throughput windows, in percent.
const MARKS: [(u64, u64); 3] = [(5, 10), (45, 50), (94, 99)];

struct Sites {
    origins: Vec<String>,
    pages: u64,
}

impl Sites {
    fn url(&self, page: u64) -> String {
        format!("{}/articles/{page}", self.origins[(page % HOSTS) as usize])
    }

    /// Returns the first pages of all hosts.
    fn seeds(&self) -> String {
        (0..QUEUED.min(self.pages)).map(|page| self.url(page) + "\n").collect()
    }

    /// Returns the original of a near-duplicate: 3 in 10 pages copy an earlier page of their host.
    fn original(page: u64) -> u64 {
        match page / HOSTS % 10 {
            step @ (3 | 6 | 9) => page - HOSTS * (1 + step % 2),
            _ => page,
        }
    }

    fn words(page: u64) -> Vec<String> {
        let mut words = words_of(Self::original(page), "text", WORDS);
        if Self::original(page) != page {
            for (place, word) in words_of(page, "changes", CHANGED).into_iter().enumerate() {
                words[place * WORDS / CHANGED] = word;
            }
        }
        words
    }

    fn page(&self, page: u64) -> String {
        let words = Self::words(page);
        let next = Some(page + QUEUED).filter(|&next| next < self.pages);
        let links = [next, page.checked_sub(HOSTS), page.checked_sub(QUEUED)].into_iter().flatten();
        let links: String = links.map(|page| format!("<a href=\"{}\">to the</a>\n", self.url(page))).collect();
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><title>{} {}</title></head><body><p>{}</p>{links}</body></html>",
            words[1],
            words[2],
            sentences(&words)
        )
    }
}

/// Samples words by Zipf's law: rank r has the weight 1/r.
fn words_of(page: u64, purpose: &str, count: usize) -> Vec<String> {
    let mut random = SeededRng::new(page, purpose);
    let (first, last) = RANKS;
    let ranks = (0..count).map(|_| (first * (last / first).powf(random.share())) as u64);
    ranks.map(|rank| word(&mut SeededRng::new(rank, "vocabulary"))).collect()
}

impl Content for Sites {
    fn answer(&self, url: &str, _before: usize) -> Answer {
        let number = url.rsplit_once("/articles/").and_then(|(_, number)| number.parse().ok());
        number.map_or(Answer::error(404), |page| Answer::html(self.page(page)))
    }

    fn is_logged(&self) -> bool {
        false
    }
}

/// A measurement of the running program.
#[derive(Clone, Copy, Debug)]
struct Look {
    at: Instant,
    pages: u64,
    urls: u64,
    stored: u64,
    memory: u64,
    index: u64,
    frontier: u64,
    handles: usize,
    /// CPU time in seconds.
    processor: f64,
}

impl Look {
    /// Reads the last status of the program and of the system; `None` before the first and after the end.
    fn at(place: &Place) -> Option<Self> {
        let status: Value = serde_json::from_slice(&fs::read(place.path("out/status.json")).ok()?).ok()?;
        let number = |path: &str| status.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let outcome = |name: &str| number(&format!("/outcomes/{name}"));
        let process = format!("/proc/{}", number("/pid"));
        let stat = fs::read_to_string(format!("{process}/stat")).ok()?;
        let times: Vec<f64> = stat.rsplit(')').next()?.split(' ').skip(12).take(2).flat_map(str::parse).collect();
        Some(Self {
            at: Instant::now(),
            pages: outcome("stored") + outcome("near-duplicate") + outcome("exact-duplicate"),
            urls: number("/seen"),
            stored: outcome("stored"),
            memory: number("/memory_bytes"),
            index: number("/index/bytes"),
            frontier: number("/frontier_bytes"),
            handles: fs::read_dir(format!("{process}/fd")).ok()?.count(),
            processor: times.iter().sum::<f64>() / 100.0,
        })
    }
}

/// Figures at a mark.
struct Figures {
    urls: f64,
    unstated: f64,
    handles: f64,
    by_clock: f64,
    by_processor: f64,
}

/// Selects one of the figures.
type Part = fn(&Figures) -> f64;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --benches` must not crawl for an hour.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let pages = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(PAGES);
    let is_hurried = arguments.iter().any(|argument| argument == "as-fast-as-it-can");
    let delay = if is_hurried { "0".to_owned() } else { format!("{}ms", 1000 * HOSTS / PACE) };
    let mut seeds = String::new();
    let _web = Web::start(HOSTS as usize, |origins| {
        let sites = Sites { origins: origins.to_vec(), pages };
        seeds = sites.seeds();
        Arc::new(sites)
    });
    let place = Place::new();
    place.write("seeds.txt", &seeds);
    let mut running = place
        .run(["--seeds", "seeds.txt", "-o", "out", "--allow-private", "--ip-delay", "0"])
        .args(["--delay", &delay])
        .args(["--host-concurrency", "8", "-c", "64", "--depth", "60000", "--max-pages-per-host", "0"])
        .args(["--duplicate-links", "follow", "--no-report", "--progress", "none"])
        .patience(PATIENCE)
        .start();

    println!("   pages    stored  MiB     index     frontier         rest  handles  pages/s  pages/CPU s");
    let figures = MARKS.map(|(from, to)| {
        look_until(&place, &mut running, pages * from / 100);
        figures(&look_until(&place, &mut running, pages * to / 100))
    });
    let ended = running.finish().expect_code(0);
    println!("{pages} pages in {:.0} s; on disk {:.0} MiB", ended.elapsed.as_secs_f64(), mebibytes(disk_bytes(&place)));

    let [first, .., last] = &figures;
    let growth = f64::from(1 << 20) * (last.unstated - first.unstated) / (last.urls - first.urls);
    println!("{growth:.0} bytes per URL outside of index and frontier");
    let parts: [(&str, Part); 4] = [
        ("memory beside index and frontier", |figures| figures.unstated),
        ("handles", |figures| figures.handles),
        ("pages a second", |figures| figures.by_clock),
        ("pages a second of a processor", |figures| figures.by_processor),
    ];
    for (name, of) in parts {
        let change = of(last) / of(first) - 1.0;
        println!("{name}: {:+.1} % {}", 100.0 * change, if change.abs() <= BAR { "good" } else { "NOT FLAT" });
    }
}

/// Waits until so many pages are judged, and measures meanwhile.
fn look_until(place: &Place, running: &mut Running, pages: u64) -> Vec<Look> {
    let mut looks = Vec::new();
    loop {
        assert!(!running.has_ended(), "the crawl has ended before {pages} pages: {}", running.stderr());
        looks.extend(Look::at(place));
        if looks.last().is_some_and(|look| look.pages >= pages) {
            return looks;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn figures(looks: &[Look]) -> Figures {
    let (begin, end) = (looks[0], looks[looks.len() - 1]);
    let pages = (end.pages - begin.pages) as f64;
    let figures = Figures {
        urls: end.urls as f64,
        unstated: mebibytes(median(looks, |look| look.memory.saturating_sub(look.index + look.frontier))),
        handles: median(looks, |look| look.handles as u64) as f64,
        by_clock: pages / (end.at - begin.at).as_secs_f64(),
        by_processor: pages / (end.processor - begin.processor),
    };
    println!(
        "{:>8}  {:>8}  {:>3.0}  {:>8.0}  {:>11.0}  {:>11.1}  {:>7}  {:>7.0}  {:>7.0}  ({} URLs)",
        end.pages,
        end.stored,
        mebibytes(median(looks, |look| look.memory)),
        mebibytes(end.index),
        mebibytes(end.frontier),
        figures.unstated,
        figures.handles,
        figures.by_clock,
        figures.by_processor,
        end.urls
    );
    figures
}

fn median(looks: &[Look], part: fn(&Look) -> u64) -> u64 {
    let mut parts: Vec<u64> = looks.iter().map(part).collect();
    parts.sort_unstable();
    parts[parts.len() / 2]
}

fn disk_bytes(place: &Place) -> u64 {
    fn of(path: &std::path::Path) -> u64 {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
        entries
            .map(|entry| if entry.path().is_dir() { of(&entry.path()) } else { entry.metadata().unwrap().len() })
            .sum()
    }
    of(&place.path("out"))
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
