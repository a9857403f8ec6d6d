//! What the duplicates of a page say about it: how many there are, on how many hosts, and since when.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use ndcrawl_model::{Digest, OutcomeKind, PageLine};
use ndcrawl_store::PageLines;

use super::cluster_name::cluster_of;
use super::error::Result;

/// The clusters that have duplicates.
///
/// Memory: some 100 bytes a cluster, and 4 bytes for each host of its duplicates.
#[derive(Debug, Default)]
pub(super) struct ClusterFacts {
    clusters: HashMap<Digest, Cluster>,
    hosts: HashMap<String, u32>,
}

#[derive(Debug, Default)]
struct Cluster {
    copies: u64,
    hosts: BTreeSet<u32>,
    /// Times of one form compare as texts.
    first_seen: Option<String>,
}

impl Cluster {
    fn see(&mut self, at: Option<&String>) {
        self.first_seen = self.first_seen.take().into_iter().chain(at.cloned()).min();
    }
}

impl ClusterFacts {
    /// Reads all lines, selected or not: twice, if there are duplicates.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut facts = Self::default();
        for line in PageLines::open(folder)? {
            facts.add_duplicate(&line?);
        }
        if !facts.clusters.is_empty() {
            for line in PageLines::open(folder)? {
                facts.add_kept(&line?);
            }
        }
        Ok(facts)
    }

    fn add_duplicate(&mut self, line: &PageLine) {
        // A predicted duplicate was not seen.
        if !matches!(line.outcome, OutcomeKind::NearDuplicate | OutcomeKind::ExactDuplicate) {
            return;
        }
        let Some(cluster) = cluster_of(line) else { return };
        let next = self.hosts.len() as u32;
        let host = *self.hosts.entry(line.site()).or_insert(next);
        let cluster = self.clusters.entry(cluster).or_default();
        cluster.copies += 1;
        cluster.hosts.insert(host);
        cluster.see(line.fetched_at.as_ref());
    }

    fn add_kept(&mut self, line: &PageLine) {
        let cluster = cluster_of(line).filter(|_| line.is_kept());
        if let Some(cluster) = cluster.and_then(|cluster| self.clusters.get_mut(&cluster)) {
            cluster.see(line.fetched_at.as_ref());
        }
    }

    fn of(&self, line: &PageLine) -> Option<&Cluster> {
        self.clusters.get(&cluster_of(line)?)
    }

    /// Returns how many duplicates the cluster of a page has, and on how many hosts; `None` if it is in no cluster.
    pub fn copies(&self, line: &PageLine) -> Option<(u64, u64)> {
        cluster_of(line)?;
        Some(self.of(line).map_or((0, 0), |cluster| (cluster.copies, cluster.hosts.len() as u64)))
    }

    /// Returns when a page of the cluster was fetched first.
    pub fn first_seen(&self, line: &PageLine) -> Option<String> {
        cluster_of(line)?;
        self.of(line).map_or(&line.fetched_at, |cluster| &cluster.first_seen).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str, outcome: OutcomeKind, of: Option<&str>, day: u32) -> PageLine {
        PageLine {
            url: url.to_owned(),
            outcome,
            duplicate_of: of.map(str::to_owned),
            fetched_at: (day > 0).then(|| format!("2026-01-{day:02}T00:00:00.000Z")),
            ..PageLine::default()
        }
    }

    #[test]
    fn a_cluster_tells_how_often_where_and_since_when_it_was_seen() {
        let kept = line("http://a.test/", OutcomeKind::Stored, None, 3);
        let alone = line("http://a.test/alone", OutcomeKind::Stored, None, 9);
        let of = Some("http://a.test/");
        let exact = line("http://b.test/", OutcomeKind::ExactDuplicate, of, 5);
        let lines = [
            kept.clone(),
            exact.clone(),
            line("http://b.test/2", OutcomeKind::NearDuplicate, of, 2),
            line("http://a.test/2", OutcomeKind::NearDuplicate, of, 0),
            line("http://c.test/", OutcomeKind::PredictedDuplicate, of, 1),
            alone.clone(),
            line("http://d.test/", OutcomeKind::NearDuplicate, Some("http://d.test/other"), 7),
        ];
        let folder = tempfile::tempdir().unwrap();
        let text: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
        std::fs::write(folder.path().join("pages.jsonl"), text).unwrap();
        let facts = ClusterFacts::read(folder.path()).unwrap();
        let told = |line: &PageLine| (facts.copies(line), facts.first_seen(line).map(|at| at[..10].to_owned()));
        for of_cluster in [&kept, &exact] {
            assert_eq!(told(of_cluster), (Some((3, 2)), Some("2026-01-02".to_owned())));
        }
        assert_eq!(told(&alone), (Some((0, 0)), Some("2026-01-09".to_owned())));
        assert_eq!(told(&line("http://a.test/x", OutcomeKind::Failed, None, 4)), (None, None));
    }
}
