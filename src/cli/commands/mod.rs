//! Runs the command that the arguments name. One file or folder per command; nothing else imports them.

mod audit;
mod check;
#[cfg(feature = "cluster")]
mod cluster;
mod clusters;
mod completions;
mod config;
mod crawl;
mod decontaminate;
mod dedup;
mod demo;
mod eval;
mod explain;
mod export;
#[cfg(feature = "cluster")]
mod gather;
mod jwks;
mod man;
mod read_document;
mod redirects;
mod reindex;
mod report;
mod rules;
mod status;
mod verify;
#[cfg(feature = "cluster")]
mod worker;

use super::args::{Arguments, Command};
use crate::cli::errors::CliError;
use crate::cli::host::Host;

/// Runs the command and returns the exit code.
pub(super) fn dispatch(arguments: Arguments, host: &Host) -> Result<u8, CliError> {
    if host.is_embedded() && !matches!(arguments.command, None | Some(Command::Crawl(_) | Command::Dedup(_))) {
        return Err(CliError::usage("only 'crawl' and 'dedup' can be embedded"));
    }
    match arguments.command {
        None => crawl::run_command(&arguments.crawl, host),
        Some(Command::Crawl(arguments)) => crawl::run_command(&arguments, host),
        #[cfg(feature = "cluster")]
        Some(Command::Worker(arguments)) => worker::run(&arguments, host),
        #[cfg(feature = "cluster")]
        Some(Command::Gather(arguments)) => gather::run(&arguments),
        #[cfg(feature = "cluster")]
        Some(Command::Cluster(command)) => cluster::run(&command),
        Some(Command::Status(arguments)) => status::run(&arguments),
        Some(Command::Clusters(arguments)) => clusters::run(&arguments),
        Some(Command::Audit(arguments)) => audit::run(&arguments),
        Some(Command::Redirects(arguments)) => redirects::run(&arguments),
        Some(Command::Export(arguments)) => export::run(&arguments),
        Some(Command::Explain(arguments)) => explain::run(&arguments),
        Some(Command::Rules(arguments)) => rules::run(&arguments),
        Some(Command::Report(arguments)) => report::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
        Some(Command::Verify(arguments)) => verify::run(&arguments),
        Some(Command::Dedup(arguments)) => dedup::run(&arguments, host),
        Some(Command::Decontaminate(arguments)) => decontaminate::run(&arguments),
        Some(Command::Eval(arguments)) => eval::run(&arguments),
        Some(Command::Reindex(arguments)) => reindex::run(&arguments),
        Some(Command::Check { kind }) => check::run(kind),
        Some(Command::Config(command)) => config::run(&command),
        Some(Command::Jwks { key }) => jwks::run(&key),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Man(arguments)) => man::run(&arguments),
        Some(Command::ReadDocument(arguments)) => read_document::run(&arguments),
    }
}
