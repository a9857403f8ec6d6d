//! How much memory a queued URL takes.
//!
//! Resident memory belongs to the whole process, so a process of its own runs nothing but [`measure`].

use std::process::Command;

use super::*;

const URLS: u32 = 200_000;
const HOSTS: u32 = 1000;
const BATCH: u32 = 1000;
const LINE: &str = "bytes for a queued URL: ";
const STATED: &str = "stated of what further ones take: ";
/// From here on nothing else grows: all code has run, and the allocator has its pages.
const WARM: u32 = 20_000;

/// A log that has every row without holding any.
struct EndlessLog;

fn url_text(n: u32) -> String {
    format!("http://host-{}.example.test/a/path/of/usual/length/page-{n}.html?with=a&query", n / 7 % HOSTS)
}

impl UrlLog for EndlessLog {
    type Error = Infallible;

    fn read(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>, Infallible> {
        let rows = (first.0..URLS).take(count);
        Ok(rows.map(|n| UrlRow { url: url_text(n), ..row(n) }).collect())
    }
}

/// The resident set of this process in bytes; `None` where there is no `/proc`.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes * 1024.0)
}

fn links(first: u32) -> Vec<Link> {
    (first..first + BATCH).map(|n| link(&url_text(n), 1)).collect()
}

#[test]
#[ignore = "is run in a process of its own by the test below"]
fn measure() {
    let options = Options { scope: crate::ScopeKind::Any, ..Options::default() };
    let frontier = EmbeddedFrontier::new(options, EndlessLog, 1);
    drop(links(0));
    let (before, mut warm) = (resident(), None);
    for first in (0..URLS).step_by(BATCH as usize) {
        frontier.offer(links(first)).unwrap();
        frontier.take_changes();
        frontier.committed(first + BATCH);
        if first + BATCH == WARM {
            warm = resident().map(|bytes| (bytes, frontier.bytes()));
        }
    }
    assert_eq!(frontier.counts().queued, u64::from(URLS));
    if let (Some(before), Some((warm, stated)), Some(after)) = (before, warm, resident()) {
        println!("\n{LINE}{:.1}", (after - before) / f64::from(URLS));
        println!("{STATED}{:.3}", (frontier.bytes() - stated) as f64 / (after - warm));
    }
    let answer = frontier.lease(32, Instant::now()).unwrap();
    assert_eq!(answer.leases.len(), 32);
}

#[test]
fn a_queued_url_costs_less_than_100_bytes_of_resident_memory() {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--ignored", "--exact", "frontier::tests::memory::measure", "--nocapture"];
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let figure = |name| text.lines().find_map(|line| line.strip_prefix(name))?.parse::<f64>().ok();
    match (figure(LINE), figure(STATED)) {
        (Some(resident), Some(stated)) => {
            println!("{LINE}{resident} at {URLS} URLs of {HOSTS} hosts; {STATED}{stated}");
            assert!(resident < 100.0, "{resident}");
            // Not all allocated memory is resident, and the allocator takes some, too.
            assert!((0.6..1.4).contains(&stated), "{stated}");
        }
        _ => println!("skipped: this system does not say how much memory a process has"),
    }
}

#[test]
fn the_stated_bytes_grow_with_the_urls() {
    let frontier = EmbeddedFrontier::new(Options::default(), EndlessLog, 1);
    let mut stated = vec![frontier.bytes()];
    for count in [URLS / 4, URLS / 2, URLS] {
        let rows = EndlessLog.read(UrlId(frontier.counts().seen as u32), URLS as usize).unwrap();
        let more = count as usize - frontier.counts().seen as usize;
        rows.iter().take(more).for_each(|row| frontier.restore_url(row).unwrap());
        stated.push(frontier.bytes());
    }
    let per_url: Vec<f64> = stated.windows(2).zip([URLS / 4, URLS / 4, URLS / 2]).map(growth).collect();
    println!("{per_url:?} bytes for each further URL");
    assert!(per_url.iter().all(|bytes| (15.0..80.0).contains(bytes)), "{per_url:?}");
    // URLs with an outcome leave their queues and stay seen.
    (0..URLS).for_each(|id| frontier.restore_done(UrlId(id), true));
    frontier.restored();
    assert!(frontier.bytes() < stated[3] && frontier.bytes() > u64::from(URLS) * 13, "{} bytes", frontier.bytes());
}

fn growth((stated, urls): (&[u64], u32)) -> f64 {
    (stated[1] - stated[0]) as f64 / f64::from(urls)
}

#[test]
fn an_earlier_run_is_taken_up_at_the_pace_of_reading_its_log() {
    let frontier = EmbeddedFrontier::new(Options::default(), EndlessLog, 1);
    let rows = EndlessLog.read(UrlId(0), URLS as usize).unwrap();
    let start = Instant::now();
    rows.iter().for_each(|row| frontier.restore_url(row).unwrap());
    (0..URLS / 2).for_each(|id| frontier.restore_done(UrlId(id), true));
    frontier.restored();
    println!("{:.2} microseconds for a row", start.elapsed().as_secs_f64() * 1e6 / f64::from(URLS));
    let counts = frontier.counts();
    assert_eq!((counts.queued, counts.pages), (u64::from(URLS / 2), u64::from(URLS / 2)));
    assert!(start.elapsed() < Duration::from_secs(20));
}
