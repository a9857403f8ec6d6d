//! One decision of the default detector as the collection grows, on real pages in random order, beside MinHash.
//!
//! ```sh
//! cargo bench --bench decisions -- DIR [--most N] [--before N]
//! ```
//!
//! With `--before` the default decides so many made pages of 100 words first, and nothing else is measured.
//!
//! `DIR` is a folder of sites: `DIR/SITE/PATH.html`. Contenders read the same rendered pages, and only deciding is
//! timed, in CPU time of one thread. MinHash is the crate `gaoya` with 16 bands of 8 hashes over runs of four words and
//! an exact Jaccard index of 0.8 for its candidates.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, VecContainer};
use ndcrawl::detect::{Decider, Options, SecondCheck};
use ndcrawl::model::{
    Detector, Digest, Field, FieldCounts, PageId, PageInput, RunningText, TermCounts, TermOrder, Verdict,
};
use rustix::time::{ClockId, clock_gettime};
use xxhash_rust::xxh3::xxh3_64_with_seed;

#[path = "shared/html.rs"]
mod html;
#[path = "shared/real_pages.rs"]
mod real_pages;
#[path = "shared/rendered_pages.rs"]
mod rendered_pages;

/// Pages of a row of the table.
const STEP: usize = 10_000;
/// The exact Jaccard index that candidates of MinHash must reach.
const JACCARD: f64 = 0.8;

fn main() {
    // `cargo bench` adds a flag; `cargo test --benches` must not measure.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (folder, most, before) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [folder] => (PathBuf::from(folder), 100_000, 0),
        [folder, "--most", most] => (PathBuf::from(folder), most.parse().unwrap(), 0),
        [folder, "--most", most, "--before", before] => {
            (PathBuf::from(folder), most.parse().unwrap(), before.parse().unwrap())
        }
        _ => return println!("cargo bench --bench decisions -- DIR [--most N] [--before N]"),
    };
    let pages = real_pages::in_random_order(&folder, most);
    println!("{} pages\n", pages.len());
    println!("| contender | pages | mean | p99 | stored |\n|---|---|---|---|---|");
    let default = Options::of(Detector::Mwo);
    if before > 0 {
        return ours(&format!("the default, {before} made pages before"), default, &pages, before);
    }
    ours("the default", default.clone(), &pages, 0);
    ours("weights only, t = 0.8", Options { second: SecondCheck::None, ..Options::default() }, &pages, 0);
    minhash(&pages);
}

fn ours(name: &str, options: Options, pages: &[PageInput], before: u64) {
    let mut decider = Decider::in_memory(options);
    (0..before).for_each(|number| assert!(decider.decide(vec![made(number)]).unwrap()[0].verdict.is_unique()));
    let mut table = Table::new(name);
    for page in pages {
        let (page, begin) = (page.clone(), now());
        let judged = decider.decide(vec![page]).unwrap();
        table.add(now() - begin, matches!(judged[0].verdict, Verdict::Unique));
    }
    table.finish();
}

/// Returns a page of random words of a large vocabulary.
fn made(number: u64) -> PageInput {
    let words: Vec<u32> =
        (0..100).map(|word| xxh3_64_with_seed(&number.to_le_bytes(), word) as u32 % 500_000).collect();
    let mut counts = FieldCounts::default();
    counts.add(Field::Body);
    let distinct: BTreeSet<u32> = words.iter().copied().collect();
    let text =
        RunningText { words: words.iter().map(|word| word.wrapping_mul(0x9E37_79B1) & !1).collect(), name: Vec::new() };
    PageInput {
        page: PageId::new("made", &number.to_string(), 0),
        group: (number % 1_000) as u32,
        body_digest: Digest::of(&number.to_le_bytes()),
        text_digest: None,
        terms: distinct.into_iter().map(|word| TermCounts { term: format!("made{word}").into(), counts }).collect(),
        order: TermOrder { text, ..TermOrder::default() },
        renews: None,
        rank: 0,
    }
}

fn minhash(pages: &[PageInput]) {
    let hasher = MinHasher32::new(16 * 8);
    let mut index: MinHashIndex<u32, usize, VecContainer<usize>> = MinHashIndex::new_index(16, 8, 0.0);
    let mut table = Table::new("gaoya, 16 bands of 8");
    let runs = |page: &PageInput| page.order.text.runs().collect::<BTreeSet<u64>>().into_iter().collect::<Vec<_>>();
    let all: Vec<Vec<u64>> = pages.iter().map(runs).collect();
    for (number, runs) in all.iter().enumerate() {
        let begin = now();
        let signature = hasher.create_signature(runs.iter());
        let is_same = |other: usize| jaccard(runs, &all[other]) >= JACCARD;
        let is_new = !index.query_owned(&signature).into_iter().any(is_same);
        if is_new {
            index.insert(number, signature);
        }
        table.add(now() - begin, is_new);
    }
    table.finish();
}

/// Returns the Jaccard index of two ascending lists.
fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        both += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    both as f64 / (a.len() + b.len() - both).max(1) as f64
}

/// The times of one contender.
struct Table<'a> {
    name: &'a str,
    times: Vec<Duration>,
    pages: usize,
    stored: usize,
}

impl<'a> Table<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, times: Vec::new(), pages: 0, stored: 0 }
    }

    fn add(&mut self, time: Duration, is_stored: bool) {
        self.times.push(time);
        self.pages += 1;
        self.stored += usize::from(is_stored);
        if self.times.len() == STEP {
            self.finish();
        }
    }

    /// Prints the row of the pages since the last one.
    fn finish(&mut self) {
        let mut times = std::mem::take(&mut self.times);
        if times.is_empty() {
            return;
        }
        times.sort_unstable();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let mean = micros(times.iter().sum::<Duration>()) / times.len() as f64;
        let p99 = micros(times[times.len() * 99 / 100]);
        println!("| {} | {} | {mean:.0} µs | {p99:.0} µs | {} |", self.name, self.pages, self.stored);
    }
}

/// Returns the CPU time of this thread.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
