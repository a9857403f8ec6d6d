//! *How much memory does a queued URL take in total?*
//!
//! Runs the program against an endless web until 1,000,000 URLs are queued, then stops and resumes it. Each page has
//! unique text and 1,000 new links. The figures are those of the whole process in `status.json`: frontier tables,
//! database caches, pending batches and allocator overhead. The size of the index is shown beside; it grows with stored
//! pages, not with queued URLs.
//!
//! `cargo bench --bench memory`

#![allow(clippy::unwrap_used)]

#[path = "../tests/it/endless.rs"]
mod endless;
#[allow(dead_code)]
#[path = "../tests/it/program.rs"]
mod program;
#[allow(dead_code)]
#[path = "../tests/it/web.rs"]
mod web;
#[path = "../tests/it/words.rs"]
mod words;

use std::cell::Cell;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use endless::Endless;
use program::{Place, Run, Running};
use web::{Answer, Content, Web};

const LINKS: u64 = 1000;
/// Pads URLs to 80 bytes, the length of those of real sites.
const FOLDER: &str = "/sections/of-this-site/archive/2024/articles";
/// Queued URLs at which memory is measured.
const LOOKS: [u64; 3] = [100_000, 500_000, 1_000_000];
/// Maximum bytes of process memory per queued URL.
const BAR: f64 = 100.0;
const PATIENCE: Duration = Duration::from_secs(1200);

/// A slow web: `status.json` is written once a second, and measurements must be close to the marks.
struct Slow(Endless);

impl Content for Slow {
    fn answer(&self, url: &str, before: usize) -> Answer {
        Answer { delay: Duration::from_millis(200), ..self.0.answer(url, before) }
    }
}

/// A measurement of a running crawl.
#[derive(Clone, Copy)]
struct Look {
    pid: u64,
    queued: u64,
    memory: u64,
    index: u64,
    stored: u64,
}

impl Look {
    /// Reads the last status of the program; `None` before the first.
    fn at(place: &Place) -> Option<Self> {
        let status: Value = serde_json::from_slice(&fs::read(place.path("out/status.json")).ok()?).ok()?;
        let number = |path: &str| status.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        Some(Self {
            pid: number("/pid"),
            queued: number("/queued"),
            memory: number("/memory_bytes"),
            index: number("/index/bytes"),
            stored: number("/outcomes/stored"),
        })
    }

    fn print(self, seconds: f64) {
        println!(
            "{:>10} queued {:>8.1} MiB resident {:>7.1} MiB index {:>7} pages stored {seconds:>7.1} s",
            self.queued,
            mebibytes(self.memory),
            mebibytes(self.index),
            self.stored
        );
    }
}

fn main() {
    // `cargo test --benches` must not crawl for minutes.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut seed = String::new();
    let web = Web::start(1, |origins| {
        let endless = Endless::new(&format!("{}{FOLDER}", origins[0]), LINKS);
        seed = endless.seed();
        Arc::new(Slow(endless))
    });
    let place = Place::new();

    let started = Instant::now();
    let mut running = crawl(&place, &seed).start();
    let looks = LOOKS.map(|queued| {
        let look = look_at(&place, &mut running, |look| look.queued >= queued);
        look.print(seconds(started));
        look
    });
    for pair in looks.windows(2) {
        println!("{}", growth(pair[0], pair[1]));
    }
    let whole = bytes_per_url(looks[0], looks[2]);
    println!("{}: {}", growth(looks[0], looks[2]), if whole < BAR { "good" } else { "TOO MUCH" });
    stop(running, &place);

    let (started, before) = (Instant::now(), (web.pages_asked(), Look::at(&place).unwrap()));
    let mut running = crawl(&place, &seed).start();
    running.wait_until(|| web.pages_asked() > before.0);
    println!("resumed: first page requested after {:.1} s", seconds(started));
    look_at(&place, &mut running, |look| look.stored > before.1.stored).print(seconds(started));
    stop(running, &place);
    assert!(whole < BAR, "a queued URL takes {whole:.0} bytes");
}

fn crawl(place: &Place, seed: &str) -> Run {
    let limits = ["--max-pages-per-host", "0", "--no-warc", "--progress", "none"];
    place.crawl(&[seed]).args(limits).patience(PATIENCE)
}

/// Waits until `is_there` holds for the status of the crawl.
fn look_at(place: &Place, running: &mut Running, is_there: impl Fn(Look) -> bool) -> Look {
    let looked = Cell::new(None);
    let went_on = running.wait_until(|| {
        looked.set(Look::at(place).filter(|&look| is_there(look)));
        looked.get().is_some()
    });
    assert!(went_on, "the crawl ended too early");
    looked.get().unwrap()
}

/// Stops the crawl so that it can resume. Stopping has a memory peak of its own.
fn stop(mut running: Running, place: &Place) {
    let (asked, before) = (Instant::now(), Look::at(place).unwrap());
    let highest = Cell::new(0);
    running.signal("INT");
    running.wait_until(|| {
        highest.set(highest_of(before.pid).max(highest.get()));
        false
    });
    running.finish().expect_code(130);
    println!("stopped in {:.1} s, peak {:.1} MiB", seconds(asked), mebibytes(highest.get()));
}

/// Returns the peak memory of a process on Linux; 0 after its end.
fn highest_of(pid: u64) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kibibytes =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    kibibytes.unwrap_or(0) * 1024
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn bytes_per_url(before: Look, after: Look) -> f64 {
    (after.memory as f64 - before.memory as f64) / (after.queued - before.queued) as f64
}

fn growth(before: Look, after: Look) -> String {
    format!(
        "{:.0} bytes for each URL from {} to {} queued, {:.0} of them the index's",
        bytes_per_url(before, after),
        before.queued,
        after.queued,
        (after.index as f64 - before.index as f64) / (after.queued - before.queued) as f64
    )
}
