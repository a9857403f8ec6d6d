//! Statistics from one pass over `pages.jsonl`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jiff::Timestamp;
use url::Url;

use super::ReportError;
use super::causes::DuplicateCauses;
use super::directories::Directories;
use super::failures::Failures;
use super::growth::Growth;
use super::left_out::LeftOut;
use super::prediction_stats::PredictionStats;
use ndcrawl_model::{Deferral, Exclusion, FailureClass, OutcomeKind, PageLine, Reason, Threshold};
use ndcrawl_store::PageLines;

/// Stands for the host of a URL that has none.
const NO_HOST: &str = "(no host)";
/// Number of bins of the score histogram below 1.
pub const BINS: usize = 50;

/// Counters of one host.
#[derive(Clone, Debug, Default)]
pub struct HostReport {
    /// Unique pages.
    pub stored: u64,
    /// Near-duplicates.
    pub near: u64,
    /// Exact duplicates.
    pub exact: u64,
    /// Failed URLs by error class.
    pub failures: BTreeMap<FailureClass, u64>,
    /// Excluded URLs by reason.
    pub excluded: BTreeMap<Exclusion, u64>,
    /// URLs not fetched because only duplicates link to them.
    pub skipped: u64,
    /// URLs not fetched because a rule predicts that they are duplicates.
    pub predicted: u64,
    /// Start of the last request of each URL, in milliseconds since 1970.
    fetched_at: Vec<i64>,
}

impl HostReport {
    fn count(&mut self, line: &PageLine) {
        match line.outcome {
            OutcomeKind::Stored | OutcomeKind::NotModified => self.stored += 1,
            OutcomeKind::NearDuplicate => self.near += 1,
            OutcomeKind::ExactDuplicate => self.exact += 1,
            OutcomeKind::PredictedDuplicate => self.predicted += 1,
            OutcomeKind::Redirected | OutcomeKind::Excluded | OutcomeKind::Failed | OutcomeKind::Deferred => {}
        }
        match line.reason {
            Some(Reason::Failed(class)) => *self.failures.entry(class).or_default() += 1,
            Some(Reason::Excluded(rule)) => *self.excluded.entry(rule).or_default() += 1,
            Some(Reason::Deferred(deferral)) => self.skipped += u64::from(deferral == Deferral::DuplicateLink),
            Some(Reason::NotRequested(_)) | None => {}
        }
    }

    /// Returns the number of pages compared.
    pub fn judged(&self) -> u64 {
        self.stored + self.copies()
    }

    /// Returns the number of duplicates.
    pub fn copies(&self) -> u64 {
        self.near + self.exact
    }

    /// Returns the number of failed URLs.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Returns the shortest and the median gap between request starts, in milliseconds.
    pub fn gaps(&self) -> Option<(i64, i64)> {
        let mut at = self.fetched_at.clone();
        at.sort_unstable();
        let mut gaps: Vec<i64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        Some((*gaps.first()?, gaps[gaps.len() / 2]))
    }
}

/// Number of duplicates of one stored page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterSize {
    /// Near-duplicates.
    pub near: u64,
    /// Exact duplicates.
    pub exact: u64,
}

/// Statistics of all page lines.
///
/// Memory grows with the number of hosts, of clusters and of listed URLs, plus 8 bytes a request.
#[derive(Clone, Debug, Default)]
pub struct LineStats {
    /// URLs by outcome.
    pub outcomes: BTreeMap<OutcomeKind, u64>,
    /// URLs by reason.
    pub reasons: BTreeMap<Reason, u64>,
    /// Counters by host name.
    pub sites: BTreeMap<String, HostReport>,
    /// Number of copies by (host of the copy, host of the original).
    pub between: HashMap<(String, String), u64>,
    /// DuplicateCauses of duplicates.
    pub causes: DuplicateCauses,
    /// Histogram of near-duplicate scores; the last bin holds the score 1.
    pub scores: Vec<u64>,
    /// Histogram of the scores of the second check.
    pub second_scores: Vec<u64>,
    /// Near-duplicates without a score of the second check.
    pub without_second: u64,
    /// Unique pages by requests.
    pub growth: Growth,
    /// URLs not fetched, by (rule, scope, confidence in millionths).
    pub predicted: BTreeMap<(String, String, u64), u64>,
    /// Statistics of predicted duplicates.
    pub predictions: PredictionStats,
    /// Pages and duplicates by directory.
    pub directories: Directories,
    /// URLs that failed.
    pub failures: Failures,
    /// URLs that were excluded or deferred.
    pub left_out: LeftOut,
    /// Sizes of clusters by the URL of the stored page.
    pub clusters: HashMap<String, ClusterSize>,
}

impl LineStats {
    /// Returns empty statistics.
    pub fn new() -> Self {
        Self { scores: vec![0; BINS + 1], second_scores: vec![0; BINS + 1], ..Self::default() }
    }

