//! The command `crawl`: reads the seeds, then crawls or prints the plan.

mod dry_run;
#[cfg(feature = "cluster")]
mod shared;

use clap::CommandFactory;

use crate::cli::args::usage::similar_command;
use crate::cli::args::{Arguments, CrawlArguments};
use crate::cli::config::Settings;
use crate::cli::config::value_enums::LogLevel;
use crate::cli::cookie_file;
use crate::cli::errors::CliError;
use crate::cli::host::Host;
use crate::cli::log;
use crate::cli::run_crawl::{run, runtime};
use crate::cli::seeds::Seeds;
use crate::cli::signing_key;
use crate::cli::startup::load_settings;
use crate::cli::terminal::{print, write_stderr};
use crate::cli::terminal_safe::terminal_safe;

/// Rejected seeds shown; the others are counted.
const MOST_WARNINGS: usize = 20;

/// Crawls, or prints the plan with `--dry-run`. Returns the exit code.
pub(super) fn run_command(arguments: &CrawlArguments, host: &Host) -> Result<u8, CliError> {
    refuse_stray_words(&arguments.urls)?;
    let settings = load_settings(arguments.given(), &arguments.config)?;
    let seeds = Seeds::read(&settings, &mut std::io::stdin())?;
    if settings.log.level != LogLevel::Error {
        warn_of_rejected(&seeds);
    }
    if !may_go_without_seeds(&settings, &seeds, arguments.run.resume || arguments.run.recrawl) {
        seeds.require_one()?;
    }
    #[cfg(feature = "cluster")]
    if let Some(address) = arguments.cluster.as_deref().filter(|_| !arguments.run.dry_run) {
        seeds.require_one()?;
        log::begin(&settings)?;
        return shared::run(address, arguments, settings, &seeds, host);
    }
    if !arguments.run.dry_run {
        log::begin(&settings)?;
        return run(&settings, seeds, arguments.run, &runtime()?, host);
    }
    // What would stop the crawl is told now.
    cookie_file::read(&settings)?;
    signing_key::read(&settings)?;
    if arguments.run.json {
        return print(&format!("{}\n", dry_run::plan_json(&settings, &seeds)));
    }
    print(&dry_run::plan_text(&settings, &seeds))
}

/// Returns whether a crawl can be resumed with its own seeds.
fn may_go_without_seeds(settings: &Settings, seeds: &Seeds, resume: bool) -> bool {
    let none_named = settings.seeds.is_empty() && settings.seeds_file.is_empty();
    none_named && seeds.rejected.is_empty() && (resume || settings.out.dir.join("crawl.json").exists())
}

/// Rejects a single word, which is more likely a misspelled or misplaced command than a host.
fn refuse_stray_words(urls: &[String]) -> Result<(), CliError> {
    let is_word = |text: &&String| !text.contains(['.', ':', '/']) && *text != "localhost";
    let Some(word) = urls.iter().find(is_word) else { return Ok(()) };
    let error = CliError::usage(format!("'{word}': neither a command nor a URL"));
    Err(match Arguments::command().find_subcommand(word) {
        Some(_) => error.with_hint(format!("put the command first: ndcrawl {word} ...")),
        None => error.with_hint(match similar_command(word) {
            Some(name) => format!("a similar command exists: ndcrawl {name}; for a host, write https://{word}/"),
            None => format!("ndcrawl --help lists the commands; for a host, write https://{word}/"),
        }),
    })
}

fn warn_of_rejected(seeds: &Seeds) {
    for rejected in seeds.rejected.iter().take(MOST_WARNINGS) {
        let line = format!("warning: {}: '{}': {}; skipped", rejected.line, rejected.text, rejected.why);
        write_stderr(&terminal_safe(&line));
    }
    if let Some(more @ 1..) = seeds.rejected.len().checked_sub(MOST_WARNINGS) {
        write_stderr(&format!("warning: {more} more lines skipped"));
    }
}
