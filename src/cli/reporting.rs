//! The report on a crawl, by its command and at the end of a crawl.

use std::path::{Path, PathBuf};

use super::arguments::ReportArguments;
use super::choices::Format;
use super::error::{CliError, exit};
use super::folder::{Phase, store_error};
use super::settings::Settings;
use super::terminal::{terminal_safe, write_stderr};
use super::{figures, recorded, setup};
use crate::report::{Report, ReportError, Settled};

/// The name of the report in the output folder.
const REPORT_FILE: &str = "report.html";

/// Pages over which the curve of thresholds is made at the end of a crawl, for which somebody may be waiting.
const CURVE_PAGES_AT_END: u32 = 5_000;

/// Writes the report that was asked for.
pub(super) fn write(arguments: &ReportArguments) -> Result<u8, CliError> {
    let settings = recorded::settings(&arguments.dir)?;
    let path = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(REPORT_FILE));
    let octets = write_to(&path, &arguments.dir, &settings, arguments.curve_pages)?;
    let path = path.display().to_string();
    write_stderr(&format!("wrote {} ({})", terminal_safe(&path), figures::octets(octets)));
    Ok(exit::FINISHED)
}

/// Writes the report at the end of a crawl, if it is wanted, and answers where. That there is none is no reason for the crawl to have
/// failed: it is only told.
pub(super) fn at_end(settings: &Settings) -> Option<PathBuf> {
    if !settings.out.formats.contains(&Format::Html) {
        return None;
    }
    let path = settings.out.dir.join(REPORT_FILE);
    match write_to(&path, &settings.out.dir, settings, CURVE_PAGES_AT_END) {
        Ok(_) => Some(path),
        Err(error) => {
            write_stderr(&terminal_safe(&format!("warning: no report was written: {}", error.message)));
            None
        }
    }
}

/// Writes the report beside its place and moves it there, so that nobody sees half of one. Gives its size.
fn write_to(path: &Path, folder: &Path, settings: &Settings, curve_pages: u32) -> Result<u64, CliError> {
    // Without the pages of earlier crawls, no threshold gives the verdicts that it would have given.
    let curve_pages = if settings.dedup.against.is_empty() { curve_pages } else { 0 };
    let settled = Settled { detect: setup::detect_options(settings), links: settings.dedup.links };
    let html = Report::gather(folder, settled, curve_pages).map_err(report_error)?.html();
    let new = path.with_extension("html.new");
    let written = std::fs::write(&new, &html).and_then(|()| std::fs::rename(&new, path));
    written.map_err(|error| CliError::new(exit::DISK_FULL, format!("{}: {error}", path.display())))?;
    Ok(html.len() as u64)
}

fn report_error(error: ReportError) -> CliError {
    match error {
        ReportError::Store(error) => store_error(error, Phase::Opening),
        other => CliError::new(exit::CORRUPT, other.to_string()),
    }
}
