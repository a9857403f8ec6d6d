//! The command `man`: prints the manual page, or writes those of all commands into a folder.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::args::{Arguments, ManArguments};
use crate::cli::errors::{CliError, exit};
use crate::cli::terminal::print;

/// Prints the manual page in roff, or writes one for each command.
pub(super) fn run(arguments: &ManArguments) -> Result<u8, CliError> {
    if let Some(folder) = &arguments.out {
        return write_all(folder).map(|()| exit::FINISHED).map_err(|error| {
            let message = format!("{}: the manual pages cannot be written: {error}", folder.display());
            CliError::usage(message).with_hint("name a folder that you may write to")
        });
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut page).map_err(anyhow::Error::from)?;
    print(&String::from_utf8_lossy(&page))
}

/// Makes the folder and writes `ndcrawl.1`, `ndcrawl-status.1` and so on, to which the first page refers.
fn write_all(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    // The page of `help` would repeat the others.
    clap_mangen::generate_to(Arguments::command().disable_help_subcommand(true), folder)
}
