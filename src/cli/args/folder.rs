//! The arguments of commands that read or write one output folder.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::common::Verbosity;
use super::value_enums::{ClusterOrder, ExportFormat, NoarchiveChoice, Representative, TextKind, UsageChoice, named};
use crate::cli::config::units::{Size, parse_percent};
use crate::export::RateKey;
use crate::model::Threshold;

/// The arguments of `status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// Output folder of the crawl, or the servers of a shared one: postgres://USER@HOST,HOST/DATABASE
    #[arg(default_value = "./ndcrawl-out", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Shared crawls: the name of the crawl in the database
    #[arg(long, value_name = "NAME", default_value = "crawl")]
    pub cluster_name: String,
    /// Print one JSON object: the status file, with the state that the lock tells
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `clusters`.
#[derive(Debug, Args)]
pub struct ClustersArguments {
    /// Output folder of the crawl
    #[arg(default_value = "./ndcrawl-out", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Leave out pages whose similarity to the stored page is below F, from 0 to 1
    #[arg(long, value_name = "F")]
    pub min_mwo: Option<Threshold>,
    /// Only clusters with a page of this host
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Only the first N clusters
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Which clusters come first
    #[arg(long, value_name = "ORDER", value_enum, default_value_t)]
    pub sort: ClusterOrder,
    /// Print one line of JSON per cluster
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `audit`.
#[derive(Debug, Args)]
pub struct AuditArguments {
    /// Output folder of the crawl
    #[arg(default_value = "./ndcrawl-out", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Print one JSON object, with all pages
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `redirects`.
#[derive(Debug, Args)]
pub struct RedirectsArguments {
    /// Output folder of the crawl of the earlier site
    #[arg(value_name = "OLD", value_hint = ValueHint::DirPath)]
    pub old: PathBuf,
    /// Output folder of the crawl of the later site
    #[arg(value_name = "NEW", value_hint = ValueHint::DirPath)]
    pub new: PathBuf,
    /// Write the CSV to FILE instead of stdout
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

/// The arguments of `rules`.
#[derive(Debug, Args)]
pub struct RulesArguments {
    /// Output folder of the crawl
    #[arg(default_value = "./ndcrawl-out", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Write the rules to FILE (- is stdout), for --rules of another crawl
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Disable rule number N in this crawl and in the export (repeatable)
    #[arg(long, value_name = "N")]
    pub off: Vec<usize>,
    /// Enable rule number N again (repeatable)
    #[arg(long, value_name = "N")]
    pub on: Vec<usize>,
    /// Print one line of JSON per rule
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `export`.
#[derive(Clone, Debug, Args)]
pub struct ExportArguments {
    /// Output folder of the crawl
    #[arg(default_value = "./ndcrawl-out", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Output format [default: that of FILE's name, as in pages.parquet]
    #[arg(long)]
    pub format: Option<ExportFormat>,
    /// Write to FILE or s3://BUCKET/NAME; - is stdout [default: a file in DIR]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Export pages of these outcomes only, or all [default: stored; csv, cdxj: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub outcome: Vec<String>,
    /// Export pages of these hosts only
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub host: Vec<String>,
    /// Export pages in these languages only, for example en,de
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub lang: Vec<String>,
    /// Export pages of which this is said only: train-ai, ai-input, search or tdm, and y, n, unclear or unknown, joined by +
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub usage: Vec<UsageChoice>,
    /// --usage asks the duplicates of a page, too: what one of them disallows is disallowed
    #[arg(long, requires = "usage")]
    pub usage_of_copies: bool,
    /// Which page represents a cluster of duplicates
    #[arg(long, value_name = "WHICH", default_value = "stored")]
    pub representative: Representative,
    /// parquet, jsonl, dataset: the text of a page; main,full: all visible text besides, as the field full_text
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "main")]
    pub text: Vec<TextKind>,
    /// parquet, jsonl, dataset: add the decoded source of each page as the field html
    #[arg(long)]
    pub html: bool,
    /// dataset, and parquet, jsonl and warc into a folder: begin another file when one has SIZE [default: 512M for dataset]
    #[arg(long, value_name = "SIZE")]
    pub shard_size: Option<Size>,
    /// csv: group pages by
    #[arg(long, value_name = "WHAT", default_value = "host", value_parser = named(&RateKey::ALL, |key| key.name().into()))]
    pub by: RateKey,
    /// How to treat pages marked noarchive or noindex; obey: leave them out
    #[arg(long, value_name = "WHAT", default_value = "obey")]
    pub noarchive: NoarchiveChoice,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// The arguments of `reindex`.
#[derive(Debug, Args)]
pub struct ReindexArguments {
    /// Output folder of the crawl
    #[arg(value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Rebuild the store even if it can be opened
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// The arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Output folder of the crawl [default: ./ndcrawl-out, if a URL with its scheme comes first]
    #[arg(value_hint = ValueHint::DirPath)]
    dir: PathBuf,
    /// The URL, with or without its scheme, in any equivalent spelling
    #[arg(value_hint = ValueHint::Url)]
    url: Option<String>,
    /// Compare with the page of this URL, term by term
    #[arg(value_name = "URL2", value_hint = ValueHint::Url)]
    other: Option<String>,
    /// Show all terms of two pages, not only the heaviest
    #[arg(long)]
    pub all: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl ExplainArguments {
    /// Returns the folder, the URL if there is one, and the URL to compare with.
    pub fn named(&self) -> (PathBuf, Option<&str>, Option<&str>) {
        let (url, other) = (self.url.as_deref(), self.other.as_deref());
        match self.dir.to_str().filter(|text| text.contains("://") && other.is_none()) {
            Some(first) => (PathBuf::from("./ndcrawl-out"), Some(first), url),
            None => (self.dir.clone(), url, other),
        }
    }
}

/// The arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Output folder of the crawl
    #[arg(default_value = "./ndcrawl-out", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Compare with the crawl in this folder instead: what is new, gone, changed, newly duplicated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub against: Option<PathBuf>,
    /// Write the report to FILE [default: report.html in DIR; with --against comparison.html]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Repeat the decisions on a random sample of N pages at other thresholds; 0: none
    #[arg(long, value_name = "N", default_value_t = crate::report::CURVE_PAGES)]
    pub curve_pages: u32,
    /// Compare the text of the N largest clusters, side by side
    #[arg(long, value_name = "N", default_value_t = crate::report::DIFFS)]
    pub diffs: u32,
}

/// The arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Write the pages of all commands into DIR instead
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}

/// The arguments of `demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArguments {
    /// Output folder
    #[arg(short, long, value_name = "DIR", default_value = "./demo-out", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Only serve the site, on this port of 127.0.0.1, until Ctrl-C: to crawl it with options of your own
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "8465", conflicts_with_all = ["out", "json"])]
    pub serve: Option<u16>,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// The arguments of `verify`.
#[derive(Clone, Debug, Args)]
pub struct VerifyArguments {
    /// Output folder of the crawl, or the servers of a shared one: postgres://USER@HOST,HOST/DATABASE
    #[arg(default_value = "./ndcrawl-out", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Shared crawls: the name of the crawl in the database
    #[arg(long, value_name = "NAME", default_value = "crawl")]
    pub cluster_name: String,
    /// Shared crawls: look for archives of workers in DIR, too: copies of their folders (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub archives: Vec<PathBuf>,
    /// Shared crawls: decide this part of the turns and read this part of the records, as 1%; each run takes others
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub sample: Option<f64>,
    /// Also count again, from the stored texts, what each dropped page loses
    #[arg(long)]
    pub loss: bool,
    /// Print the findings as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}
