//! The command `report`: writes the report on a crawl.

use crate::cli::args::ReportArguments;
use crate::cli::errors::{CliError, exit};
use crate::cli::report_file::{REPORT_FILE, write_report};
use crate::cli::terminal::write_stderr;
use crate::cli::terminal_safe::terminal_safe;
use crate::cli::{format, saved_settings};

/// Writes the report and prints its path.
pub(super) fn run(arguments: &ReportArguments) -> Result<u8, CliError> {
    let settings = saved_settings::settings(&arguments.dir)?;
    let path = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(REPORT_FILE));
    let bytes = write_report(&path, &arguments.dir, &settings, arguments.curve_pages)?;
    let path = path.display().to_string();
    write_stderr(&format!("wrote {} ({})", terminal_safe(&path), format::byte_size(bytes)));
    Ok(exit::FINISHED)
}
