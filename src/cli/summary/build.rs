//! Builds the summary from the end of a crawl.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cli::config::settings::Settings;
use crate::cli::counts::OutcomeCounts;
use crate::cli::summary::{FailedSeed, FailingSite, SiteSummary, SlowSite, Summary};
use crate::crawl::CrawlEnding;
use crate::model::{FailureClass, HostRow, OutcomeKind};
use crate::pipeline::StopReason;

/// Rows in the lists of slow and failing sites.
const MOST_NAMED: usize = 5;

/// The counters of one host name, over all its origins.
#[derive(Default)]
struct HostCounters {
    outcomes: BTreeMap<OutcomeKind, u64>,
    failures: BTreeMap<FailureClass, u64>,
    answered: u64,
    response_micros: u64,
}

impl HostCounters {
    fn add(&mut self, row: &HostRow) {
        for (kind, count) in &row.outcomes {
            *self.outcomes.entry(*kind).or_default() += count;
        }
        for (class, count) in &row.failures {
            *self.failures.entry(*class).or_default() += count;
        }
        self.answered += row.requests.saturating_sub(row.unanswered);
        self.response_micros += row.response_micros;
    }

    fn mean_response(&self) -> Duration {
        Duration::from_micros(self.response_micros.checked_div(self.answered).unwrap_or(0))
    }
}

/// Returns the word for why the crawl stopped early.
pub(crate) fn stopped(settings: &Settings, ending: &CrawlEnding) -> Option<&'static str> {
    match ending.reason {
        StopReason::Finished if ending.budget_used_up => Some(match settings.scope.max_pages {
            Some(most) if most > 0 && ending.frontier.pages >= most => "max-pages",
            _ => "max-pages-per-host",
        }),
        StopReason::Finished => None,
        StopReason::Time => Some("time"),
        StopReason::Signal => Some("signal"),
        StopReason::DiskFull => Some("disk"),
        StopReason::Failed => Some("failed"),
    }
}

/// Builds the summary of a crawl.
pub(crate) fn summary(settings: &Settings, ending: &CrawlEnding, hint: Option<String>) -> Summary {
    let mut sites: BTreeMap<String, HostCounters> = BTreeMap::new();
    for row in &ending.hosts {
        sites.entry(host(&row.origin)).or_default().add(row);
    }
    let outcome = |kind| ending.totals.outcomes.get(&kind).copied().unwrap_or(0);
    Summary {
        stopped: stopped(settings, ending).map(str::to_owned),
        elapsed: Duration::from_millis(ending.totals.millis),
        requests: ending.totals.requests,
        probes: ending.totals.probes,
        bytes: ending.totals.bytes,
        seen: ending.frontier.seen,
        stored: outcome(OutcomeKind::Stored),
        not_modified: outcome(OutcomeKind::NotModified),
        near_duplicates: outcome(OutcomeKind::NearDuplicate),
        exact_duplicates: outcome(OutcomeKind::ExactDuplicate),
        revised: ending.totals.revised,
        redirected: outcome(OutcomeKind::Redirected),
        excluded: outcome(OutcomeKind::Excluded) + ending.frontier.excluded,
        soft_404s: ending.totals.soft_404s,
        documents: ending.totals.documents,
        text_errors: ending.totals.text_errors.clone(),
        failed: outcome(OutcomeKind::Failed),
        deferred: ending.deferred.values().sum(),
        links_skipped: ending.saved.values().sum(),
        repeating: ending.repeating,
        predicted: ending.predicted.values().sum(),
        slowest: slowest(&sites),
        failing: failing(&sites),
        sites: site_rows(&sites, &ending.saved, &ending.predicted),
        seeds_failed: ending
            .failed_seeds
            .iter()
            .map(|(seed, why)| FailedSeed { seed: seed.clone(), why: why.clone() })
            .collect(),
        out: settings.out.dir.display().to_string(),
        hint,
        ..Summary::default()
    }
}

/// Sorts sites by pages, descending.
fn site_rows(
    sites: &BTreeMap<String, HostCounters>,
    saved: &BTreeMap<String, u64>,
    predicted: &BTreeMap<String, u64>,
) -> Vec<SiteSummary> {
    let mut rows: Vec<SiteSummary> = sites
        .iter()
        .map(|(host, site)| {
            let counts = OutcomeCounts::from(&site.outcomes);
            SiteSummary {
                host: host.clone(),
                fetched: counts.compared(),
                stored: counts.stored,
                near_duplicates: counts.near_duplicates,
                exact_duplicates: counts.exact_duplicates,
                duplicate_rate: counts.duplicate_rate(),
                links_skipped: saved.get(host).copied().unwrap_or(0),
                predicted: predicted.get(host).copied().unwrap_or(0),
                failed: counts.failed,
                mean_response: site.mean_response(),
            }
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.fetched));
    rows
}

fn slowest(sites: &BTreeMap<String, HostCounters>) -> Vec<SlowSite> {
    let mut rows: Vec<SlowSite> = sites
        .iter()
        .filter(|(_, site)| site.answered > 0)
        .map(|(host, site)| SlowSite { host: host.clone(), mean_response: site.mean_response() })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.mean_response));
    rows.truncate(MOST_NAMED);
    rows
}

fn failing(sites: &BTreeMap<String, HostCounters>) -> Vec<FailingSite> {
    let mut rows: Vec<FailingSite> = sites
        .iter()
        .filter_map(|(host, site)| {
            let (class, _) = site.failures.iter().max_by_key(|(_, count)| **count)?;
            let failed = OutcomeCounts::from(&site.outcomes).failed;
            Some(FailingSite { host: host.clone(), failed, class: class.name().to_owned() })
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.failed));
    rows.truncate(MOST_NAMED);
    rows
}

/// Returns the host of `scheme://host:port`.
fn host(origin: &str) -> String {
    let rest = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    rest.rsplit_once(':').map_or(rest, |(host, _)| host).to_owned()
}
