//! One pass over `pages.jsonl`: what the lines alone tell.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jiff::Timestamp;
use url::Url;

use super::ReportError;
use super::causes::Causes;
use super::growth::Growth;
use super::prediction_stats::Predictions;
use crate::model::{OutcomeKind, PageLine, Threshold};
use crate::store::PageLines;

/// Bars of the histogram of scores.
pub const BINS: usize = 50;

/// What became of the URLs of one host.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Unique pages.
    pub stored: u64,
    /// Near-duplicates.
    pub near: u64,
    /// Exact duplicates.
    pub exact: u64,
    /// URLs that could not be had, by class.
    pub failures: BTreeMap<String, u64>,
    /// URLs kept out, by reason.
    pub excluded: BTreeMap<String, u64>,
    /// URLs not fetched since only duplicates name them.
    pub skipped: u64,
    /// URLs not fetched since rules foretell that they repeat stored pages.
    pub predicted: u64,
    /// Starts of requests, the last one for each URL, milliseconds since 1970.
    fetched_at: Vec<i64>,
}

impl Site {
    /// Pages that were compared.
    pub fn judged(&self) -> u64 {
        self.stored + self.copies()
    }

    /// Duplicates of either kind.
    pub fn copies(&self) -> u64 {
        self.near + self.exact
    }

    /// URLs that could not be had.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// The shortest and the median time between the starts of two requests, in milliseconds.
    pub fn gaps(&self) -> Option<(i64, i64)> {
        let mut at = self.fetched_at.clone();
        at.sort_unstable();
        let mut gaps: Vec<i64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        Some((*gaps.first()?, gaps[gaps.len() / 2]))
    }
}

/// How many pages repeat a stored one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Near-duplicates.
    pub near: u64,
    /// Exact duplicates.
    pub exact: u64,
}

/// What the lines tell. Memory goes by hosts and by stored pages that are repeated, and 8 bytes a request.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// URLs by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// URLs by outcome and reason.
    pub reasons: BTreeMap<(String, String), u64>,
    /// By host name.
    pub sites: BTreeMap<String, Site>,
    /// Copies by their host and the host of what they repeat.
    pub between: HashMap<(String, String), u64>,
    /// Where copies come from.
    pub causes: Causes,
    /// Near-duplicates found by comparing, by their score; the last bar is 1.
    pub scores: Vec<u64>,
    /// The same by the second condition's score, and those that have none.
    pub second_scores: Vec<u64>,
    /// See `second_scores`.
    pub without_second: u64,
    /// How unique pages grew.
    pub growth: Growth,
    /// URLs not fetched by rule, its context, and its validity in millionths.
    pub foretold: BTreeMap<(String, String, u64), u64>,
    /// What is known of what was foretold.
    pub predictions: Predictions,
    /// Stored pages that are repeated.
    pub clusters: HashMap<String, Size>,
}

impl Gathered {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { scores: vec![0; BINS + 1], second_scores: vec![0; BINS + 1], ..Self::default() }
    }

    /// Reads the lines of an output folder.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let mut gathered = Self { scores: vec![0; BINS + 1], second_scores: vec![0; BINS + 1], ..Self::default() };
        for line in PageLines::open(folder)? {
            gathered.add(&line?);
        }
        Ok(gathered)
    }

    /// URLs of an outcome.
    pub fn outcome(&self, kind: OutcomeKind) -> u64 {
        self.outcomes.get(kind.name()).copied().unwrap_or(0)
    }

    /// Pages that are kept.
    pub fn kept(&self) -> u64 {
        self.outcome(OutcomeKind::Stored) + self.outcome(OutcomeKind::NotModified)
    }

    /// URLs of an outcome and a reason.
    pub fn reason(&self, kind: OutcomeKind, reason: &str) -> u64 {
        self.reasons.get(&(kind.name().to_owned(), reason.to_owned())).copied().unwrap_or(0)
    }

    /// Takes in the next line.
    pub fn add(&mut self, line: &PageLine) {
        *self.outcomes.entry(line.outcome.clone()).or_default() += 1;
        self.predictions.add(line);
        if let Some(reason) = &line.reason {
            *self.reasons.entry((line.outcome.clone(), reason.clone())).or_default() += 1;
        }
        let is = |kind: OutcomeKind| line.outcome == kind.name();
        let is_unique = line.is_kept();
        self.growth.add(
            line.requests,
            is_unique || (line.duplicate_of.is_some() && !is(OutcomeKind::PredictedDuplicate)),
            is_unique,
        );
        let host = host(&line.url);
        let site = self.sites.entry(host.clone()).or_default();
        if let Some(at) = line.fetched_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok()) {
            site.fetched_at.push(at.as_millisecond());
        }
        let reason = || line.reason.clone().unwrap_or_default();
        match () {
            () if is_unique => site.stored += 1,
            () if is(OutcomeKind::NearDuplicate) => site.near += 1,
            () if is(OutcomeKind::ExactDuplicate) => site.exact += 1,
            () if is(OutcomeKind::PredictedDuplicate) => site.predicted += 1,
            () if is(OutcomeKind::Failed) => *site.failures.entry(reason()).or_default() += 1,
            () if is(OutcomeKind::Excluded) => *site.excluded.entry(reason()).or_default() += 1,
            () if line.reason.as_deref() == Some("duplicate-link") => site.skipped += 1,
            () => {}
        }
        if let (Some(rule), Some(context), Some(validity)) = (&line.rule, &line.rule_context, line.validity) {
            let key = (rule.clone(), context.clone(), (validity * f64::from(Threshold::ONE)).round() as u64);
            *self.foretold.entry(key).or_default() += 1;
        }
        if let Some(of) = line.duplicate_of.as_ref().filter(|_| !is(OutcomeKind::PredictedDuplicate)) {
            self.add_copy(line, host, of);
        }
    }

    fn add_copy(&mut self, line: &PageLine, host: String, of: &str) {
        *self.between.entry((host, self::host(of))).or_default() += 1;
        self.causes.add(&line.url, of, line.title.as_deref());
        // What an earlier crawl has stored cannot be shown beside its copies.
        if line.duplicate_in.is_none() {
            let size = self.clusters.entry(of.to_owned()).or_default();
            if line.outcome == OutcomeKind::NearDuplicate.name() {
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

/// Scores are cut to millionths; the bars are as wide as a fiftieth.
fn bin(score: f64) -> usize {
    let millionths = (score * f64::from(Threshold::ONE)).round().clamp(0.0, f64::from(Threshold::ONE)) as usize;
    millionths / (Threshold::ONE as usize / BINS)
}

/// The host's name, without port.
pub fn host(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_else(|| "(no host)".to_owned())
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
        let site = Site { fetched_at: vec![1000, 0, 3000, 1500], ..Site::default() };
        assert_eq!(site.gaps(), Some((500, 1000)));
        assert_eq!(Site::default().gaps(), None);
    }
}
