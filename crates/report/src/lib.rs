//! *What did this crawl find, and what did it cost?*
//!
//! ```text
//! pages.jsonl ──► line_stats, audit ────┐
//! crawl.json ───► facts ────────────────┤
//! logs ─────────► replay, skip_cost ────┼─► Report ─► html: one page, and parts beside it
//! logs, archive ► cluster_list ─────────┘
//! ```
//!
//! The room reads the output folder of a finished or paused crawl through `store` and changes nothing in it.
//! [`Report::gather`] reads the page lines a few times and the logs a few times. Memory grows with hosts and clusters, not
//! with pages, unless a module says otherwise.
//!
//! [`Report`] holds the figures. [`PredictionStats`] and [`SkipCost`] estimate losses from samples; the method is in
//! `sampling_estimate`.

#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod audit;
mod causes;
mod changes;
mod cluster_list;
mod comparison;
mod csv_list;
mod curve_sample;
mod directories;
mod facts;
mod failures;
mod found_page;
mod growth;
mod html;
mod left_out;
mod line_stats;
mod loss_check;
mod new_text;
mod page_text;
mod prediction_stats;
mod recrawl_stats;
mod redirect_map;
mod replay;
mod replay_pages;
mod sampling_estimate;
mod side_by_side;
mod skip_cost;
mod term_table;
mod unmatched_links;

use std::io;
use std::path::Path;

use ndcrawl_engine::crawl::DuplicateLinks;
use ndcrawl_engine::pipeline::PageRecordError;
use ndcrawl_model::{HostRow, Totals};
use ndcrawl_store::{self as store, StoreReader};
use neardup::detect::{DetectError, Options};

pub use audit::{AlikePages, Audit, FindingKind, PageFrame};
pub use causes::{CausePattern, DuplicateCause, DuplicateCauses, UrlDifference, url_difference};
pub use changes::{Mend, PagesLeft, SiteChange};
pub use cluster_list::{Cluster, ClusterMember, Clusters, CopyDifference, ShownCopy};
pub use comparison::{ChangedPage, ComparedPages, Comparison, PageChange};
pub use csv_list::CsvList;
pub use directories::{Directories, DirectoryCounts, MapPart};
pub use facts::CrawlFacts;
pub use failures::{FailedUrl, Failures};
pub use found_page::FoundPage;
pub use growth::{Growth, GrowthPoint};
pub use left_out::{LeftOut, LeftOutUrls};
pub use line_stats::{BINS, ClusterSize, HostReport, LineStats};
pub use loss_check::LossCheck;
pub use prediction_stats::PredictionStats;
pub use recrawl_stats::{RecheckCounts, RecrawlStats};
pub use redirect_map::{MappedPage, MatchedBy, RedirectMap};
pub use replay::{CurvePoint, ThresholdCurve, VerdictCounts, replay_verdicts, threshold_curve};
pub use side_by_side::DiffRow;
pub use skip_cost::{SkipCost, SkipLoss, measure_skip_cost};
pub use term_table::{DifferentTerm, SharedTerm, TablePage, TermTable};

/// Default number of pages that the sample for the threshold curve has.
pub const CURVE_PAGES: u32 = 50_000;

/// Default number of clusters whose text is compared.
pub const DIFFS: u32 = 2_000;

/// Pages of a crawl that are sampled at its end in any case.
const SMALL: u32 = 250;

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

/// How much of the threshold curve is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveEffort {
    /// All thresholds over a sample of so many pages.
    Sample(u32),
    /// Every other threshold over a sample of an eighth of the pages, at least 250 and at most 5,000: so much that the
    /// report takes a small part of the time of the crawl before it. All of a crawl of up to 250 pages.
    AtEnd,
}

impl CurveEffort {
    /// Returns how many of the `judged` pages are sampled.
    fn pages(self, judged: u32) -> u32 {
        match self {
            CurveEffort::Sample(pages) => pages,
            CurveEffort::AtEnd => (judged / 8).clamp(SMALL, 5_000),
        }
    }

