//! Runs the command that the arguments name. One file or folder per command; nothing else imports them.

mod check;
mod clusters;
mod completions;
mod config;
mod crawl;
mod dedup;
mod demo;
mod eval;
mod explain;
mod export;
mod man;
mod reindex;
mod report;
mod rules;
mod status;
mod verify;

use super::args::{Arguments, Command};
use crate::cli::errors::CliError;

/// Runs the command and returns the exit code.
pub(super) fn dispatch(arguments: Arguments) -> Result<u8, CliError> {
    match arguments.command {
        None => crawl::run_command(&arguments.crawl),
        Some(Command::Crawl(arguments)) => crawl::run_command(&arguments),
        Some(Command::Status(arguments)) => status::run(&arguments),
        Some(Command::Clusters(arguments)) => clusters::run(&arguments),
        Some(Command::Export(arguments)) => export::run(&arguments),
        Some(Command::Explain(arguments)) => explain::run(&arguments),
        Some(Command::Rules(arguments)) => rules::run(&arguments),
        Some(Command::Report(arguments)) => report::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
        Some(Command::Verify(arguments)) => verify::run(&arguments),
        Some(Command::Dedup(arguments)) => dedup::run(&arguments),
        Some(Command::Eval(arguments)) => eval::run(&arguments),
        Some(Command::Reindex(arguments)) => reindex::run(&arguments),
        Some(Command::Check { kind }) => check::run(kind),
        Some(Command::Config(command)) => config::run(&command),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Man(arguments)) => man::run(&arguments),
    }
}
