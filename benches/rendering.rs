//! Compares the fast HTML parser with the tree-building one, and measures the cost of rendering.
//!
//! `cargo bench --bench rendering -- DIR [--every N] [--agree | --times [--only ROW]]`
//!
//! Renders every HTML page under the folder with both parsers and prints the differences by class. Then renders a
//! sample of the pages repeatedly. Times are CPU times of one thread, medians of three rounds.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use ndcrawl::model::{Fetched, Normalizer, PageContent};
use ndcrawl::pagetext::{Options, PageReader, Parser, WordCache};

use crate::html::{html_files, page};

#[path = "shared/html.rs"]
mod html;

const HOW: &str = "\
Usage, with a folder of HTML pages:

    cargo bench --bench rendering -- DIR [--every N] [--agree | --times [--only ROW]]

  --every N   measure times on every N-th page only
  --agree     only compare the parsers
  --times     only measure times
  --only ROW  only rows whose name contains ROW, for profiling";
/// Maximum pages named per class.
const NAMED: usize = 4;

fn main() -> ExitCode {
    // `cargo bench` adds a flag.
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let agree_only = arguments.iter().position(|a| a == "--agree").map(|at| arguments.remove(at)).is_some();
    let times_only = arguments.iter().position(|a| a == "--times").map(|at| arguments.remove(at)).is_some();
    let every = arguments.iter().position(|a| a == "--every").map(|at| {
        arguments.remove(at);
        arguments.remove(at).parse::<usize>().unwrap()
    });
    let only = arguments.iter().position(|a| a == "--only").map(|at| {
        arguments.remove(at);
        arguments.remove(at)
    });
    let [folder] = &arguments[..] else {
        println!("{HOW}");
        return ExitCode::SUCCESS;
    };
    let files = html_files(Path::new(folder));
    if files.is_empty() {
        eprintln!("{folder} holds no HTML pages (links to folders are not followed)");
        return ExitCode::FAILURE;
    }
    if !times_only {
        agreement(&files);
    }
    if !agree_only {
        let every = every.unwrap_or(files.len().div_ceil(800).max(1));
        speed(&files.iter().step_by(every).collect::<Vec<_>>(), only.as_deref().unwrap_or_default());
    }
    ExitCode::SUCCESS
}

fn renderer(parser: Parser, word_cache: WordCache) -> PageReader {
    PageReader::new(Options { parser, word_cache, ..Options::default() }, Normalizer::default())
}

/// Returns the differences of two renderings.
fn differences(one: &PageContent, other: &PageContent) -> Vec<&'static str> {
    let all = [
        (one.terms != other.terms, "terms"),
        (one.text_digest != other.text_digest, "text digest"),
        (one.title != other.title, "title"),
        (one.language != other.language, "language"),
        (one.links != other.links, "links"),
        (one.links_dropped != other.links_dropped, "links dropped"),
        (one.links_over_limit != other.links_over_limit, "links over limit"),
        (one.canonical != other.canonical, "canonical"),
        (one.provenance != other.provenance, "provenance"),
        (one.robots != other.robots, "robots"),
        (one.too_deep != other.too_deep, "too deep"),
    ];
    all.into_iter().filter(|(differs, _)| *differs).map(|(_, name)| name).collect()
}

fn agreement(files: &[PathBuf]) {
    // The reference shares as little code as possible with the fast parser.
    let (fast, dom) = (renderer(Parser::Fast, WordCache::Kept), renderer(Parser::Dom, WordCache::Plain));
    let mut classes: BTreeMap<String, Vec<&Path>> = BTreeMap::new();
    let mut detours: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    let mut same = 0;
    for file in files {
        let page = page(file);
        if let Some(why) = fast.detour(&page) {
            detours.entry(why).or_default().push(file);
        }
        let found = differences(&fast.render(&page), &dom.render(&page));
        if found.is_empty() {
            same += 1;
        } else {
            classes.entry(found.join(", ")).or_default().push(file);
        }
    }
    let share = |count: usize| 100.0 * count as f64 / files.len() as f64;
    println!("{} pages, {same} the same by both parsers ({:.3} %)", files.len(), share(same));
    for (class, files) in &classes {
        told("differ in", class, files, share(files.len()));
    }
    for (why, files) in &detours {
        told("by way of a tree:", why, files, share(files.len()));
    }
}