    /// Returns by which step the thresholds are taken.
    fn step(self, judged: u32) -> usize {
        match self {
            CurveEffort::AtEnd if judged > SMALL => 2,
            CurveEffort::Sample(_) | CurveEffort::AtEnd => 1,
        }
    }
}

/// Limits of what costs most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportLimits {
    /// How much of the threshold curve is computed.
    pub curve: CurveEffort,
    /// Clusters whose text is compared, the largest ones.
    pub diffs: u32,
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
    /// The clusters, the largest first.
    pub clusters: Clusters,
    /// What pages say of themselves beside what was measured.
    pub audit: Audit,
}

impl Report {
    /// Gathers all figures from an output folder.
    ///
    /// # Errors
    /// If the folder holds no crawl, is in use, or is damaged.
    pub fn gather(folder: &Path, settings: DecisionSettings, limits: ReportLimits) -> Result<Self, ReportError> {
        let (reader, opened) = StoreReader::open(folder, CACHE_BYTES)?;
        let mut lines = LineStats::read(folder)?;
        lines.failures.find_links(&reader)?;
        let mut hosts: Vec<HostRow> = reader.all_hosts()?.collect::<Result<_, _>>()?;
        hosts.sort_by(|one, other| one.origin.cmp(&other.origin));
        Ok(Self {
            facts: CrawlFacts::read(folder)?,
            curve: threshold_curve(&reader, &settings.detect, limits.curve)?,
            skip_cost: skip_cost_of(&reader, settings.links)?,
            clusters: cluster_list::clusters(
                folder,
                &reader,
                &settings.detect,
                &lines.clusters,
                limits.diffs as usize,
            )?,
            audit: Audit::read(folder, &reader)?,
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

    /// Finds what to change on the site.
    ///
    /// # Errors
    /// As [`Report::gather`].
    pub fn audit(folder: &Path) -> Result<Audit, ReportError> {
        let (reader, _) = StoreReader::open(folder, CACHE_BYTES)?;
        Ok(Audit::read(folder, &reader)?)
    }

    /// Counts the URLs that were not fetched, to which a duplicate links and the page that it repeats does not.
    ///
    /// # Errors
    /// As [`Report::gather`].
    pub fn count_unmatched_links(folder: &Path) -> Result<u64, ReportError> {
        let (reader, _) = StoreReader::open(folder, CACHE_BYTES)?;
        unmatched_links::count(&reader)
    }

    /// Returns the report as an HTML page. Gives the name and the text of each part beside it to `write`.
    ///
    /// The page refers to its parts by the name of their folder, and they to the page by `home`, its file name.
    ///
    /// # Errors
    /// The first error of `write`.
    pub fn html(
        &self,
        home: &str,
        folder: &str,
        write: &mut dyn FnMut(&str, &str) -> io::Result<()>,
    ) -> io::Result<String> {
        html::html(self, (home, folder), write)
    }
}

impl Comparison {
    /// Returns the differences as an HTML page, as [`Report::html`] does. `names` are those of the later and of the earlier
    /// crawl.
    ///
    /// # Errors
    /// The first error of `write`.
    pub fn html(
        &self,
        names: [&str; 2],
        folder: &str,
        write: &mut dyn FnMut(&str, &str) -> io::Result<()>,
    ) -> io::Result<String> {
        let mut parts = html::listing::Parts::new(folder, write);
        let page = html::comparison::page(self, names, &mut parts);
        parts.finish()?;
        Ok(page)
    }
}

/// Measures what skipping the links of duplicates costs, as far as the report says it: a crawl that follows none of
/// them cannot tell what it lost.
fn skip_cost_of(reader: &StoreReader, links: DuplicateLinks) -> Result<SkipCost, ReportError> {
    match links {
        DuplicateLinks::Skip => Ok(SkipCost { unmatched: unmatched_links::count(reader)?, ..SkipCost::default() }),
        _ => measure_skip_cost(reader, links),
    }
}