    /// Reads the page lines of an output folder.
    ///
    /// # Errors
    /// If the lines cannot be read.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let mut stats = Self::new();
        for line in PageLines::open(folder)? {
            stats.add(&line?);
        }
        Ok(stats)
    }

    /// Returns the number of URLs with an outcome.
    pub fn outcome(&self, kind: OutcomeKind) -> u64 {
        self.outcomes.get(&kind).copied().unwrap_or(0)
    }

    /// Returns the number of pages kept: stored or not modified.
    pub fn kept(&self) -> u64 {
        self.outcome(OutcomeKind::Stored) + self.outcome(OutcomeKind::NotModified)
    }

    /// Returns the requests that were saved: links found on duplicates only, predicted duplicates, and URLs of patterns
    /// that yield duplicates only.
    pub fn requests_saved(&self) -> u64 {
        let skipped: u64 = self.sites.values().map(|site| site.skipped).sum();
        let of_patterns = self.reason(Reason::Excluded(Exclusion::Pattern));
        skipped + self.outcome(OutcomeKind::PredictedDuplicate) + of_patterns
    }

    /// Returns the number of URLs with a reason.
    pub fn reason(&self, reason: Reason) -> u64 {
        self.reasons.get(&reason).copied().unwrap_or(0)
    }

    /// Counts the next line.
    pub fn add(&mut self, line: &PageLine) {
        *self.outcomes.entry(line.outcome).or_default() += 1;
        self.predictions.add(line);
        if let Some(reason) = line.reason {
            *self.reasons.entry(reason).or_default() += 1;
        }
        let is_predicted = line.outcome == OutcomeKind::PredictedDuplicate;
        let is_unique = line.is_kept();
        self.growth.add(
            // A page that was read from a file counts as one response.
            line.requests.max(u32::from(line.is_visited())),
            is_unique || (line.duplicate_of.is_some() && !is_predicted),
            is_unique,
        );
        let host = named(line.site());
        self.failures.add(line);
        self.left_out.add(line, &host);
        let site = self.sites.entry(host.clone()).or_default();
        let requested_at = line.fetched_at.as_deref().filter(|_| line.is_visited());
        if let Some(at) = requested_at.and_then(|at| at.parse::<Timestamp>().ok()) {
            site.fetched_at.push(at.as_millisecond());
        }
        site.count(line);
        if let (Some(rule), Some(context), Some(validity)) = (&line.rule, &line.rule_context, line.validity) {
            let key = (rule.clone(), context.clone(), (validity * f64::from(Threshold::ONE)).round() as u64);
            *self.predicted.entry(key).or_default() += 1;
        }
        let of = line.duplicate_of.as_ref().filter(|_| !is_predicted);
        if is_unique || of.is_some() {
            self.directories.add(&line.url, of.map(String::as_str));
        }
        if let Some(of) = of {
            self.add_copy(line, host, of);
        }
    }

    fn add_copy(&mut self, line: &PageLine, host: String, of: &str) {
        *self.between.entry((host, named(line.site_of_original()))).or_default() += 1;
        self.causes.add(&line.url, of, line.title.as_deref());
        // A page stored by an earlier crawl is not in this folder, so it cannot be shown.
        if line.duplicate_in.is_none() {
            let size = self.clusters.entry(of.to_owned()).or_default();
            if line.outcome == OutcomeKind::NearDuplicate {
                size.near += 1;
            } else {
                size.exact += 1;
            }
        }
        if line.decided_by.as_deref() == Some("similarity")
            && let Some(score) = line.score
        {
            self.scores[bin(score)] += 1;
            match line.second_score {
                Some(second) => self.second_scores[bin(second)] += 1,
                None => self.without_second += 1,
            }
        }
    }
}

/// Returns the bin of a score. Integers avoid rounding at the edges of bins.
fn bin(score: f64) -> usize {
    let millionths = (score * f64::from(Threshold::ONE)).round().clamp(0.0, f64::from(Threshold::ONE)) as usize;
    millionths / (Threshold::ONE as usize / BINS)
}

fn named(site: String) -> String {
    if site.is_empty() { NO_HOST.to_owned() } else { site }
}

/// Returns the host name of a URL, without port.
pub fn host(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_else(|| NO_HOST.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_at_the_edge_of_a_bar_is_in_the_upper_one() {
        assert_eq!([0.0, 0.019_999, 0.02, 0.68, 0.7, 0.999_999, 1.0].map(bin), [0, 0, 1, 34, 35, 49, 50]);
    }

    #[test]
    fn gaps_are_between_starts_in_the_order_of_time() {
        let site = HostReport { fetched_at: vec![1000, 0, 3000, 1500], ..HostReport::default() };
        assert_eq!(site.gaps(), Some((500, 1000)));
        assert_eq!(HostReport::default().gaps(), None);
    }
}
