//! *How soon does a focused crawl find the pages of its topic?*
//!
//! Crawls labeled sites with the program, each topic in four ways: breadth-first; by link text alone; with the topic's
//! title; and with its first page as an example. Labels come from three files:
//!
//! - `sections`: URL and section, as the manual assigns them;
//! - `topics`: section, pages on and off topic, first page, title;
//! - `sites`: the address of each site.
//!
//! Prints the recall after 25, 50, 100 and 200 requests, and its mean over the first 200 requests.
//!
//! Recall counts URLs. Untranslated pages of a manual have the same bytes in several languages. The crawl keeps one
//! copy, possibly of another language, and that one is not counted. So the mean of one topic of the Apache manual is
//! 0.02 or 0.8, depending on the language met first; counted by bytes it is 0.72 to 0.84.
//!
//! `cargo bench --bench focus -- --topics topics.tsv --sections sections.tsv --sites sites.tsv [SECTION...]`, with the sites
//! served on port 8080.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../tests/it/program.rs"]
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use clap::Parser;

use program::Place;

/// Requests evaluated.
const REQUESTS: usize = 200;
const MARKS: [usize; 4] = [25, 50, 100, REQUESTS];
const BY_ANCHOR: &str =
    "[focus]\nexploration = 0\nweights = \"anchor=1,around=0,heading=0,url=0,source=0,siblings=0,region=0\"\n";

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    topics: PathBuf,
    #[arg(long)]
    sections: PathBuf,
    #[arg(long)]
    sites: PathBuf,
    /// Only these sections.
    only: Vec<String>,
    /// Passed by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Reads the rows of a table, without comments.
fn rows(path: &PathBuf) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Maps `http://SITE.localhost:8080/PATH` to the site's address, with one name for index pages.
fn by_address(url: &str, addresses: &BTreeMap<String, String>) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (site, path) = rest.split_once(".localhost:8080").unwrap();
    start_page(&format!("http://{}:8080{path}", addresses[site]))
}

fn start_page(url: &str) -> String {
    let ends = ["/index.html", "/index.en.html"].iter().find(|end| url.ends_with(**end));
    ends.map_or_else(|| url.to_owned(), |end| format!("{}/", url.strip_suffix(end).unwrap()))
}

/// Returns the requested pages, in order.
fn order(seed: &str, arguments: &[&str], config: &str) -> Vec<String> {
    let place = Place::new();
    let config = place.write("settings.toml", config).display().to_string();
    let run = place.crawl(&[seed]).args([
        "--max-pages",
        &REQUESTS.to_string(),
        "--max-crawl-delay",
        "0",
        "--config",
        &config,
    ]);
    run.args(["--no-warc", "--no-report"]).args(arguments).finish().expect_code(0);
    let mut lines: Vec<(String, String)> = Vec::new();
    for line in place.pages().iter().filter(|line| line["requests"] != 0) {
        let at = line["fetched_at"].as_str().unwrap_or_default().to_owned();
        lines.push((at, start_page(line["url"].as_str().unwrap())));
    }
    lines.sort();
    lines.into_iter().map(|(_, url)| url).collect()
}

/// Returns the recall at the marks, and the mean recall.
fn found(order: &[String], wanted: &BTreeSet<String>) -> ([f64; 4], f64) {
    let mut seen = BTreeSet::new();
    let mut shares = Vec::new();
    for at in 0..REQUESTS {
        seen.extend(order.get(at).filter(|url| wanted.contains(*url)));
        shares.push(seen.len() as f64 / wanted.len() as f64);
    }
    (MARKS.map(|mark| shares[mark - 1]), shares.iter().sum::<f64>() / REQUESTS as f64)
}

fn main() {
    let arguments = Arguments::parse();
    let addresses: BTreeMap<String, String> =
        rows(&arguments.sites).into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let mut sections: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows(&arguments.sections) {
        sections.entry(row[1].clone()).or_default().insert(by_address(&row[0], &addresses));
    }
    let ways = ["breadth-first", "by links", "by title", "by example"];
    let mut sums = [0.0; 4];
    let mut topics = 0;
    for row in rows(&arguments.topics) {
        let [section, _, _, first, title] = row.as_slice() else { continue };
        if !arguments.only.is_empty() && !arguments.only.contains(section) {
            continue;
        }
        let site = &addresses[section.split('/').next().unwrap()];
        let (seed, example) = (format!("http://{site}:8080/"), by_address(first, &addresses));
        println!("{section}: {} pages, '{title}'", sections[section].len());
        let crawls: [(&[&str], &str); 4] =
            [(&[], ""), (&["--focus", title], BY_ANCHOR), (&["--focus", title], ""), (&["--focus", &example], "")];
        for ((way, sum), (flags, config)) in ways.iter().zip(&mut sums).zip(crawls) {
            let (shares, mean) = found(&order(&seed, flags, config), &sections[section]);
            let shares = shares.map(|share| format!("{share:.2}")).join("  ");
            println!("  {way:<14} {shares}   mean {mean:.3}");
            *sum += mean;
        }
        topics += 1;
    }
    println!("mean of {topics} topics");
    for (way, sum) in ways.iter().zip(sums) {
        println!("  {way:<14} {:.3}", sum / f64::from(topics));
    }
}
