//! *Which pages duplicate which, and which one should be kept?* Reads the clusters from `pages.jsonl`.
//!
//! The *representative* is the stored page that the verdicts name; it was decided first. The *elected* page has the
//! best provenance ([`elect`]) among those with an archived body. All pages of a cluster are ranked by [`Trust`].

mod bodies;
mod read;
mod text;

use std::collections::HashSet;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use url::Url;

use crate::cli::args::ClusterOrder;
use crate::cli::errors::CliError;
use crate::detect::{self, Factors, Trust, elect};
use crate::model::{OutcomeKind, PageLine, Provenance, Threshold};

use bodies::Bodies;
use read::Group;

pub use text::text;

/// A stored page and its duplicates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// The URL of the stored page.
    pub representative: String,
    /// The folder of the earlier crawl that stored it, if it is not of this crawl.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The URL of the page to keep; `None` if no body is archived.
    pub elected: Option<String>,
    /// Why it is elected.
    pub why: String,
    /// The page that would be elected if all bodies were archived, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<Preferred>,
    /// All pages of the cluster, by descending trust.
    pub pages: Vec<ClusterPage>,
}

/// A page that cannot be elected, because its body is not archived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preferred {
    /// The URL.
    pub url: String,
    /// Why it would be elected.
    pub why: String,
}

/// A page of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterPage {
    /// The URL.
    pub url: String,
    /// The outcome.
    pub outcome: OutcomeKind,
    /// The similarity to the representative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The detector that found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detector: Option<String>,
    /// The evidence of the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Whether its body is archived.
    pub archived: bool,
    /// How trustworthy the page is, without coverage: `pages.jsonl` does not say which links work.
    pub trust: Trust,
    /// The provenance.
    pub provenance: Provenance,
    /// The position in decision order.
    #[serde(skip)]
    sequence: u64,
    #[serde(skip)]
    factors: Factors,
}

/// The clusters in an output folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The clusters, largest first.
    pub clusters: Vec<Cluster>,
    /// Pages compared.
    pub compared: u64,
}

impl Clusters {
    /// Reads an output folder. Leaves out duplicates whose similarity is below `least`; exact copies have 1.
    ///
    /// Memory grows with the number of duplicates only.
    pub fn read(folder: &Path, least: Option<Threshold>) -> Result<Self, CliError> {
        let found = read::groups(folder, least)?;
        let mut bodies = Bodies::new(folder);
        let mut clusters: Vec<(u64, Cluster)> =
            found.groups.into_iter().map(|group| (group.first(), Cluster::new(group, &mut bodies))).collect();
        clusters.sort_by_key(|(first, cluster)| (std::cmp::Reverse(cluster.pages.len()), *first));
        Ok(Self { clusters: clusters.into_iter().map(|(_, cluster)| cluster).collect(), compared: found.compared })
    }

    /// Puts the clusters into this order. Those that are equal by it stay as they are: the largest first.
    pub fn sort(&mut self, order: ClusterOrder) {
        match order {
            ClusterOrder::Size => {}
            ClusterOrder::Score => {
                self.clusters.sort_by(|one, other| one.lowest_score().total_cmp(&other.lowest_score()));
            }
            ClusterOrder::Url => self.clusters.sort_by(|one, other| one.representative.cmp(&other.representative)),
        }
    }

    /// Leaves out clusters without a page of this host.
    pub fn retain_host(&mut self, host: &str) {
        let is_of_it = |page: &ClusterPage| {
            Url::parse(&page.url).is_ok_and(|url| url.host_str().is_some_and(|of| of.eq_ignore_ascii_case(host)))
        };
        self.clusters.retain(|cluster| cluster.pages.iter().any(is_of_it));
    }

    /// Returns one JSON object per line.
    pub fn json_lines(&self) -> serde_json::Result<String> {
        let lines = self.clusters.iter().map(|cluster| Ok(serde_json::to_string(cluster)? + "\n"));
        lines.collect()
    }
}

impl Cluster {
    fn new(group: Group, bodies: &mut Bodies) -> Self {
        let canonical: HashSet<&str> = group.lines.iter().filter_map(|(_, line)| line.canonical.as_deref()).collect();
        let page = |(sequence, line): &(u64, PageLine)| {
            let factors = factors(line, canonical.contains(line.url.as_str()));
            ClusterPage::new(*sequence, line, factors, bodies.has(line))
        };
        let mut pages: Vec<ClusterPage> = group.lines.iter().map(page).collect();
        let archived: Vec<&ClusterPage> = pages.iter().filter(|page| page.archived).collect();
        let (elected, why) = match (winner(&archived), archived.len()) {
            (None, _) if group.folder.is_some() => (None, "stored by an earlier crawl".to_owned()),
            (None, _) => (None, "no body is archived".to_owned()),
            (Some(only), 1) if pages.len() > 1 => (Some(only.url), "only one whose body is archived".to_owned()),
            (Some(best), _) => (Some(best.url), best.why),
        };
        let preferred = winner(&pages.iter().collect::<Vec<_>>()).filter(|best| elected.as_ref() != Some(&best.url));
        pages.sort_by(|one, other| {
            other.trust.score.total_cmp(&one.trust.score).then(one.sequence.cmp(&other.sequence))
        });
        Self { representative: group.representative, folder: group.folder, elected, why, preferred, pages }
    }

    /// Returns the similarity of the page that is least like the stored one; exact copies have 1.
    fn lowest_score(&self) -> f64 {
        self.pages.iter().filter_map(|page| page.score).fold(1.0, f64::min)
    }
}

/// Returns the page with the best provenance.
fn winner(pages: &[&ClusterPage]) -> Option<Preferred> {
    let members: Vec<detect::Member> = pages.iter().map(|page| page.member()).collect();
    elect(&members).map(|election| Preferred { url: pages[election.elected].url.clone(), why: election.why })
}

impl ClusterPage {
    fn new(sequence: u64, line: &PageLine, factors: Factors, archived: bool) -> Self {
        let provenance = line.provenance.clone().unwrap_or_default();
        Self {
            url: line.url.clone(),
            outcome: line.outcome,
            score: line.score,
            detector: line.detector.clone(),
            decided_by: line.decided_by.clone(),
            archived,
            trust: Trust::of(&provenance, factors),
            provenance,
            sequence,
            factors,
        }
    }

    fn member(&self) -> detect::Member<'_> {
        detect::Member { sequence: self.sequence, provenance: &self.provenance, factors: self.factors }
    }
}

/// Returns what an election knows about a page beside its provenance.
///
/// Authority is two thirds for the canonical page, by its own claim or that of another page of the cluster: half of
/// that without any claim, none if the page names another. One third is for https.
fn factors(line: &PageLine, is_canonical: bool) -> Factors {
    let canonical = match &line.canonical {
        _ if is_canonical => 1.0,
        None => 0.5,
        Some(_) => 0.0,
    };
    let secure = if line.url.starts_with("https:") { 1.0 } else { 0.0 };
    Factors { authority: (2.0 * canonical + secure) / 3.0, age_days: age_days(line), coverage: None }
}

/// Returns the days from the date of the page to its fetch.
fn age_days(line: &PageLine) -> Option<f64> {
    let day = |text: &str| text.get(..10)?.parse::<Date>().ok();
    let when = day(line.provenance.as_ref()?.when.as_deref()?)?;
    let fetched: Timestamp = line.fetched_at.as_deref()?.parse().ok()?;
    let fetched = fetched.to_zoned(jiff::tz::TimeZone::UTC).date();
    Some(f64::from(fetched.since(when).ok()?.get_days()))
}

#[cfg(test)]
mod tests;
