//! Whole crawls of small sites on loopback.

mod depth;
mod ends;
mod network;
mod outcomes;
mod redirects;
mod site;
mod sitemaps;
mod snapshots;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use self::site::Site;
use crate::pipeline::Stop;

use super::{Crawl, CrawlEnding, CrawlError, CrawlSetup, Options, Seed};
use ndcrawl_fetch as fetch;
use ndcrawl_frontier as frontier;
use ndcrawl_model::{CanonicalUrl, Normalizer};
use ndcrawl_store::{self as store, Faults, Identity, Store, verify};
use neardup::detect;

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A crawl of these seeds without gaps, one request at a time.
fn setup(seeds: &[CanonicalUrl]) -> CrawlSetup {
    CrawlSetup {
        against: None,
        focus: None,
        shared: None,
        archived: None,
        #[cfg(all(feature = "browser", unix))]
        headless: None,
        seeds: seeds.iter().map(|url| Seed { url: url.clone(), fallback: None }).collect(),
        normalizer: Normalizer::default(),
        // Requests are counted here; what is asked besides is tried from outside.
        crawl: Options { soft_404: false, ..Options::default() },
        frontier: frontier::Options::default(),
        fetch: fetch::Options {
            allow_private: true,
            proxy: Some(String::new()),
            delay: Duration::ZERO,
            ip_delay: Duration::ZERO,
            ..fetch::Options::default()
        },
        render: pagetext::Options::default(),
        documents: None,
        detect: detect::Options::default(),
    }
}

/// Crawls into this folder, or goes on there.
async fn crawl(folder: &Path, setup: CrawlSetup) -> CrawlEnding {
    crawl_until(folder, setup, watch::channel(Stop::Go).0).await
}

async fn crawl_until(folder: &Path, setup: CrawlSetup, stop: watch::Sender<Stop>) -> CrawlEnding {
    run(folder, setup, stop, None).await.unwrap()
}

/// As [`crawl_until`], on a disk with faults.
async fn run(
    folder: &Path,
    setup: CrawlSetup,
    stop: watch::Sender<Stop>,
    faults: Option<Arc<Switch>>,
) -> Result<CrawlEnding, CrawlError> {
    let identity = Identity::new(setup.rendering(), "");
    let options = store::Options { cache_bytes: 4 << 20, min_free: 0, ..store::Options::default() };
    let (store, opened) = match &faults {
        Some(faults) => Store::open_with_faults(folder, options, &identity, faults.clone()),
        None => Store::open(folder, options, &identity),
    }
    .unwrap();
    let crawl = Crawl::open(setup, store, &opened.identity)?;
    if let Some(faults) = faults {
        faults.turn_on();
    }
    tokio::time::timeout(PATIENCE, crawl.run(stop)).await.expect("the run hangs")
}

/// What the store's disk does once a crawl begins: so many flushes work, then nothing does.
struct Switch {
    on: std::sync::atomic::AtomicBool,
    flushes: std::sync::atomic::AtomicI64,
}

impl Switch {
    fn after_flushes(flushes: i64) -> Arc<Self> {
        Arc::new(Self { on: false.into(), flushes: flushes.into() })
    }

    fn turn_on(&self) {
        self.on.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Faults for Switch {
    fn before(&self, step: store::DiskStep) -> std::io::Result<()> {
        use std::sync::atomic::Ordering::SeqCst;
        if !self.on.load(SeqCst) {
            return Ok(());
        }
        let left = self.flushes.load(SeqCst);
        if left <= 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        if step == store::DiskStep::Flush {
            self.flushes.store(left - 1, SeqCst);
        }
        Ok(())
    }
}

/// The lines of `pages.jsonl` by path and query. No URL may have two.
fn lines(folder: &Path) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(folder.join("pages.jsonl")).unwrap();
    let mut lines = BTreeMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let url = url::Url::parse(line["url"].as_str().unwrap()).unwrap();
        let path = url[url::Position::BeforePath..].to_owned();
        let name = if url.scheme() == "http" { path } else { format!("{}:{path}", url.scheme()) };
        assert!(lines.insert(name, line.clone()).is_none(), "a second line: {line}");
    }
    lines
}

/// Outcome and reason by path.
fn outcomes(folder: &Path) -> BTreeMap<String, String> {
    let tell = |line: &Value| match (line["outcome"].as_str().unwrap(), line["reason"].as_str()) {
        (outcome, Some(reason)) => format!("{outcome} {reason}"),
        (outcome, None) => outcome.to_owned(),
    };
    lines(folder).iter().map(|(path, line)| (path.clone(), tell(line))).collect()
}

#[track_caller]
fn assert_outcomes(folder: &Path, expected: &[(&str, &str)]) {
    let expected = expected.iter().map(|(path, outcome)| ((*path).to_owned(), (*outcome).to_owned())).collect();
    assert_eq!(outcomes(folder), expected);
    assert_sound(folder);
}

#[track_caller]
fn assert_sound(folder: &Path) {
    let report = verify(folder).unwrap();
    assert!(report.is_sound(), "{:?}", report.problems);
}

/// Each page was asked for once.
#[track_caller]
fn assert_asked_once(site: &Site) {
    let (asked, mut each) = (site.asked(), site.asked());
    each.sort();
    each.dedup();
    assert_eq!(asked.len(), each.len(), "{asked:?}");
}
