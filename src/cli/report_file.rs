//! Writes the report on a crawl.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::cli::config::settings::Settings;
use crate::cli::errors::{CliError, exit, report_error};
use crate::cli::format::counted;
use crate::cli::setup;
use crate::cli::summary::{PredictionCost, RecrawlSummary, SkippingCost};
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::crawl::DuplicateLinks;
use crate::model::LostWords;
use crate::report::{Comparison, CurveEffort, DecisionSettings, PredictionStats, RecrawlStats, Report, ReportLimits};
use crate::store::{CrawlVersion, PageLines};

/// The name of the report in the output folder.
pub(super) const REPORT_FILE: &str = "report.html";

/// The limits at the end of a crawl, when the user may be waiting.
const AT_END: ReportLimits = ReportLimits { curve: CurveEffort::AtEnd, diffs: 100 };

/// The report at the end of a crawl.
#[derive(Debug, Default)]
pub(super) struct ReportAtEnd {
    /// The path, if it was written.
    pub path: Option<String>,
    /// Whether it could not be written because data of the crawl is damaged.
    pub is_damaged: bool,
}

/// Writes the report at the end of a crawl, unless `--no-report` forbids it.
///
/// A report that cannot be written does not fail the crawl. Damaged data does, because it is the result.
pub(super) fn at_end(settings: &Settings) -> ReportAtEnd {
    if !settings.out.report {
        return ReportAtEnd::default();
    }
    let path = settings.out.dir.join(REPORT_FILE);
    match write_report(&path, &settings.out.dir, settings, AT_END) {
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

/// Returns what a recrawl found changed and what it missed, if this was one. Reads all lines.
pub(super) fn recrawling(settings: &Settings) -> Option<RecrawlSummary> {
    let is_recrawl = CrawlVersion::last(&settings.out.dir).is_ok_and(|generation| generation.is_some());
    let found = is_recrawl.then(|| RecrawlStats::read(&settings.out.dir).ok()).flatten();
    found.as_ref().map(RecrawlSummary::from)
}

/// Returns what near-duplicates lose, if there are any. Reads all lines; the report tells whether they are damaged.
pub(super) fn lost_words(settings: &Settings, near_duplicates: u64) -> LostWords {
    let lines = (near_duplicates > 0).then(|| PageLines::open(&settings.out.dir).ok()).flatten();
    let mut lost = LostWords::default();
    lines.into_iter().flatten().map_while(Result::ok).for_each(|line| lost.add(&line));
    lost
}

/// The size of a written report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrittenReport {
    /// Bytes of the page.
    pub page_bytes: u64,
    /// Number of the parts beside it.
    pub parts: u64,
    /// Their bytes.
    pub part_bytes: u64,
}

/// Writes the report and its parts under temporary names and renames them, the parts first.
pub(super) fn write_report(
    path: &Path,
    folder: &Path,
    settings: &Settings,
    limits: ReportLimits,
) -> Result<WrittenReport, CliError> {
    // Without the pages of the earlier crawls, other thresholds would give wrong verdicts.
    let curve = if settings.dedup.against.is_empty() { limits.curve } else { CurveEffort::Sample(0) };
    let limits = ReportLimits { curve, ..limits };
    let settled = DecisionSettings { detect: setup::detect_options(settings), links: settings.dedup.links };
    let report = Report::gather(folder, settled, limits).map_err(report_error)?;
    write_pages(path, &report).map_err(|error| CliError::new(exit::DISK_FULL, format!("{}: {error}", path.display())))
}

/// Returns the folder of the parts of a report: `report_files` beside `report.html`.
pub(super) fn parts_folder(path: &Path) -> PathBuf {
    let stem = path.file_stem().map_or_else(|| "report".into(), |stem| stem.to_string_lossy().into_owned());
    path.with_file_name(format!("{stem}_files"))
}

/// Writes the differences of two crawls, as [`write_report`] does.
pub(super) fn write_comparison(path: &Path, folder: &Path, against: &Path) -> Result<WrittenReport, CliError> {
    let comparison = Comparison::read(folder, against).map_err(report_error)?;
    if comparison.other_uses > 0 {
        let pages = counted(comparison.other_uses, "page", "pages");
        write_stderr(&format!("note: of the use of {pages} something else is said than before"));
    }
    let [later, earlier] = [folder, against].map(|folder| folder.display().to_string());
    let written = write_page(path, |_, parts, write| comparison.html([&later, &earlier], parts, write));
    written.map_err(|error| CliError::new(exit::DISK_FULL, format!("{}: {error}", path.display())))
}

fn write_pages(path: &Path, report: &Report) -> io::Result<WrittenReport> {
    write_page(path, |page, parts, write| report.html(page, parts, write))
}

/// Writes a part of a page: its name and its text.
type WritePart<'a> = dyn FnMut(&str, &str) -> io::Result<()> + 'a;

/// Writes a page, which `html` returns, and its parts. `html` takes the names of the page and of the folder of its parts.
fn write_page(
    path: &Path,
    html: impl FnOnce(&str, &str, &mut WritePart<'_>) -> io::Result<String>,
) -> io::Result<WrittenReport> {
    let parts = parts_folder(path);
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (new_page, new_parts) =
        (path.with_extension("html.new"), parts.with_file_name(format!("{}.new", name(&parts))));
    remove_folder(&new_parts)?;
    fs::create_dir(&new_parts)?;
    let mut written = WrittenReport::default();
    let page = html(&name(path), &name(&parts), &mut |name: &str, text: &str| {
        written.parts += 1;
        written.part_bytes += text.len() as u64;
        fs::write(new_parts.join(name), text)
    })?;
    fs::write(&new_page, &page)?;
    remove_folder(&parts)?;
    fs::rename(&new_parts, &parts)?;
    fs::rename(&new_page, path)?;
    Ok(WrittenReport { page_bytes: page.len() as u64, ..written })
}

fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
