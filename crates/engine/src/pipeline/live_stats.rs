//! Counters of a run that other threads may read while it runs.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use ndcrawl_model::{OutcomeKind, Reason, Totals};
use neardup::detect::DeciderStats;

/// URLs that are remembered, and as many that failed.
const RECENT: usize = 20;

/// A URL that has got its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentUrl {
    /// The URL.
    pub url: String,
    /// Its outcome.
    pub outcome: OutcomeKind,
    /// The reason, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What went wrong, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The page that it repeats, if it is a duplicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
}

/// Counters that the decision stage publishes after each round.
#[derive(Debug, Default)]
pub struct LiveStats {
    state: Mutex<PublishedStats>,
}

#[derive(Debug, Default)]
struct PublishedStats {
    totals: Totals,
    index: DeciderStats,
    failed_seeds: Vec<(String, String)>,
    seed_notes: Vec<(String, String)>,
    /// The newest last.
    recent: VecDeque<RecentUrl>,
    /// Those that failed, the newest last.
    failures: VecDeque<RecentUrl>,
    /// Pages that were compared with the topic, and those of them that have a word of it.
    focused: u64,
    on_topic: u64,
}

impl LiveStats {
    /// Replaces what was known of the crawl's outcomes and of its index.
    pub fn publish(&self, totals: Totals, index: DeciderStats) {
        let mut state = self.lock();
        state.totals = totals;
        state.index = index;
    }

    /// PageRecords a seed that could not be fetched, with the reason.
    pub fn add_failed_seed(&self, url: String, why: String) {
        self.lock().failed_seeds.push((url, why));
    }

    /// Records what is special about the page of a seed.
    pub fn add_seed_note(&self, url: String, note: String) {
        self.lock().seed_notes.push((url, note));
    }

    /// Returns what is special about pages of seeds, each with its URL.
    pub fn seed_notes(&self) -> Vec<(String, String)> {
        self.lock().seed_notes.clone()
    }

    /// Counts a page that was compared with the topic of the crawl.
    pub fn add_focused(&self, is_on_topic: bool) {
        let mut state = self.lock();
        state.focused += 1;
        state.on_topic += u64::from(is_on_topic);
    }

    /// Whether pages were compared with the topic, and none has a word of it.
    pub fn is_topic_absent(&self) -> bool {
        let state = self.lock();
        state.focused > 0 && state.on_topic == 0
    }

    /// Remembers a URL that has got its outcome.
    pub fn add_recent(&self, url: RecentUrl) {
        let mut state = self.lock();
        if url.detail.is_some() {
            push(&mut state.failures, url.clone());
        }
        push(&mut state.recent, url);
    }

    /// Returns the URLs that got their outcomes last, the newest first.
    pub fn recent(&self) -> Vec<RecentUrl> {
        self.lock().recent.iter().rev().cloned().collect()
    }

    /// Returns the URLs that failed last, the newest first.
    pub fn failures(&self) -> Vec<RecentUrl> {
        self.lock().failures.iter().rev().cloned().collect()
    }

    /// Returns the URL that got its outcome last.
    pub fn latest(&self) -> Option<String> {
        self.lock().recent.back().map(|recent| recent.url.clone())
    }

    /// Returns the outcomes when it was last published.
    pub fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    /// Returns what the index held when it was last published.
    pub fn index(&self) -> DeciderStats {
        self.lock().index
    }

    /// Returns the seeds that could not be fetched, each with the reason.
    pub fn failed_seeds(&self) -> Vec<(String, String)> {
        self.lock().failed_seeds.clone()
    }

    fn lock(&self) -> MutexGuard<'_, PublishedStats> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push(urls: &mut VecDeque<RecentUrl>, url: RecentUrl) {
    if urls.len() == RECENT {
        urls.pop_front();
    }
    urls.push_back(url);
}
