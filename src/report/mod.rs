//! *What did this crawl come to?*
//!
//! ```text
//! pages.jsonl ─► gather ──────────┐
//! crawl.json ────► facts ─────────┤
//! logs ──► replay, skipping ──────┼─► Report ─► html: one file
//! logs, archive ──► largest ──────┘
//! ```
//!
//! Reads the output folder of a crawl that is not running, through `store`, and changes nothing in it. The lines are
//! read twice, the logs a few times; nothing is held that grows with the pages but what the parts name.

mod causes;
mod facts;
mod gather;
mod growth;
mod html;
mod largest;
mod prediction_stats;
mod replay;
mod sampling_estimate;
mod skip_cost;
mod term_table;

use std::path::Path;

use crate::crawl::DuplicateLinks;
use crate::detect::{DetectError, Options};
use crate::model::{HostRow, Totals};
use crate::pipeline::RecordError;
use crate::store::{self, StoreReader};

pub use causes::{Cause, Causes, Difference as UrlDifference, Pattern, difference};
pub use facts::Facts;
pub use gather::{BINS, Gathered, Site, Size};
pub use growth::{Growth, GrowthPoint};
pub use largest::{DiffRow, Difference, Largest, Member, Shown};
pub use prediction_stats::Predictions;
pub use replay::{Curve, CurvePoint, Decided, curve, decide_anew, first_judged};
pub use skip_cost::{Behind, Lost, behind_duplicates};
pub use term_table::{DifferentTerm, SharedTerm, TablePage, TermTable};

/// Pages over which the curve of thresholds is made, if nobody sets another number.
pub const CURVE_PAGES: u32 = 50_000;

const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Lines, logs or archive can't be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The pages can't be decided anew.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// A record is not there.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// By what the crawl decided, as the settings in its folder say.
#[derive(Clone, Debug)]
pub struct Settled {
    /// How pages were judged.
    pub detect: Options,
    /// What was done about links of duplicates.
    pub links: DuplicateLinks,
}

/// Everything that is told of a crawl.
#[derive(Clone, Debug)]
pub struct Report {
    /// What ran.
    pub facts: Facts,
    /// By what it decided.
    pub settled: Settled,
    /// What the lines tell.
    pub gathered: Gathered,
    /// The counters of the whole crawl.
    pub totals: Totals,
    /// Its origins.
    pub hosts: Vec<HostRow>,
    /// Duplicates against the threshold.
    pub curve: Curve,
    /// What lies behind duplicates.
    pub behind: Behind,
    /// The largest clusters.
    pub largest: Vec<Largest>,
}

impl Report {
    /// Gathers everything from an output folder. The curve is made over the first `curve_pages` pages.
    ///
    /// # Errors
    /// If the folder holds no crawl, is in use, or is damaged.
    pub fn gather(folder: &Path, settled: Settled, curve_pages: u32) -> Result<Self, ReportError> {
        let (reader, opened) = StoreReader::open(folder, CACHE_BYTES)?;
        let gathered = Gathered::read(folder)?;
        let mut hosts: Vec<HostRow> = reader.all_hosts()?.collect::<Result<_, _>>()?;
        hosts.sort_by(|one, other| one.origin.cmp(&other.origin));
        Ok(Self {
            facts: Facts::read(folder)?,
            curve: curve(&reader, &settled.detect, curve_pages)?,
            behind: behind_duplicates(&reader, settled.links)?,
            largest: largest::largest(folder, &reader, &settled.detect, &gathered.clusters)?,
            totals: opened.mark.totals,
            settled,
            gathered,
            hosts,
        })
    }

    /// What skipping the links of duplicates saves and loses, without the rest of the report.
    ///
    /// # Errors
    /// As [`Report::gather`].
    pub fn behind_duplicates(folder: &Path, links: DuplicateLinks) -> Result<Behind, ReportError> {
        let (reader, _) = StoreReader::open(folder, CACHE_BYTES)?;
        behind_duplicates(&reader, links)
    }

    /// The report as one web page.
    pub fn html(&self) -> String {
        html::html(self)
    }
}
