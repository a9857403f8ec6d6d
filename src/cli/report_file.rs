//! Writes the report on a crawl.

use std::path::Path;

use crate::cli::config::settings::Settings;
use crate::cli::config::value_enums::Format;
use crate::cli::errors::{CliError, exit, report_error};
use crate::cli::setup;
use crate::cli::summary::{PredictionCost, SkippingCost};
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::crawl::DuplicateLinks;
use crate::report::{DecisionSettings, PredictionStats, Report};

/// The name of the report in the output folder.
pub(super) const REPORT_FILE: &str = "report.html";

/// Pages of the threshold curve at the end of a crawl, when the user may be waiting.
const CURVE_PAGES_AT_END: u32 = 5_000;

/// The report at the end of a crawl.
#[derive(Debug, Default)]
pub(super) struct ReportAtEnd {
    /// The path, if it was written.
    pub path: Option<String>,
    /// Whether it could not be written because data of the crawl is damaged.
    pub is_damaged: bool,
}

/// Writes the report at the end of a crawl, if `--format` asks for it.
///
/// A report that cannot be written does not fail the crawl. Damaged data does, because it is the result.
pub(super) fn at_end(settings: &Settings) -> ReportAtEnd {
    if !settings.out.formats.contains(&Format::Html) {
        return ReportAtEnd::default();
    }
    let path = settings.out.dir.join(REPORT_FILE);
    match write_report(&path, &settings.out.dir, settings, CURVE_PAGES_AT_END) {
        Ok(_) => ReportAtEnd { path: Some(path.display().to_string()), is_damaged: false },
        Err(error) => {
            let is_damaged = error.code == exit::CORRUPT;
            let kind = if is_damaged { "error" } else { "warning" };
            write_stderr(&terminal_safe(&format!("{kind}: cannot write the report: {}", error.message)));
            ReportAtEnd { path: None, is_damaged }
        }
    }
}

/// Returns what skipping links of duplicates saves and loses, if this crawl measured it.
pub(super) fn skipping(settings: &Settings) -> Result<Option<SkippingCost>, CliError> {
    if settings.dedup.links == DuplicateLinks::Skip {
        return Ok(None);
    }
    let behind = Report::measure_skip_cost(&settings.out.dir, settings.dedup.links).map_err(report_error)?;
    let is_of_unmatched = settings.dedup.links == DuplicateLinks::Unmatched;
    Ok(Some(SkippingCost { is_of_unmatched, ..SkippingCost::from(&behind) }))
}

/// Returns how many of the skipped links have no counterpart on the page that the duplicate repeats.
pub(super) fn unmatched_links(settings: &Settings, skipped: u64) -> Result<u64, CliError> {
    if skipped == 0 {
        return Ok(0);
    }
    Report::count_unmatched_links(&settings.out.dir).map_err(report_error)
}

/// Returns what skipping predicted duplicates loses, if any were skipped. Reads all lines; the report tells whether
/// they are damaged.
pub(super) fn predicting(settings: &Settings, predicted: u64) -> Option<PredictionCost> {
    let predictions = (predicted > 0).then(|| PredictionStats::read(&settings.out.dir).ok()).flatten();
    predictions.as_ref().map(PredictionCost::from)
}

/// Writes the report to a temporary file and renames it. Returns its size.
pub(super) fn write_report(path: &Path, folder: &Path, settings: &Settings, curve_pages: u32) -> Result<u64, CliError> {
    // Without the pages of the earlier crawls, other thresholds would give wrong verdicts.
    let curve_pages = if settings.dedup.against.is_empty() { curve_pages } else { 0 };
    let settled = DecisionSettings { detect: setup::detect_options(settings), links: settings.dedup.links };
    let html = Report::gather(folder, settled, curve_pages).map_err(report_error)?.html();
    let new = path.with_extension("html.new");
    let written = std::fs::write(&new, &html).and_then(|()| std::fs::rename(&new, path));
    written.map_err(|error| CliError::new(exit::DISK_FULL, format!("{}: {error}", path.display())))?;
    Ok(html.len() as u64)
}
