//! CPU time per page, by number of pages.

use std::path::Path;
use std::time::Duration;

use ndcrawl::detect::{Decider, Options};
use ndcrawl::model::{Digest, PageId, PageInput, TermCounts, TermOrder, WantedOrder};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::html::html_files;
use crate::rendered_pages::rendered;

/// Number of pages per mean.
const WINDOW: usize = 1000;
/// Pages per batch, as in a crawl.
const BATCH: usize = 32;
const MARKS: [usize; 4] = [1_000, 10_000, 50_000, 100_000];

/// Prints the means over the last pages before each mark.
pub fn table(folder: &Path, most: usize, only: Option<&str>) {
    let mut files = html_files(folder);
    // Shuffle: neighbors in a folder are siblings.
    files.sort_by_key(|file| xxh3_64(file.to_string_lossy().as_bytes()));
    files.truncate(most);
    let wanted = WantedOrder { sentence_count: true, sentences: true, text: true };
    let pages = rendered(&files, wanted, folder_of);
    println!("{} files; CPU µs/page without rendering, mean of the last {WINDOW} pages", files.len());
    let heads: String = MARKS.iter().map(|mark| format!("{mark:>9}")).collect();
    println!("{:<22}{heads}   stored  MB of index", "detector");
    for (name, options) in crate::detectors() {
        if only.is_none_or(|only| only == name) {
            row(name, options, &pages, most);
        }
    }
}

fn row(name: &str, options: Options, pages: &[PageInput], most: usize) {
    let wanted = options.order();
    let mut decider = Decider::in_memory(options);
    let mut spent = Vec::with_capacity(most);
    let mut stored = 0;
    while spent.len() < most {
        let numbers = spent.len()..most.min(spent.len() + BATCH);
        let batch: Vec<PageInput> = numbers
            .map(|number| candidate(number, number / pages.len(), &pages[number % pages.len()], wanted))
            .collect();
        let judged_together = batch.len();
        let before = cpu_time();
        let judged = decider.decide(batch).unwrap();
        let each = (cpu_time() - before) / judged_together as u32;
        spent.extend(std::iter::repeat_n(each, judged_together));
        stored += judged.iter().filter(|judged| judged.verdict.is_unique()).count();
    }
    let cells: String = MARKS.iter().map(|&mark| format!("{:>9}", mean_before(&spent, mark))).collect();
    println!("{name:<22}{cells}{stored:>9}{:>13.1}", decider.stats().index_bytes as f64 / 1e6);
}

fn mean_before(spent: &[Duration], mark: usize) -> String {
    let Some(window) = spent.get(..mark).and_then(|spent| spent.last_chunk::<WINDOW>()) else { return "-".to_owned() };
    format!("{:.1}", window.iter().sum::<Duration>().as_secs_f64() * 1e6 / WINDOW as f64)
}

/// Takes each folder for a host.
fn folder_of(file: &Path) -> u32 {
    file.parent().map_or(0, |parent| xxh3_64(parent.to_string_lossy().as_bytes()) as u32)
}

/// Renames every term and word in later rounds.
///
/// So a page keeps its similarity to the pages of its own round and has none to others.
fn candidate(number: usize, round: usize, page: &PageInput, wanted: WantedOrder) -> PageInput {
    let other = |text: &str| if round == 0 { text.into() } else { format!("{text}~{round}").into() };
    let other_digest = |digest: Digest| Digest::of(format!("{digest}{round}").as_bytes());
    let other_term = |term: &TermCounts| TermCounts { term: other(&term.term), counts: term.counts };
    let mut order = TermOrder::default();
    if wanted.text {
        let other = |word: &u32| (*word ^ (round as u32).wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B);
        order.text.words = page.order.text.words.iter().map(other).collect();
        order.text.name = page.order.text.name.iter().map(other).collect();
        order.text.name.sort_unstable();
    }
    if wanted.sentence_count {
        order.sentence_count = page.order.sentence_count;
    }
    if wanted.sentences {
        order.sentences = page.order.sentences.clone();
    }
    PageInput {
        page: PageId(xxh3_128(&number.to_le_bytes())),
        group: page.group ^ round as u32,
        body_digest: other_digest(page.body_digest),
        text_digest: page.text_digest.map(other_digest),
        terms: page.terms.iter().map(other_term).collect(),
        order,
        renews: None,
        rank: 0,
    }
}

/// Returns the CPU time of all threads, since large indexes are queried on all cores.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
