//! The summary of a crawl, on stdout when it ends.

pub(crate) mod build;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::cli::format::{byte_size, counted, duplicate_rate, percent, span, thousands};
use crate::cli::table::{aligned, shortened};
use crate::cli::terminal_safe::terminal_safe;
use crate::report::{PredictionStats, SkipCost, SkipLoss};

/// The maximum width of a line, in characters.
const WIDTH: usize = 80;
/// Rows shown of sites and failed seeds; the others are counted.
const MOST_ROWS: usize = 20;

/// The summary of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Why it stopped early: `max-pages`, `time`, `signal`.
    pub stopped: Option<String>,
    /// Time spent in all runs.
    #[serde(rename = "elapsed_seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// Requests sent, robots.txt and probes included.
    pub requests: u64,
    /// Requests sent to probe for soft 404s.
    pub probes: u64,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// URLs ever seen.
    pub seen: u64,
    /// Unique pages, archived by this crawl.
    pub stored: u64,
    /// Unique pages, unchanged since the generation before archived them.
    pub not_modified: u64,
    /// Near-duplicates.
    pub near_duplicates: u64,
    /// Exact duplicates.
    pub exact_duplicates: u64,
    /// Near-duplicates that were later decided to be unique.
    pub revised: u64,
    /// URLs that redirect to another.
    pub redirected: u64,
    /// URLs excluded by a rule.
    pub excluded: u64,
    /// Of these, soft 404s.
    pub soft_404s: u64,
    /// URLs that failed.
    pub failed: u64,
    /// URLs seen and not fetched.
    pub deferred: u64,
    /// Links skipped because only duplicates have them: requests saved.
    pub links_skipped: u64,
    /// Of these, links that have no counterpart on the page that the duplicate repeats.
    pub links_unmatched: u64,
    /// What skipping the links of duplicates saves and loses, if this crawl measured it.
    pub skipping: Option<SkippingCost>,
    /// URLs skipped because their pattern yields duplicates only: requests saved.
    pub repeating: u64,
    /// URLs skipped because rules predict that they are duplicates: requests saved.
    pub predicted: u64,
    /// What skipping those loses, if this crawl measured it.
    pub predicting: Option<PredictionCost>,
    /// Sites, in display order.
    pub sites: Vec<SiteSummary>,
    /// The slowest sites, the slowest first.
    pub slowest: Vec<SlowSite>,
    /// The sites with the most failures.
    pub failing: Vec<FailingSite>,
    /// Seeds that failed.
    pub seeds_failed: Vec<FailedSeed>,
    /// The output folder.
    pub out: String,
    /// The report, if one was written.
    pub report: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
}

/// What skipping the links of duplicates saves and loses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SkippingCost {
    /// URLs that only duplicates link to, without those reached through others of them.
    pub gates: u64,
    /// Of these, those that were followed.
    pub followed: u64,
    /// Requests for them and for the pages behind them.
    pub requests: u64,
    /// Unique pages found this way.
    pub unique: u64,
    /// Their text that stands in no other stored page, in pages.
    pub new_text: f64,
    /// New text lost per 1,000 requests saved, in pages; `None` if none was followed.
    pub lost_per_1000: Option<f64>,
    /// The 95% interval.
    pub interval: Option<(f64, f64)>,
    /// By host.
    pub hosts: BTreeMap<String, HostSkippingCost>,
    /// Whether all links without counterpart were followed, and no others.
    #[serde(skip)]
    pub is_of_unmatched: bool,
}

/// What skipping the links of duplicates loses on a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct HostSkippingCost {
    pub followed: u64,
    pub lost_per_1000: Option<f64>,
    pub interval: Option<(f64, f64)>,
}

impl From<&SkipCost> for SkippingCost {
    fn from(cost: &SkipCost) -> Self {
        let SkipLoss { gates, followed, share } = cost.loss;
        let of_host = |lost: &SkipLoss| HostSkippingCost {
            followed: lost.followed,
            lost_per_1000: lost.share.value.map(per_1000),
            interval: lost.share.interval.map(both_per_1000),
        };
        Self {
            gates,
            followed,
            requests: cost.requests,
            unique: cost.unique,
            new_text: (cost.new_text * 1000.0).round() / 1000.0,
            lost_per_1000: share.value.map(per_1000),
            interval: share.interval.map(both_per_1000),
            hosts: cost.hosts.iter().map(|(host, lost)| (host.clone(), of_host(lost))).collect(),
            is_of_unmatched: false,
        }
    }
}

