//! What the pages of a cluster together say of a use: a copy of the text that disallows it counts, too.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use ndcrawl_model::{Digest, PageLine, Permission, Usage, permission};
use ndcrawl_store::PageLines;

use super::cluster_name::cluster_of;
use super::error::Result;

/// The clusters of which a page disallows one of some uses. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisallowingClusters(BTreeMap<Usage, HashSet<Digest>>);

impl DisallowingClusters {
    /// Reads what all pages of the crawl in this folder say of these uses, selected or not. Memory: some 30 bytes a
    /// cluster.
    ///
    /// # Errors
    /// If the lines cannot be read.
    pub fn read(folder: &Path, uses: impl IntoIterator<Item = Usage>) -> Result<Self> {
        let mut clusters: BTreeMap<Usage, HashSet<Digest>> =
            uses.into_iter().map(|usage| (usage, HashSet::new())).collect();
        for line in PageLines::open(folder)? {
            let line = line?;
            let Some(cluster) = cluster_of(&line).filter(|_| !line.preferences.is_empty()) else { continue };
            for (usage, disallowing) in &mut clusters {
                if permission(&line.preferences, *usage) == Permission::Disallowed {
                    disallowing.insert(cluster);
                }
            }
        }
        Ok(Self(clusters))
    }

    /// Returns what a page and the other pages of its cluster say of a use: what one of them disallows is disallowed.
    pub(super) fn permission(&self, line: &PageLine, usage: Usage) -> Permission {
        let is_disallowed = |clusters: &HashSet<Digest>| cluster_of(line).is_some_and(|of| clusters.contains(&of));
        match self.0.get(&usage).is_some_and(is_disallowed) {
            true => Permission::Disallowed,
            false => permission(&line.preferences, usage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndcrawl_model::{OutcomeKind, PreferencePlace};

    fn line(url: &str, outcome: OutcomeKind, of: Option<&str>, usage: &str) -> PageLine {
        let preferences = match usage {
            "" => Vec::new(),
            usage => vec![pagetext::preferences::content_usage(usage, PreferencePlace::Header)],
        };
        let duplicate_of = of.map(str::to_owned);
        PageLine { url: url.to_owned(), outcome, duplicate_of, preferences, ..PageLine::default() }
    }

    #[test]
    fn what_any_page_of_a_cluster_disallows_is_disallowed() {
        use OutcomeKind::{ExactDuplicate, NearDuplicate, PredictedDuplicate, Stored};
        let (a, b) = (Some("http://a.test/"), Some("http://b.test/"));
        let lines = [
            line("http://a.test/", Stored, None, "train-ai=y, search=y"),
            line("http://a.test/1", NearDuplicate, a, "search=n"),
            line("http://a.test/2", ExactDuplicate, a, "train-ai=n"),
            line("http://b.test/", Stored, None, "train-ai=y"),
            line("http://b.test/1", NearDuplicate, b, "train-ai=?"),
            line("http://b.test/2", PredictedDuplicate, b, ""),
            line("http://c.test/", Stored, None, ""),
        ];
        let folder = tempfile::tempdir().unwrap();
        let text: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
        std::fs::write(folder.path().join("pages.jsonl"), text).unwrap();
        let told = |clusters: &DisallowingClusters| {
            lines.each_ref().map(|line| clusters.permission(line, Usage::TrainAi).name())
        };
        let asked = DisallowingClusters::read(folder.path(), [Usage::TrainAi]).unwrap();
        assert_eq!(told(&asked), ["n", "n", "n", "y", "unclear", "unknown", "unknown"]);
        assert_eq!(asked.permission(&lines[0], Usage::Search).name(), "y", "nobody has asked for it");
        let alone = DisallowingClusters::default();
        assert_eq!(told(&alone), ["y", "unknown", "n", "y", "unclear", "unknown", "unknown"]);
    }
}
