//! What the summary says of single sites and seeds.

use std::time::Duration;

use serde::Serialize;

use super::seconds;
use crate::cli::format::{percent, span, thousands};
use crate::cli::table::aligned;
use crate::cli::terminal_safe::terminal_safe;

/// Rows shown of sites and failed seeds; the others are counted.
pub(super) const MOST_ROWS: usize = 20;

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

/// Renders the table of sites.
pub(super) fn table(sites: &[SiteSummary], width: usize) -> String {
    if sites.is_empty() {
        return String::new();
    }
    let heading = ["site", "fetched", "stored", "near", "exact", "duplicates", "skipped", "failed", "time"];
    let mut rows: Vec<Vec<String>> = sites.iter().take(MOST_ROWS).map(SiteSummary::cells).collect();
    let columns = fitting_columns(&heading, &rows, width);
    rows.iter_mut().for_each(|row| row.truncate(columns));
    aligned(&heading[..columns], &rows, width) + &and_more(sites.len(), "site", "sites")
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
fn fitting_columns(heading: &[&str], rows: &[Vec<String>], most: usize) -> usize {
    const LEAST_NAME: usize = 12;
    let length = |text: &str| text.chars().count();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| length(cell));
        cells.chain([length(heading[column])]).max().unwrap_or_default() + 2
    };
    let mut used = LEAST_NAME;
    let fits = |column: &usize| {
        used += width(*column);
        used <= most
    };
    1 + (1..heading.len()).take_while(fits).count()
}

/// Counts the rows that are not shown.
pub(super) fn and_more(count: usize, one: &str, many: &str) -> String {
    match count.saturating_sub(MOST_ROWS) {
        0 => String::new(),
        1 => format!("and 1 more {one}\n"),
        more => format!("and {} more {many}\n", thousands(more as u64)),
    }
}
