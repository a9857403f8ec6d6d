//! Measures a detector on labeled clusters: which pages does it keep?
//!
//! The detector decides pages one by one, in the order of the file. It should store exactly one page of each clear
//! cluster. A cluster is clear if no page outside might belong to it. Clusters with such a grey neighbor are counted
//! separately: storing or dropping their pages can both be right. Thin pages are left out.

use super::labels::ClusterLabels;
use super::pages::Pages;
use super::stream::{DecisionCost, DecisionStream};
use ndcrawl_model::{DecidedBy, Score, Threshold, Verdict};
use neardup::detect::{DetectError, Options};

/// The figures of one detector at one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterFigures {
    /// The detector's name.
    pub detector: String,
    /// The threshold: pages at least this similar are dropped.
    pub threshold: Threshold,
    /// Labeled pages, without thin pages.
    pub paths: usize,
    /// Pages decided; the others are missing.
    pub decided: usize,
    /// Number of clear clusters.
    pub clusters: usize,
    /// Clear clusters with at least one stored page.
    pub kept: usize,
    /// Clear clusters with pages but no stored page.
    pub missed: usize,
    /// Clear clusters whose pages are all missing.
    pub unseen: usize,
    /// Stored pages of clear clusters.
    pub stored: usize,
    /// Stored pages beyond the first of each clear cluster.
    pub extra: usize,
    /// Stored pages of clusters with a grey neighbor.
    pub grey_stored: usize,
    /// Every page of a missed cluster, with its verdict.
    pub missed_pages: Vec<MissedPage>,
    /// Every stored page beyond the first of its cluster.
    pub extra_pages: Vec<ExtraPage>,
    /// Cost of deciding.
    pub cost: DecisionCost,
}

/// The stored page that a verdict names. Pages are indices into [`ClusterLabels::members`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedPage {
    /// The stored page.
    pub of: usize,
    /// The similarity.
    pub score: Score,
    /// The evidence that decided.
    pub decided_by: DecidedBy,
}

/// A dropped page of a cluster without any stored page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedPage {
    /// The page.
    pub member: usize,
    /// The stored page that the verdict names, if known.
    pub repeats: Option<RepeatedPage>,
}

/// A stored page whose cluster had a stored page before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraPage {
    /// The page.
    pub member: usize,
    /// The first stored page of its cluster.
    pub first: usize,
}

impl ClusterFigures {
    /// Runs a detector over the pages and counts.
    ///
    /// # Errors
    /// If the decider fails.
    pub fn decide(
        labels: &ClusterLabels,
        pages: &Pages,
        options: &Options,
        advance: &dyn Fn(),
    ) -> Result<Self, DetectError> {
        let stream = labels.members.iter().map(|member| pages.pages[member.page].as_ref());
        let stream = DecisionStream::decide(stream, options, advance)?;
        let outcome = |member: usize| outcome(member, &stream);
        let figures = Self::count(labels, options.detector.name(), options.threshold, &outcome);
        Ok(Self { cost: stream.cost, ..figures })
    }

    /// Counts the outcomes of all members.
    pub fn count(
        labels: &ClusterLabels,
        detector: &str,
        threshold: Threshold,
        outcome: &dyn Fn(usize) -> MemberOutcome,
    ) -> Self {
        let mut clusters = vec![Cluster::default(); labels.names.len()];
        let mut extra_pages = Vec::new();
        for (place, member) in labels.members.iter().enumerate() {
            let (cluster, outcome) = (&mut clusters[member.cluster], outcome(place));
            cluster.is_grey |= member.grey > 0;
            cluster.seen += usize::from(outcome != MemberOutcome::Absent);
            if outcome == MemberOutcome::Stored {
                match cluster.first {
                    Some(first) => extra_pages.push(ExtraPage { member: place, first }),
                    None => cluster.first = Some(place),
                }
                cluster.stored += 1;
            }
        }
        let of = |place: usize| &clusters[labels.members[place].cluster];
        extra_pages.retain(|extra| !of(extra.member).is_grey);
        let missed = |member: usize| match outcome(member) {
            MemberOutcome::Dropped(repeats) if of(member).is_missed() => Some(MissedPage { member, repeats }),
            _ => None,
        };
        let missed_pages = (0..labels.members.len()).filter_map(missed).collect();
        let clear = || clusters.iter().filter(|cluster| !cluster.is_grey);
        let stored: usize = clear().map(|cluster| cluster.stored).sum();
        let kept = clear().filter(|cluster| cluster.stored > 0).count();
        Self {
            detector: detector.to_owned(),
            threshold,
            paths: labels.members.len(),
            decided: clusters.iter().map(|cluster| cluster.seen).sum(),
            clusters: clear().count(),
            kept,
            missed: clear().filter(|cluster| cluster.is_missed()).count(),
            unseen: clear().filter(|cluster| cluster.seen == 0).count(),
            stored,
            extra: stored - kept,
            grey_stored: clusters.iter().filter(|cluster| cluster.is_grey).map(|cluster| cluster.stored).sum(),
            missed_pages,
            extra_pages,
            cost: DecisionCost::default(),
        }
    }

