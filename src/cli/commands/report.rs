//! The command `report`: writes the report on a crawl.

use crate::cli::args::ReportArguments;
use crate::cli::errors::{CliError, exit};
use crate::cli::report_file::{REPORT_FILE, parts_folder, write_report};
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::cli::{format, saved_settings};
use crate::report::{CurvePages, ReportLimits};

/// Writes the report and prints its path.
pub(super) fn run(arguments: &ReportArguments) -> Result<u8, CliError> {
    let settings = saved_settings::settings(&arguments.dir)?;
    let path = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(REPORT_FILE));
    let limits = ReportLimits { curve_pages: CurvePages::First(arguments.curve_pages), diffs: arguments.diffs };
    let written = write_report(&path, &arguments.dir, &settings, limits)?;
    let [page, parts] = [path.display(), parts_folder(&path).display()].map(|path| path.to_string());
    write_stderr(&format!(
        "wrote {} ({}) and {} ({} files, {})",
        terminal_safe(&page),
        format::byte_size(written.page_bytes),
        terminal_safe(&parts),
        format::thousands(written.parts),
        format::byte_size(written.part_bytes)
    ));
    Ok(exit::FINISHED)
}
