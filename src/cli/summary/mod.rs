//! The summary of a crawl, on stdout when it ends.

pub(crate) mod build;
mod costs;
mod documents;
mod recrawl;
mod sites;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};

pub use costs::{HostSkippingCost, PredictionCost, SkippingCost};
pub(crate) use documents::documents_text;
pub use recrawl::RecrawlSummary;
pub use sites::{FailedSeed, FailingSite, SiteSummary, SlowSite};

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
    /// Words of near-duplicates.
    pub words_dropped: u64,
    /// Those that stand in no run of words that the page kept in their place has.
    pub words_lost: u64,
    /// Near-duplicates that were later decided to be unique.
    pub revised: u64,
    /// URLs that redirect to another.
    pub redirected: u64,
    /// URLs excluded by a rule.
    pub excluded: u64,
    /// Of these, soft 404s.
    pub soft_404s: u64,
    /// PDFs whose text was read.
    pub documents: u64,
    /// PDFs without text, or with a part of it only, by the reason.
    pub text_errors: BTreeMap<String, u64>,
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
    /// What a recrawl found changed and what it missed.
    pub recrawl: Option<RecrawlSummary>,
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

impl Summary {
    /// Renders the summary as one line of JSON.
    pub fn json(&self) -> String {
        // Strings and numbers cannot fail to serialize.
        format!("{}\n", serde_json::to_string(self).unwrap_or_default())
    }
}

pub(super) fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_millis() as f64 / 1000.0)
}