    /// Returns extra pages as a share of the stored pages of clear clusters.
    pub fn extra_rate(&self) -> f64 {
        self.extra as f64 / self.stored.max(1) as f64
    }
}

/// The outcome of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberOutcome {
    /// The page is missing.
    Absent,
    /// The page is stored.
    Stored,
    /// The page is dropped as a duplicate, of the given page if known.
    Dropped(Option<RepeatedPage>),
}

#[derive(Clone, Debug, Default)]
struct Cluster {
    is_grey: bool,
    seen: usize,
    stored: usize,
    first: Option<usize>,
}

impl Cluster {
    fn is_missed(&self) -> bool {
        !self.is_grey && self.seen > 0 && self.stored == 0
    }
}

fn outcome(member: usize, stream: &DecisionStream) -> MemberOutcome {
    let (of, score, decided_by) = match stream.verdicts[member] {
        None => return MemberOutcome::Absent,
        Some(Verdict::Unique) => return MemberOutcome::Stored,
        Some(Verdict::NearDuplicate { of, score, decided_by, .. }) => (of, score, decided_by),
        Some(Verdict::ExactDuplicate { of, decided_by }) => (of, Score(Threshold::ONE), decided_by),
    };
    MemberOutcome::Dropped(stream.place_of(of).map(|of| RepeatedPage { of, score, decided_by }))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::LabeledMember;

    /// Clusters 0 and 1 are clear and have two pages each, 2 is grey, 3 and 4 have one page each.
    fn labels() -> ClusterLabels {
        let member = |(page, (cluster, grey))| LabeledMember { page, cluster, grey };
        let members = [(0, 0), (1, 0), (0, 0), (2, 0), (2, 1), (3, 0), (1, 0), (4, 0)];
        ClusterLabels {
            file: PathBuf::new(),
            pages: Vec::new(),
            members: members.into_iter().enumerate().map(member).collect(),
            names: (0..5).map(|name| name.to_string()).collect(),
            thin: 0,
        }
    }

    #[test]
    fn figures_are_those_worked_by_hand() {
        use MemberOutcome::{Absent, Dropped, Stored};
        let repeats = Some(RepeatedPage { of: 0, score: Score(900_000), decided_by: DecidedBy::Similarity });
        let outcomes = [Stored, Dropped(repeats), Stored, Stored, Stored, Dropped(None), Absent, Absent];
        let threshold = Threshold::from_millionths(800_000).unwrap();
        let figures = ClusterFigures::count(&labels(), "test", threshold, &|place| outcomes[place]);
        assert_eq!((figures.paths, figures.decided, figures.clusters), (8, 6, 4));
        // Cluster 0 is kept, with one page too many; 1 and 3 are missed, 4 is not there.
        assert_eq!((figures.kept, figures.missed, figures.unseen), (1, 2, 1));
        assert_eq!((figures.stored, figures.extra, figures.extra_rate()), (2, 1, 0.5));
        assert_eq!(figures.grey_stored, 2);
        assert_eq!(figures.extra_pages, [ExtraPage { member: 2, first: 0 }]);
        let missed = [MissedPage { member: 1, repeats }, MissedPage { member: 5, repeats: None }];
        assert_eq!(figures.missed_pages, missed);
    }
}
