//! What a detector keeps of labelled clusters.
//!
//! Pages are decided one by one in the order of the file. Of a clear cluster, one with no page that
//! might as well belong elsewhere, exactly one page should be stored. Thin pages are left out
//! altogether, and clusters with a grey neighbour are counted apart: keeping or dropping such a page
//! can both be right.

use super::labels::ClusterLabels;
use super::pages::Pages;
use super::stream::{DecisionCost, Stream};
use crate::detect::{DetectError, Options};
use crate::model::{DecidedBy, Score, Threshold, Verdict};

/// The figures of one detector at one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterFigures {
    /// The detector's name.
    pub detector: String,
    /// From which similarity on a page was left out.
    pub threshold: Threshold,
    /// Labelled pages, without thin ones.
    pub paths: usize,
    /// Of them, those that were there.
    pub decided: usize,
    /// Clear clusters.
    pub clusters: usize,
    /// Clear clusters with at least one stored page.
    pub kept: usize,
    /// Clear clusters that had pages, none of which is stored.
    pub missed: usize,
    /// Clear clusters of which no page was there.
    pub unseen: usize,
    /// Stored pages of clear clusters.
    pub stored: usize,
    /// Of these, those beyond one a cluster.
    pub extra: usize,
    /// Stored pages of clusters with a grey neighbour.
    pub grey_stored: usize,
    /// Every page of a missed cluster: what it was said to repeat.
    pub missed_pages: Vec<Missed>,
    /// Every stored page beyond the first of its cluster.
    pub extra_pages: Vec<Extra>,
    /// What deciding cost.
    pub cost: DecisionCost,
}

/// What a page is said to repeat. Pages are named by their places among [`ClusterLabels::members`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The stored page.
    pub of: usize,
    /// How similar the two are said to be.
    pub score: Score,
    /// By which evidence.
    pub decided_by: DecidedBy,
}

/// A page that was left out, though nothing of its cluster was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The page.
    pub member: usize,
    /// What it is said to repeat, if that is known.
    pub repeats: Option<Repeated>,
}

/// A page that was stored, though one of its cluster was stored before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extra {
    /// The page.
    pub member: usize,
    /// The first stored page of its cluster.
    pub first: usize,
}

impl ClusterFigures {
    /// Lets a detector decide the pages.
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
        let stream = Stream::decide(stream, options, advance)?;
        let outcome = |member: usize| outcome(member, &stream);
        let figures = Self::count(labels, options.detector.name(), options.threshold, &outcome);
        Ok(Self { cost: stream.cost, ..figures })
    }

    /// Counts what became of each member.
    pub fn count(
        labels: &ClusterLabels,
        detector: &str,
        threshold: Threshold,
        outcome: &dyn Fn(usize) -> Outcome,
    ) -> Self {
        let mut clusters = vec![Cluster::default(); labels.names.len()];
        let mut extra_pages = Vec::new();
        for (place, member) in labels.members.iter().enumerate() {
            let (cluster, outcome) = (&mut clusters[member.cluster], outcome(place));
            cluster.is_grey |= member.grey > 0;
            cluster.seen += usize::from(outcome != Outcome::Absent);
            if outcome == Outcome::Stored {
                match cluster.first {
                    Some(first) => extra_pages.push(Extra { member: place, first }),
                    None => cluster.first = Some(place),
                }
                cluster.stored += 1;
            }
        }
        let of = |place: usize| &clusters[labels.members[place].cluster];
        extra_pages.retain(|extra| !of(extra.member).is_grey);
        let missed = |member: usize| match outcome(member) {
            Outcome::Dropped(repeats) if of(member).is_missed() => Some(Missed { member, repeats }),
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

    /// Extra pages as a share of the stored pages of clear clusters.
    pub fn extra_rate(&self) -> f64 {
        self.extra as f64 / self.stored.max(1) as f64
    }
}

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is not there.
    Absent,
    /// It is stored.
    Stored,
    /// It is left out as a copy of a stored page, which may be known.
    Dropped(Option<Repeated>),
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

fn outcome(member: usize, stream: &Stream) -> Outcome {
    let (of, score, decided_by) = match stream.verdicts[member] {
        None => return Outcome::Absent,
        Some(Verdict::Unique) => return Outcome::Stored,
        Some(Verdict::NearDuplicate { of, score, decided_by, .. }) => (of, score, decided_by),
        Some(Verdict::ExactDuplicate { of, decided_by }) => (of, Score(Threshold::ONE), decided_by),
    };
    Outcome::Dropped(stream.place_of(of).map(|of| Repeated { of, score, decided_by }))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::eval::Member;

    /// Clusters 0 and 1 are clear and have two pages each, 2 is grey, 3 and 4 have one page each.
    fn labels() -> ClusterLabels {
        let member = |(page, (cluster, grey))| Member { page, cluster, grey };
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
        use Outcome::{Absent, Dropped, Stored};
        let repeats = Some(Repeated { of: 0, score: Score(900_000), decided_by: DecidedBy::Similarity });
        let outcomes = [Stored, Dropped(repeats), Stored, Stored, Stored, Dropped(None), Absent, Absent];
        let threshold = Threshold::from_millionths(800_000).unwrap();
        let figures = ClusterFigures::count(&labels(), "test", threshold, &|place| outcomes[place]);
        assert_eq!((figures.paths, figures.decided, figures.clusters), (8, 6, 4));
        // Cluster 0 is kept, with one page too many; 1 and 3 are missed, 4 is not there.
        assert_eq!((figures.kept, figures.missed, figures.unseen), (1, 2, 1));
        assert_eq!((figures.stored, figures.extra, figures.extra_rate()), (2, 1, 0.5));
        assert_eq!(figures.grey_stored, 2);
        assert_eq!(figures.extra_pages, [Extra { member: 2, first: 0 }]);
        let missed = [Missed { member: 1, repeats }, Missed { member: 5, repeats: None }];
        assert_eq!(figures.missed_pages, missed);
    }
}
