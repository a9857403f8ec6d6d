//! *Does the crawler keep its politeness delays under load, without losing throughput?*
//!
//! Runs the program with 500 requests at a time against 60 hosts on 30 addresses, which redirect to each other,
//! until it has fetched all of their pages. The servers log what it did.
//!
//! `cargo bench --bench manners`

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../tests/it/crowd.rs"]
mod crowd;
#[allow(dead_code)]
#[path = "../tests/it/program.rs"]
mod program;
#[allow(dead_code)]
#[path = "../tests/it/web.rs"]
mod web;
#[allow(dead_code)]
#[path = "../tests/it/words.rs"]
mod words;

use std::time::Duration;

use crowd::Crowd;
use program::Place;

const ADDRESSES: usize = 30;
const PAGES: usize = 750;
const BY_NAME: Duration = Duration::from_millis(100);
const BY_ADDRESS: Duration = Duration::from_millis(50);
/// The share of the possible rate that the crawler must reach.
const BAR: f64 = 0.8;
const PATIENCE: Duration = Duration::from_secs(1200);

fn main() {
    // `cargo test --benches` must not crawl for minutes.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let crowd = Crowd::start(ADDRESSES, PAGES);
    let place = Place::new();
    place.write("seeds.txt", &crowd.seeds());
    let in_milliseconds = |gap: Duration| format!("{}ms", gap.as_millis());
    place
        .run(["--seeds", "seeds.txt", "-c", "500", "--allow-private", "--progress", "none"])
        .args(["--delay", &in_milliseconds(BY_NAME), "--ip-delay", &in_milliseconds(BY_ADDRESS)])
        .args(crowd.resolve())
        .patience(PATIENCE)
        .finish()
        .expect_code(0);

    let manners = crowd.manners();
    let rate = manners.requests as f64 / manners.elapsed.as_secs_f64();
    let part = rate / crowd.fastest(BY_NAME, BY_ADDRESS);
    println!(
        "{} requests in {:.1} s, {} of them for the {} URLs that there are",
        manners.requests,
        manners.elapsed.as_secs_f64(),
        manners.known,
        crowd.requests()
    );
    println!("shortest gap per host name {:.1} ms, required {BY_NAME:?}", milliseconds(manners.least_by_name));
    println!("shortest gap per address {:.1} ms, required {BY_ADDRESS:?}", milliseconds(manners.least_by_address));
    println!("at most {} requests in flight per address", manners.most_at_once);
    println!("{rate:.0} requests/s, {:.1} % of the rate that the gaps allow", 100.0 * part);
    assert_eq!(manners.known, crowd.requests());
    assert!(manners.least_by_name >= BY_NAME && manners.least_by_address >= BY_ADDRESS, "gap too short");
    assert_eq!(manners.most_at_once, 1);
    assert!(part >= BAR, "too slow");
}

fn milliseconds(gap: Duration) -> f64 {
    1000.0 * gap.as_secs_f64()
}
