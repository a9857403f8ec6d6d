//! The command `report`: writes the report on a crawl.

use crate::cli::args::ReportArguments;
use crate::cli::errors::{CliError, exit};
use crate::cli::report_file::{REPORT_FILE, parts_folder, write_comparison, write_report};
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::cli::{format, saved_settings};
use crate::report::{CurveEffort, ReportLimits};

/// The name of a comparison in the output folder.
const COMPARISON_FILE: &str = "comparison.html";

/// Writes the report, or the comparison with another crawl, and prints its path.
pub(super) fn run(arguments: &ReportArguments) -> Result<u8, CliError> {
    let default = if arguments.against.is_some() { COMPARISON_FILE } else { REPORT_FILE };
    let path = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(default));
    let limits = ReportLimits { curve: CurveEffort::Sample(arguments.curve_pages), diffs: arguments.diffs };
    let written = match &arguments.against {
        Some(against) => write_comparison(&path, &arguments.dir, against)?,
        None => write_report(&path, &arguments.dir, &saved_settings::settings(&arguments.dir)?, limits)?,
    };
    let [page, parts] = [path.display(), parts_folder(&path).display()].map(|path| path.to_string());
    write_stderr(&format!(
        "wrote {} ({}) and {} ({}, {})",
        terminal_safe(&page),
        format::byte_size(written.page_bytes),
        terminal_safe(&parts),
        format::counted(written.parts, "file", "files"),
        format::byte_size(written.part_bytes)
    ));
    Ok(exit::FINISHED)
}