impl SkippingCost {
    fn text(&self) -> String {
        let (Some(lost), Some((low, high))) = (self.lost_per_1000, self.interval) else { return String::new() };
        if self.is_of_unmatched {
            let requests = counted(self.requests, "request", "requests");
            return format!(
                "links of duplicates without counterpart: {requests} brought new text worth {:.1} pages\n",
                self.new_text
            );
        }
        let sure = if low == high { String::new() } else { format!(" (95% interval: {low:.0} to {high:.0})") };
        format!("skipping links of duplicates loses {lost:.0} pages of text per 1,000 requests{sure}\n")
    }
}

/// What skipping predicted duplicates loses.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PredictionCost {
    /// Predicted URLs that were sampled and fetched.
    pub drawn: u64,
    /// Of these, unique pages.
    pub unique: u64,
    /// URLs skipped first and fetched later, because a rule was refuted or rules contradicted each other.
    pub brought_back: u64,
    /// Of these, unique pages.
    pub found: u64,
    /// Unique pages lost per 1,000 requests saved; `None` if none was sampled.
    pub lost_per_1000: Option<f64>,
    /// The 95% interval.
    pub interval: Option<(f64, f64)>,
}

impl From<&PredictionStats> for PredictionCost {
    fn from(predictions: &PredictionStats) -> Self {
        let lost = predictions.loss();
        let PredictionStats { sampled, sampled_unique, requeued, requeued_unique, .. } = *predictions;
        Self {
            drawn: sampled,
            unique: sampled_unique,
            brought_back: requeued,
            found: requeued_unique,
            lost_per_1000: lost.value.map(per_1000),
            interval: lost.interval.map(both_per_1000),
        }
    }
}

impl PredictionCost {
    fn text(&self) -> String {
        let (Some(lost), Some((low, high))) = (self.lost_per_1000, self.interval) else { return String::new() };
        format!(
            "skipped predicted URLs lose {lost:.0} unique pages per 1,000 requests saved (95% interval: {low:.0} to {high:.0})\n"
        )
    }
}

fn per_1000(share: f64) -> f64 {
    (share * 1_000_000.0).round() / 1000.0
}

fn both_per_1000((low, high): (f64, f64)) -> (f64, f64) {
    (per_1000(low), per_1000(high))
}

/// The counters of one site.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct SiteSummary {
    pub host: String,
    pub fetched: u64,
    pub stored: u64,
    pub near_duplicates: u64,
    pub exact_duplicates: u64,
    /// The share of duplicates among compared pages; `None` without pages.
    pub duplicate_rate: Option<f64>,
    pub links_skipped: u64,
    /// URLs of the site skipped as predicted duplicates.
    pub predicted: u64,
    pub failed: u64,
    #[serde(rename = "mean_response_seconds", serialize_with = "seconds")]
    pub mean_response: Duration,
}

/// A slow site.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct SlowSite {
    pub host: String,
    #[serde(rename = "mean_response_seconds", serialize_with = "seconds")]
    pub mean_response: Duration,
}

/// A site with failures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct FailingSite {
    pub host: String,
    pub failed: u64,
    /// The most common class of failure.
    pub class: String,
}

/// A seed that failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct FailedSeed {
    pub seed: String,
    pub why: String,
}

pub(super) fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_millis() as f64 / 1000.0)
}

const NOT_MODIFIED: &str = "not modified";
const PREDICTED: &str = "predicted";

