//! The metrics in the text format of Prometheus, version 0.0.4.
//!
//! A value that may fall is a gauge: outcomes too, because verdicts may be revised. Origins are labels for the
//! longest queues only, so that [few](crate::cli::monitor) label values exist.

use std::fmt::{Display, Write as _};

use crate::cli::status_file::StatusFile;

/// The media type.
pub(super) const TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Renders all metrics.
pub(super) fn metrics(status: &StatusFile) -> String {
    let mut text = Text::default();
    text.family("ndcrawl_info", "gauge", "Version of the program.");
    text.sample("ndcrawl_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    let index = &status.index;
    for (name, kind, help, value) in [
        ("elapsed_seconds", "gauge", "Time spent in all runs.", status.elapsed_seconds),
        ("pages_per_second", "gauge", "Pages fetched per second, recently.", status.pages_per_second),
        ("queued", "gauge", "URLs in the queue.", status.queued as f64),
        ("leased", "gauge", "URLs being fetched or decided.", status.leased as f64),
        ("deferred", "gauge", "URLs seen and not scheduled for fetching.", status.deferred as f64),
        ("seen_total", "counter", "URLs ever seen.", status.seen as f64),
        ("origins", "gauge", "Origins with URLs to fetch.", status.origins as f64),
        ("requests_total", "counter", "Requests sent, robots.txt included.", status.requests as f64),
        ("bytes_total", "counter", "Bytes of decoded bodies.", status.bytes as f64),
        ("memory_bytes", "gauge", "Memory in use.", status.memory_bytes as f64),
        ("frontier_bytes", "gauge", "Of that, the frontier.", status.frontier_bytes as f64),
        ("index_records", "gauge", "Stored pages in the index.", index.records as f64),
        ("index_bytes", "gauge", "Memory of the index of stored pages.", index.bytes as f64),
        ("index_list_bytes", "gauge", "Of that, the index and what is known of common text.", index.list_bytes as f64),
    ] {
        let name = format!("ndcrawl_{name}");
        text.family(&name, kind, help);
        text.sample(&name, &[], value);
    }
    if let Some(rate) = status.duplicate_rate {
        text.family("ndcrawl_duplicate_rate", "gauge", "The share of duplicates among the pages compared.");
        text.sample("ndcrawl_duplicate_rate", &[], rate);
    }
    text.family("ndcrawl_outcomes", "gauge", "URLs by their outcome.");
    for (outcome, count) in &status.outcomes {
        text.sample("ndcrawl_outcomes", &[("outcome", outcome)], count);
    }
    text.family("ndcrawl_waiting_queued", "gauge", "URLs queued at the origins with the longest queues.");
    for waiting in &status.waiting {
        text.sample("ndcrawl_waiting_queued", &[("origin", &waiting.origin)], waiting.queued);
    }
    text.family(
        "ndcrawl_waiting_due_in_seconds",
        "gauge",
        "Seconds until the next of these URLs may be fetched, and the reason.",
    );
    for waiting in &status.waiting {
        let labels = [("origin", waiting.origin.as_str()), ("why", &waiting.why)];
        text.sample("ndcrawl_waiting_due_in_seconds", &labels, waiting.due_in_seconds);
    }
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail, here and below.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// Escapes the value of a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::status_file::{IndexStatus, WaitingOrigin};

    fn waiting(origin: &str, why: &str) -> WaitingOrigin {
        WaitingOrigin { origin: origin.to_owned(), queued: 7, due_in_seconds: 0.25, why: why.to_owned() }
    }

    #[test]
    fn the_text_is_what_prometheus_reads() {
        let status = StatusFile {
            elapsed_seconds: 83.5,
            pages_per_second: 14.75,
            queued: 56_789,
            outcomes: [("stored", 3), ("near-duplicate", 1)].map(|(name, count)| (name.to_owned(), count)).into(),
            duplicate_rate: Some(0.25),
            index: IndexStatus { records: 3, bytes: 4096, list_bytes: 900 },
            waiting: vec![waiting("https://a.test:443", "gap")],
            ..StatusFile::default()
        };
        let text = metrics(&status);
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        insta::assert_snapshot!(samples.join("\n").replace(env!("CARGO_PKG_VERSION"), "VERSION"), @r#"
        ndcrawl_info{version="VERSION"} 1
        ndcrawl_elapsed_seconds 83.5
        ndcrawl_pages_per_second 14.75
        ndcrawl_queued 56789
        ndcrawl_leased 0
        ndcrawl_deferred 0
        ndcrawl_seen_total 0
        ndcrawl_origins 0
        ndcrawl_requests_total 0
        ndcrawl_bytes_total 0
        ndcrawl_memory_bytes 0
        ndcrawl_frontier_bytes 0
        ndcrawl_index_records 3
        ndcrawl_index_bytes 4096
        ndcrawl_index_list_bytes 900
        ndcrawl_duplicate_rate 0.25
        ndcrawl_outcomes{outcome="near-duplicate"} 1
        ndcrawl_outcomes{outcome="stored"} 3
        ndcrawl_waiting_queued{origin="https://a.test:443"} 7
        ndcrawl_waiting_due_in_seconds{origin="https://a.test:443",why="gap"} 0.25
        "#);
    }

    #[test]
    fn a_label_cannot_break_out_of_its_quotes() {
        let hostile = "http://a\"} 1\nforged 2\\";
        let text = metrics(&StatusFile { waiting: vec![waiting(hostile, "gap")], ..StatusFile::default() });
        assert!(text.contains(r#"{origin="http://a\"} 1\nforged 2\\"} 7"#), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("forged")));
    }

    #[test]
    fn every_family_is_told_once_and_before_its_samples() {
        let text = metrics(&StatusFile { duplicate_rate: Some(0.5), ..StatusFile::default() });
        let mut families = Vec::new();
        for line in text.lines() {
            let name = line.trim_start_matches("# HELP ").split([' ', '{']).next().unwrap();
            match line.starts_with("# HELP ") {
                true => families.push(name.to_owned()),
                false => {
                    assert!(line.starts_with("# TYPE ") || families.last().is_some_and(|last| last == name), "{line}")
                }
            }
        }
        let mut unique = families.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), families.len());
    }
}
