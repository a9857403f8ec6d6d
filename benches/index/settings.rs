//! Command-line settings.

use std::path::PathBuf;

use ndcrawl::model::Threshold;

use crate::contender::Kind;

pub const HELP: &str = "\
Compares the exact index with brute force, a prefix filter and MinHash.

    cargo bench --bench index -- [OPTIONS]

Without a part (--pages, --synthetic, --worst, --threads, --reopen): a synthetic set of 10,000 records at 0.8 and the worst cases, in half a minute.

  --pages OUT          pages of a finished crawl, in order: look up, and insert if unique
  --synthetic LIST     synthetic sets of these sizes, such as 10k,100k,1m
  --base OUT           build synthetic sets from the pages of this crawl, not from a model
  --worst              sets that defeat filters
  --threads            synthetic sets: probes by one thread and by all cores
  --reopen             synthetic sets: written to disk and opened again
  --thresholds LIST    [default: 0.5,0.7,0.8,0.9]
  --only LIST          some of ours, sketch, prefix, lsh16x8, lsh21x6, early, plain
  --probes N           probes per set [default: 2000]
  --audits N           decisions on real pages checked by brute force [default: 400]
  --seed N             [default: 1]
  --json               print figures as JSON lines";

#[derive(Clone, Debug)]
pub struct Settings {
    pub pages: Option<PathBuf>,
    pub synthetic: Vec<usize>,
    pub base: Option<PathBuf>,
    pub worst: bool,
    pub threads: bool,
    pub reopen: bool,
    pub thresholds: Vec<Threshold>,
    only: Option<Vec<Kind>>,
    pub probes: usize,
    pub audits: usize,
    pub seed: u64,
    pub json: bool,
}

impl Settings {
    /// Parses the arguments; an error names the invalid one.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut settings = Self {
            pages: None,
            synthetic: Vec::new(),
            base: None,
            worst: false,
            threads: false,
            reopen: false,
            thresholds: Vec::new(),
            only: None,
            probes: 2000,
            audits: 400,
            seed: 1,
            json: false,
        };
        let mut arguments = arguments.into_iter();
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{option} needs a value"));
            match option.as_str() {
                // `cargo bench` adds this flag.
                "--bench" => {}
                "--pages" => settings.pages = Some(value()?.into()),
                "--synthetic" => settings.synthetic = list(&value()?, size)?,
                "--base" => settings.base = Some(value()?.into()),
                "--worst" => settings.worst = true,
                "--threads" => settings.threads = true,
                "--reopen" => settings.reopen = true,
                "--thresholds" => settings.thresholds = list(&value()?, |text| text.parse().ok())?,
                "--only" => settings.only = Some(list(&value()?, kind)?),
                "--probes" => settings.probes = one(&value()?)?,
                "--audits" => settings.audits = one(&value()?)?,
                "--seed" => settings.seed = one(&value()?)?,
                "--json" => settings.json = true,
                _ => return Err(format!("unknown option '{option}'")),
            }
        }
        let is_quick = settings.pages.is_none() && settings.synthetic.is_empty() && !settings.worst;
        if is_quick {
            settings.synthetic = vec![10_000];
            settings.worst = true;
        }
        if settings.thresholds.is_empty() {
            let usual = if is_quick { "0.8" } else { "0.5,0.7,0.8,0.9" };
            settings.thresholds = list(usual, |text| text.parse().ok())?;
        }
        Ok(settings)
    }

    /// Returns whether a contender takes part, given its default.
    pub fn takes_part(&self, kind: Kind, by_default: bool) -> bool {
        self.only.as_ref().map_or(by_default, |only| only.contains(&kind))
    }
}

fn list<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    let read = |item: &str| read(item).ok_or(format!("invalid value '{item}'"));
    text.split(',').map(read).collect()
}

fn one<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("'{text}' is not a number"))
}

/// Parses a number of records: 20000, 10k, 1m.
fn size(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match lower.strip_suffix('k') {
        Some(digits) => (digits, 1_000),
        None => lower.strip_suffix('m').map_or((lower.as_str(), 1), |digits| (digits, 1_000_000)),
    };
    let number: usize = digits.parse().ok()?;
    number.checked_mul(unit)
}

fn kind(text: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.option() == text)
}
