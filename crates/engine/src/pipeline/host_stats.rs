//! Counters of requests and outcomes, in total and by origin.

use std::collections::{BTreeMap, HashMap, HashSet};

use ndcrawl_fetch::Traffic;
use ndcrawl_model::{Exclusion, HostRow, Outcome, OutcomeKind, PageLine, RobotsRow, Totals};

/// Requests to one origin, to be counted.
#[derive(Clone, Debug)]
pub struct RequestCounts {
    /// The origin.
    pub origin: String,
    /// Requests and bytes.
    pub traffic: Traffic,
    /// Soft-404 probes among these requests.
    pub probes: u64,
}

/// Longest robots.txt that is kept from run to run, in bytes.
const LONGEST_ROBOTS: usize = 32 * 1024;

/// Counters in total and by origin. A commit carries only the origins that changed since the last one.
#[derive(Debug, Default)]
pub struct HostStats {
    totals: Totals,
    hosts: HashMap<String, HostRow>,
    changed: HashSet<String>,
}

impl HostStats {
    /// Restores the counters of the last commit.
    pub fn restore(totals: Totals, hosts: impl IntoIterator<Item = HostRow>) -> Self {
        Self {
            totals,
            hosts: hosts.into_iter().map(|row| (row.origin.clone(), row)).collect(),
            changed: HashSet::new(),
        }
    }

    /// Adds requests.
    pub fn add_requests(&mut self, RequestCounts { origin, traffic, probes }: &RequestCounts) {
        self.totals.requests += traffic.requests;
        self.totals.probes += probes;
        self.totals.bytes += traffic.bytes;
        let host = self.host(origin);
        host.requests += traffic.requests;
        host.unanswered += traffic.unanswered;
        host.bytes += traffic.bytes;
        host.response_micros += traffic.response_micros;
    }

    /// Keeps a robots.txt for the next run, unless it is long: it would stay in memory.
    pub fn set_robots(&mut self, origin: &str, row: RobotsRow) {
        self.host(origin).robots = Some(row).filter(|row| row.body.len() <= LONGEST_ROBOTS);
    }

    /// Counts the outcome of a URL.
    pub fn add_outcome(&mut self, origin: &str, outcome: &Outcome) {
        let kind = outcome.kind();
        *self.totals.outcomes.entry(kind).or_default() += 1;
        self.totals.soft_404s += u64::from(*outcome == Outcome::Excluded(Exclusion::Soft404));
        let host = self.host(origin);
        *host.outcomes.entry(kind).or_default() += 1;
        if let Outcome::Failed { class, .. } = outcome {
            *host.failures.entry(*class).or_default() += 1;
        }
    }

    /// Counts what came of a document, once.
    pub fn add_document(&mut self, line: &PageLine) {
        if line.revised.is_some() {
            return;
        }
        self.totals.documents += u64::from(line.text_from.is_some());
        if let Some(error) = line.text_error {
            *self.totals.text_errors.entry(error.name().to_owned()).or_default() += 1;
        }
    }

    /// Takes back the outcome of a URL that is about to get another one.
    pub fn take_back(&mut self, origin: &str, earlier: OutcomeKind) {
        self.totals.revised += 1;
        let decrement = |outcomes: &mut BTreeMap<OutcomeKind, u64>| {
            if let Some(count) = outcomes.get_mut(&earlier) {
                *count = count.saturating_sub(1);
            }
        };
        decrement(&mut self.totals.outcomes);
        decrement(&mut self.host(origin).outcomes);
    }

    /// Counts links of a page that the crawl ignores: invalid ones, and those over the limit.
    pub fn add_dropped_links(&mut self, dropped: u32, over_limit: u32) {
        self.totals.links_dropped += u64::from(dropped);
        self.totals.links_over_limit += u64::from(over_limit);
    }

    /// Sets the duration of all runs, in milliseconds.
    pub fn set_millis(&mut self, millis: u64) {
        self.totals.millis = millis;
    }

    /// Returns the totals.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the counters by origin.
    pub fn hosts(&self) -> impl Iterator<Item = &HostRow> {
        self.hosts.values()
    }

    /// Returns the totals and the counters by origin.
    pub fn into_parts(self) -> (Totals, Vec<HostRow>) {
        (self.totals, self.hosts.into_values().collect())
    }

    /// Returns the rows of origins that changed since the last call.
    pub fn take_changed(&mut self) -> Vec<HostRow> {
        let changed = std::mem::take(&mut self.changed);
        changed.iter().filter_map(|origin| self.hosts.get(origin).cloned()).collect()
    }

    fn host(&mut self, origin: &str) -> &mut HostRow {
        if !self.changed.contains(origin) {
            self.changed.insert(origin.to_owned());
        }
        self.hosts
            .entry(origin.to_owned())
            .or_insert_with(|| HostRow { origin: origin.to_owned(), ..HostRow::default() })
    }
}