fn told(what: &str, class: &str, files: &[&Path], share: f64) {
    println!("{:>8} ({share:.3} %) {what} {class}", files.len());
    files.iter().take(NAMED).for_each(|file| println!("           {}", file.display()));
}

/// The measured configurations: parser and word cache.
///
/// The first row is the baseline: it builds a tree, walks it, and uses nothing made for the fast parser. It finds words
/// by `unicode_segmentation`, lowercases and stems each, resolves each link on its own and folds whitespace word by
/// word. The other tree rows share word scanning, link resolution and whitespace folding with the fast parser, so they
/// show the cost of the tree itself. Every row decodes, checks nesting depth, detects the language and counts terms.
const ROWS: [(&str, Parser, WordCache); 6] = [
    ("DOM, words by the crate, every word stemmed", Parser::Dom, WordCache::Plain),
    ("DOM, every word stemmed", Parser::Dom, WordCache::None),
    ("DOM, each word once a page", Parser::Dom, WordCache::Page),
    ("DOM, words kept", Parser::Dom, WordCache::Kept),
    ("fast, each word once a page", Parser::Fast, WordCache::Page),
    ("fast, words kept", Parser::Fast, WordCache::Kept),
];

const TOKENIZER: &str = "html5ever's tokenizer alone";

fn speed(files: &[&PathBuf], only: &str) {
    let pages: Vec<Fetched> = files.iter().map(|file| page(file)).collect();
    let bytes: usize = pages.iter().map(|page| page.body.len()).sum();
    println!("\n{} pages, {} bytes/page", pages.len(), bytes / pages.len());
    println!("{:<44} {:>9} {:>8} {:>8}", "", "us/page", "MB/s", "times");
    let mut yardstick = None;
    for (name, parser, word_cache) in ROWS.into_iter().filter(|(name, ..)| name.contains(only)) {
        let renderer = renderer(parser, word_cache);
        let time = measured(|| {
            for page in &pages {
                std::hint::black_box(renderer.render(page));
            }
        });
        row(name, time, pages.len(), bytes, *yardstick.get_or_insert(time));
    }
    if TOKENIZER.contains(only) {
        let time = measured(|| pages.iter().for_each(tokenize));
        row(TOKENIZER, time, pages.len(), bytes, yardstick.unwrap_or(time));
    }
}

fn row(name: &str, time: Duration, pages: usize, bytes: usize, yardstick: Duration) {
    let seconds = time.as_secs_f64();
    println!(
        "{name:<44} {:>9.1} {:>8.1} {:>8.2}",
        seconds * 1e6 / pages as f64,
        bytes as f64 / 1e6 / seconds,
        yardstick.as_secs_f64() / seconds
    );
}

/// Returns the median CPU time of three rounds.
fn measured(work: impl Fn()) -> Duration {
    let mut rounds = [Duration::ZERO; 3].map(|_| {
        let start = cpu_time();
        work();
        cpu_time() - start
    });
    rounds.sort();
    rounds[1]
}

/// Returns the CPU time of this thread on Linux.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// A token sink that ignores every token.
struct Nothing;

impl TokenSink for Nothing {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        std::hint::black_box(token);
        TokenSinkResult::Continue
    }
}

fn tokenize(page: &Fetched) {
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(&*String::from_utf8_lossy(&page.body)));
    let tokenizer = Tokenizer::new(Nothing, TokenizerOpts::default());
    while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
    tokenizer.end();
}
