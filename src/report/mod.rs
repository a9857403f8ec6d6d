//! *What did this crawl find, and what did it cost?*
//!
//! ```text
//! pages.jsonl ──► line_stats ───────────┐
//! crawl.json ───► facts ────────────────┤
//! logs ─────────► replay, skip_cost ────┼─► Report ─► html: one file
//! logs, archive ► largest_clusters ─────┘
//! ```
//!
//! The room reads the output folder of a finished or paused crawl through `store` and changes nothing in it.
//! [`Report::gather`] reads the page lines twice and the logs a few times. Memory grows with hosts and clusters, not
//! with pages, unless a module says otherwise.
//!
//! [`Report`] holds the figures. [`PredictionStats`] and [`SkipCost`] estimate losses from samples; the method is in
//! `sampling_estimate`.

mod causes;
mod facts;
mod growth;
mod html;
mod largest_clusters;
mod line_stats;
mod new_text;
mod prediction_stats;
mod replay;
mod replay_pages;
mod sampling_estimate;
mod skip_cost;
mod term_table;
mod unmatched_links;

use std::path::Path;

use crate::crawl::DuplicateLinks;
use crate::detect::{DetectError, Options};
use crate::model::{HostRow, Totals};
use crate::pipeline::PageRecordError;
use crate::store::{self, StoreReader};

pub use causes::{CausePattern, DuplicateCause, DuplicateCauses, UrlDifference, url_difference};
pub use facts::CrawlFacts;
pub use growth::{Growth, GrowthPoint};
pub use largest_clusters::{ClusterMember, CopyDifference, DiffRow, LargestCluster, ShownCopy};
pub use line_stats::{BINS, ClusterSize, HostReport, LineStats};
pub use prediction_stats::PredictionStats;
pub use replay::{CurvePoint, ThresholdCurve, VerdictCounts, list_judged, replay_verdicts, threshold_curve};
pub use skip_cost::{SkipCost, SkipLoss, measure_skip_cost};
pub use term_table::{DifferentTerm, SharedTerm, TablePage, TermTable};

/// Default number of pages over which the threshold curve is computed.
pub const CURVE_PAGES: u32 = 50_000;

const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// Errors that prevent a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store cannot read page lines, logs or the archive.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The decider cannot replay the pages.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// The log lacks the record of a page.
    #[error(transparent)]
    Record(#[from] PageRecordError),
}

/// The settings that governed the crawl's decisions.
#[derive(Clone, Debug)]
pub struct DecisionSettings {
    /// The detector and its thresholds.
    pub detect: Options,
    /// The policy on links of duplicates.
    pub links: DuplicateLinks,
}

/// All figures of a report.
#[derive(Clone, Debug)]
pub struct Report {
    /// Version, seeds, times and settings.
    pub facts: CrawlFacts,
    /// The settings that governed decisions.
    pub settings: DecisionSettings,
    /// Statistics of the page lines.
    pub lines: LineStats,
    /// The counters of the whole crawl.
    pub totals: Totals,
    /// Per-origin counters, sorted by origin.
    pub hosts: Vec<HostRow>,
    /// Duplicate rate by threshold.
    pub curve: ThresholdCurve,
    /// Requests and new text behind links of duplicates.
    pub skip_cost: SkipCost,
    /// The largest clusters.
    pub largest: Vec<LargestCluster>,
}

impl Report {
    /// Gathers all figures from an output folder.
    ///
    /// The threshold curve is computed over the first `curve_pages` pages.
    ///
    /// # Errors
    /// If the folder holds no crawl, is in use, or is damaged.
    pub fn gather(folder: &Path, settings: DecisionSettings, curve_pages: u32) -> Result<Self, ReportError> {
        let (reader, opened) = StoreReader::open(folder, CACHE_BYTES)?;
        let lines = LineStats::read(folder)?;
        let mut hosts: Vec<HostRow> = reader.all_hosts()?.collect::<Result<_, _>>()?;
        hosts.sort_by(|one, other| one.origin.cmp(&other.origin));
        Ok(Self {
            facts: CrawlFacts::read(folder)?,
            curve: threshold_curve(&reader, &settings.detect, curve_pages)?,
            skip_cost: measure_skip_cost(&reader, settings.links)?,
            largest: largest_clusters::largest_clusters(folder, &reader, &settings.detect, &lines.clusters)?,
            totals: opened.mark.totals,
            settings,
            lines,
            hosts,
        })
    }

    /// Measures only what skipping the links of duplicates saves and loses.
    ///
    /// # Errors
    /// As [`Report::gather`].
    pub fn measure_skip_cost(folder: &Path, links: DuplicateLinks) -> Result<SkipCost, ReportError> {
        let (reader, _) = StoreReader::open(folder, CACHE_BYTES)?;
        measure_skip_cost(&reader, links)
    }

    /// Counts the URLs that were not fetched, to which a duplicate links and the page that it repeats does not.
    ///
    /// # Errors
    /// As [`Report::gather`].
    pub fn count_unmatched_links(folder: &Path) -> Result<u64, ReportError> {
        let (reader, _) = StoreReader::open(folder, CACHE_BYTES)?;
        unmatched_links::count(&reader)
    }

    /// Returns the report as one HTML page.
    pub fn html(&self) -> String {
        html::html(self)
    }
}
