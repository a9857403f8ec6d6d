//! The command `status`: prints the status of a crawl.

use crate::cli::args::StatusArguments;
use crate::cli::errors::CliError;
use crate::cli::output_dir;
use crate::cli::status_file::StatusFile;
use crate::cli::terminal::print;

/// Prints the status of a crawl, as text or JSON.
pub(super) fn run(arguments: &StatusArguments) -> Result<u8, CliError> {
    output_dir::expect_whole(&arguments.dir)?;
    let status = StatusFile::read(&arguments.dir)?;
    if arguments.json {
        let json = serde_json::to_string(&status).map_err(anyhow::Error::from)?;
        return print(&format!("{json}\n"));
    }
    print(&status.text(jiff::Timestamp::now()))
}