impl Summary {
    /// Renders the summary as text.
    pub fn text(&self, color: bool) -> String {
        let parts = [
            self.answer(color) + &self.head(),
            self.outcomes(),
            self.duplicates(),
            self.site_table(),
            self.remarkable_sites(),
            self.failed_seeds(),
            self.end(),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }

    /// Renders the summary as one line of JSON.
    pub fn json(&self) -> String {
        // Strings and numbers cannot fail to serialize.
        format!("{}\n", serde_json::to_string(self).unwrap_or_default())
    }

    /// Returns the duplicate rate and what it saved.
    fn answer(&self, color: bool) -> String {
        let unique = self.stored + self.not_modified;
        let Some(rate) = duplicate_rate(unique, self.near_duplicates, self.exact_duplicates) else {
            return String::new();
        };
        let judged = counted(unique + self.near_duplicates + self.exact_duplicates, "page", "pages");
        let saved = match self.links_skipped + self.predicted + self.repeating {
            0 => String::new(),
            requests => format!("; skipping saved {}", counted(requests, "request", "requests")),
        };
        let line = format!("{} of {judged} compared are duplicates{saved}", percent(rate));
        if color { format!("\u{1b}[1m{line}\u{1b}[0m\n") } else { line + "\n" }
    }

    fn head(&self) -> String {
        let how = match &self.stopped {
            Some(why) => format!("Crawl stopped ({})", terminal_safe(why)),
            None => "Crawl finished".to_owned(),
        };
        let requests = counted(self.requests, "request", "requests");
        format!("{how} after {}: {requests}, {}\n", span(self.elapsed), byte_size(self.bytes))
    }

    fn outcomes(&self) -> String {
        let rows = [
            (self.stored, "stored", "unique pages"),
            (self.not_modified, NOT_MODIFIED, "unique pages, unchanged"),
            (self.near_duplicates, "near-duplicates", "of a stored page"),
            (self.exact_duplicates, "exact duplicates", "same bytes or same text"),
            (self.redirected, "redirected", ""),
            (self.excluded, "excluded", "by scope, robots.txt, type and other rules"),
            (self.failed, "failed", ""),
            (self.deferred, "deferred", "seen, not fetched"),
            (self.predicted, PREDICTED, "predicted duplicates, not fetched"),
        ];
        let width = thousands(self.seen).len().max(7);
        let mut text = String::new();
        for (count, name, note) in
            rows.into_iter().filter(|(count, name, _)| *count > 0 || ![NOT_MODIFIED, PREDICTED].contains(name))
        {
            let line = format!("  {:>width$}  {name:<18}{note}", thousands(count));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let _ = writeln!(text, "  {:>width$}  URLs seen", thousands(self.seen));
        text
    }

    fn duplicates(&self) -> String {
        let saved = match self.links_skipped {
            0 => String::new(),
            links => format!("{} found only on duplicates not fetched\n", counted(links, "link", "links")),
        };
        let repeating = match self.repeating {
            0 => String::new(),
            urls => format!("{} not fetched: their URL pattern yields duplicates only\n", counted(urls, "URL", "URLs")),
        };
        let predicted = match self.predicted {
            0 => String::new(),
            urls => {
                format!("{} not fetched: rules predict that they are duplicates\n", counted(urls, "URL", "URLs"))
            }
        };
        let soft_404s = match self.soft_404s {
            0 => String::new(),
            pages => format!("{} left out: error pages sent with status 200\n", counted(pages, "page", "pages")),
        };
        let revised = match self.revised {
            0 => String::new(),
            pages => format!("{} decided again after more of their host was known\n", counted(pages, "page", "pages")),
        };
        let unmatched = match self.links_unmatched {
            0 => String::new(),
            links => format!(
                "{} of them {} no counterpart on the original (--duplicate-links unmatched follows such links)\n",
                thousands(links),
                if links == 1 { "has" } else { "have" }
            ),
        };
        let lost = self.skipping.as_ref().map(SkippingCost::text).unwrap_or_default();
        let lost_by_rules = self.predicting.as_ref().map(PredictionCost::text).unwrap_or_default();
        let text = format!("{saved}{unmatched}{lost}{repeating}{predicted}{lost_by_rules}{soft_404s}{revised}");
        text.lines().map(wrapped).collect()
    }

    fn site_table(&self) -> String {
        if self.sites.is_empty() {
            return String::new();
        }
        let heading = ["site", "fetched", "stored", "near", "exact", "duplicates", "skipped", "failed", "time"];
        let mut rows: Vec<Vec<String>> = self.sites.iter().take(MOST_ROWS).map(SiteSummary::cells).collect();
        let columns = fitting_columns(&heading, &rows);
        rows.iter_mut().for_each(|row| row.truncate(columns));
        aligned(&heading[..columns], &rows, WIDTH) + &and_more(self.sites.len(), "site", "sites")
    }

    fn remarkable_sites(&self) -> String {
        let slow =
            self.slowest.iter().map(|site| format!("{} {}", terminal_safe(&site.host), span(site.mean_response)));
        let failing = self.failing.iter().map(|site| {
            format!("{} {} ({})", terminal_safe(&site.host), thousands(site.failed), terminal_safe(&site.class))
        });
        labelled("Slowest:", slow) + &labelled("Most failures:", failing)
    }

    fn failed_seeds(&self) -> String {
        if self.seeds_failed.is_empty() {
            return String::new();
        }
        let mut text = "Seeds that could not be fetched:\n".to_owned();
        for failed in self.seeds_failed.iter().take(MOST_ROWS) {
            let line = format!("  {}: {}", terminal_safe(&failed.seed), terminal_safe(&failed.why));
            let _ = writeln!(text, "{}", shortened(&line, WIDTH));
        }
        text + &and_more(self.seeds_failed.len(), "seed", "seeds")
    }

    fn end(&self) -> String {
        let mut text = format!("Results: {}\n", terminal_safe(&self.out));
        if let Some(report) = &self.report {
            let _ = writeln!(text, "Report:  {}", terminal_safe(report));
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(text, "hint: {}", terminal_safe(hint));
        }
        text
    }
}

impl SiteSummary {
    fn cells(&self) -> Vec<String> {
        vec![
            terminal_safe(&self.host).into_owned(),
            thousands(self.fetched),
            thousands(self.stored),
            thousands(self.near_duplicates),
            thousands(self.exact_duplicates),
            self.duplicate_rate.map_or("-".to_owned(), percent),
            thousands(self.links_skipped + self.predicted),
            thousands(self.failed),
            if self.mean_response.is_zero() { "-".to_owned() } else { span(self.mean_response) },
        ]
    }
}

/// Returns how many columns fit beside a short name of the site. Columns that do not fit are left out as a whole.
fn fitting_columns(heading: &[&str], rows: &[Vec<String>]) -> usize {
    const LEAST_NAME: usize = 12;
    let length = |text: &str| text.chars().count();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| length(cell));
        cells.chain([length(heading[column])]).max().unwrap_or_default() + 2
    };
    let mut used = LEAST_NAME;
    let fits = |column: &usize| {
        used += width(*column);
        used <= WIDTH
    };
    1 + (1..heading.len()).take_while(fits).count()
}

