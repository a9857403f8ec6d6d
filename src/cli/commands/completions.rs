//! The command `completions`: prints a completion script.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::args::Arguments;
use crate::cli::errors::CliError;
use crate::cli::terminal::print;

/// Prints the completion script of a shell.
pub(super) fn run(shell: Shell) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "ndcrawl", &mut script);
    print(&String::from_utf8_lossy(&script))
}
