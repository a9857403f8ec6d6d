//! The command `man`: prints the manual page.

use clap::CommandFactory;

use crate::cli::args::Arguments;
use crate::cli::errors::CliError;
use crate::cli::terminal::print;

/// Prints the manual page in roff.
pub(super) fn run() -> Result<u8, CliError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut page).map_err(anyhow::Error::from)?;
    print(&String::from_utf8_lossy(&page))
}