/// Breaks a line at blanks so that it fits; further lines are indented.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(last) if line == 0 => last.push_str(word),
            Some(last) if line + 1 + word.chars().count() <= WIDTH => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n") + "\n"
}

fn and_more(count: usize, one: &str, many: &str) -> String {
    match count.saturating_sub(MOST_ROWS) {
        0 => String::new(),
        1 => format!("and 1 more {one}\n"),
        more => format!("and {} more {many}\n", thousands(more as u64)),
    }
}

/// Returns the label with as many items as fit on one line.
fn labelled(label: &str, items: impl Iterator<Item = String>) -> String {
    let mut line = format!("{label:<15}");
    let empty = line.chars().count();
    for item in items {
        let separator = if line.chars().count() == empty { "" } else { ", " };
        if line.chars().count() + separator.len() + item.chars().count() > WIDTH {
            break;
        }
        line.push_str(separator);
        line.push_str(&item);
    }
    if line.chars().count() == empty { String::new() } else { line + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(host: &str, stored: u64, near_duplicates: u64) -> SiteSummary {
        SiteSummary {
            host: host.to_owned(),
            fetched: stored + near_duplicates,
            stored,
            near_duplicates,
            duplicate_rate: duplicate_rate(stored, near_duplicates, 0),
            mean_response: Duration::from_millis(120),
            ..SiteSummary::default()
        }
    }

    fn summary() -> Summary {
        Summary {
            stopped: None,
            elapsed: Duration::from_secs(123),
            requests: 1300,
            probes: 12,
            bytes: 24_536_000,
            seen: 15_300,
            stored: 1000,
            not_modified: 0,
            near_duplicates: 150,
            exact_duplicates: 84,
            revised: 7,
            redirected: 30,
            excluded: 12_000,
            soft_404s: 9,
            failed: 3,
            deferred: 2033,
            links_skipped: 420,
            links_unmatched: 12,
            skipping: Some(SkippingCost {
                gates: 40,
                followed: 4,
                requests: 12,
                unique: 3,
                new_text: 2.75,
                lost_per_1000: Some(250.0),
                interval: Some((81.2, 554.0)),
                hosts: BTreeMap::new(),
                is_of_unmatched: false,
            }),
            repeating: 11_000,
            predicted: 0,
            predicting: Some(PredictionCost {
                drawn: 30,
                unique: 1,
                lost_per_1000: Some(7.2),
                interval: Some((0.0, 31.4)),
                ..PredictionCost::default()
            }),
            sites: vec![
                site("docs.example.org", 800, 150),
                site("www.example.net", 200, 0),
                site("down.example", 0, 0),
            ],
            slowest: vec![SlowSite { host: "docs.example.org".to_owned(), mean_response: Duration::from_millis(1234) }],
            failing: vec![FailingSite { host: "down.example".to_owned(), failed: 3, class: "connect".to_owned() }],
            seeds_failed: vec![FailedSeed {
                seed: "https://down.example/".to_owned(),
                why: "connection refused".to_owned(),
            }],
            out: "./ndcrawl-out".to_owned(),
            report: Some("ndcrawl-out/report.html".to_owned()),
            hint: Some("pages.jsonl has one line for each URL".to_owned()),
        }
    }

    #[test]
    fn a_summary_is_read_by_people() {
        insta::assert_snapshot!("summary", summary().text(false));
    }

    #[test]
    fn a_summary_of_nothing_is_short() {
        let nothing = Summary { stopped: Some("time".to_owned()), out: "o".to_owned(), ..Summary::default() };
        insta::assert_snapshot!(nothing.text(false), @r"
        Crawl stopped (time) after 0 ms: 0 requests, 0 B

                0  stored            unique pages
                0  near-duplicates   of a stored page
                0  exact duplicates  same bytes or same text
                0  redirected
                0  excluded          by scope, robots.txt, type and other rules
                0  failed
                0  deferred          seen, not fetched
                0  URLs seen

        Results: o
        ");
    }

    #[test]
    fn a_summary_is_read_by_programs() {
        let json: serde_json::Value = serde_json::from_str(&summary().json()).unwrap();
        assert_eq!(json["elapsed_seconds"], 123.0);
        assert_eq!(json["sites"][0]["mean_response_seconds"], 0.12);
        assert_eq!(json["sites"][2]["duplicate_rate"], serde_json::Value::Null);
        assert_eq!(json["failing"][0]["class"], "connect");
        assert_eq!(summary().json().lines().count(), 1);
    }

    #[test]
    fn no_line_is_longer_than_eighty_characters() {
        let mut summary = summary();
        let long = "a-very-long-host-name-that-does-not-end.".repeat(4);
        summary.sites = (0..30).map(|n| site(&format!("{n}.{long}"), 9_999_999, 9_999_999)).collect();
        summary.slowest = vec![SlowSite { host: long.clone(), mean_response: Duration::ZERO }; 5];
        summary.seeds_failed = vec![FailedSeed { seed: long, why: "x\ny".to_owned() }; 25];
        let text = summary.text(false);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= WIDTH, "{longest}\n{text}");
        assert!(text.contains("and 10 more sites\n") && text.contains("and 5 more seeds\n"), "{text}");
    }

    #[test]
    fn what_a_server_says_cannot_colour_the_summary() {
        let mut summary = summary();
        summary.seeds_failed[0].why = "\u{1b}[31mred".to_owned();
        assert!(!summary.text(false).contains('\u{1b}'));
        assert!(summary.text(true).starts_with("\u{1b}[1m19.0% of 1,234 pages compared are duplicates; "));
    }
}
