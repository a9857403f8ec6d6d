//! From arguments to what is done.

use std::io::Write;
use std::path::Path;

use clap::CommandFactory;

use super::arguments::{
    Arguments, ClustersArguments, Command, ConfigCommand, ConfigSource, CrawlArguments, ExplainArguments,
    ShowArguments, StatusArguments, Verbosity,
};
use super::error::{CliError, exit};
use super::seeds::Seeds;
use super::settings::Settings;
use super::source::Given;
use super::terminal::{terminal_safe, write_stderr, write_stdout};
use super::value_enums::LogLevel;
use super::{
    check, clusters, dedup, dry_run, evaluation, explain, export, file, log, merge, output_dir, reindex, reporting,
    rules, run, status, template,
};

/// Rejected lines of seeds beyond this many are only counted.
const MOST_WARNINGS: usize = 20;

/// Does what the arguments ask for, and gives the exit code.
pub fn dispatch(arguments: Arguments) -> Result<u8, CliError> {
    match arguments.command {
        None => crawl(&arguments.crawl),
        Some(Command::Crawl(crawl_arguments)) => crawl(&crawl_arguments),
        Some(Command::Status(arguments)) => tell_status(&arguments),
        Some(Command::Clusters(arguments)) => tell_clusters(&arguments),
        Some(Command::Export(arguments)) => export::run(&without_files(arguments.verbosity)?, &arguments),
        Some(Command::Explain(arguments)) => tell_why(&arguments),
        Some(Command::Rules(arguments)) => rules::run(&arguments),
        Some(Command::Report(arguments)) => reporting::write(&arguments),
        Some(Command::Demo(arguments)) => run::demo(without_files(arguments.verbosity)?, &arguments),
        Some(Command::Verify(arguments)) => run::verify(without_files(arguments.verbosity)?, &arguments),
        Some(Command::Dedup(arguments)) => {
            let given = arguments.keys.given.iter().cloned().chain(arguments.verbosity.given());
            let settings = settle(given.collect(), &arguments.config)?;
            log::begin(&settings)?;
            dedup::run(&settings, &arguments)
        }
        Some(Command::Eval(arguments)) => {
            let given = arguments.verbosity.given().into_iter().chain(arguments.keys.given.clone());
            evaluation::run(&begun(given.collect())?, &arguments)
        }
        Some(Command::Reindex(arguments)) => reindex::run(&without_files(arguments.verbosity)?, &arguments),
        Some(Command::Check { kind }) => check::run(kind),
        Some(Command::Config(ConfigCommand::Show(arguments))) => show_config(&arguments),
        Some(Command::Config(ConfigCommand::Init { file, force })) => init_config(&file, force),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "ndcrawl", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
        Some(Command::Man) => manual(),
    }
}

fn crawl(arguments: &CrawlArguments) -> Result<u8, CliError> {
    refuse_stray_words(&arguments.urls)?;
    let settings = settle(arguments.given(), &arguments.config)?;
    let seeds = Seeds::read(&settings, &mut std::io::stdin())?;
    if settings.log.level != LogLevel::Error {
        warn_of_rejected(&seeds);
    }
    if !may_go_without_seeds(&settings, &seeds, arguments.run.resume || arguments.run.recrawl) {
        seeds.require_one()?;
    }
    if !arguments.run.dry_run {
        log::begin(&settings)?;
        return run::crawl(settings, seeds, arguments.run);
    }
    if arguments.run.json {
        return print(&format!("{}\n", dry_run::plan_json(&settings, &seeds)));
    }
    print(&dry_run::plan_text(&settings, &seeds))
}

/// A crawl that is resumed knows its seeds.
fn may_go_without_seeds(settings: &Settings, seeds: &Seeds, resume: bool) -> bool {
    let none_named = settings.seeds.is_empty() && settings.seeds_file.is_empty();
    none_named && seeds.rejected.is_empty() && (resume || settings.out.dir.join("crawl.json").exists())
}

/// A single word is rather a misspelt or misplaced command than a host.
fn refuse_stray_words(urls: &[String]) -> Result<(), CliError> {
    let is_word = |text: &&String| !text.contains(['.', ':', '/']) && *text != "localhost";
    let Some(word) = urls.iter().find(is_word) else { return Ok(()) };
    let error = CliError::usage(format!("'{word}': neither a command nor a URL"));
    Err(match Arguments::command().find_subcommand(word) {
        Some(_) => error.with_hint(format!("the command comes first: ndcrawl {word} ...")),
        None => error.with_hint(format!("ndcrawl --help lists the commands; as a host, write https://{word}/")),
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

/// Merges flags, environment and files.
fn settle(flags: Vec<Given>, source: &ConfigSource) -> Result<Settings, CliError> {
    let mut given = match source.no_config {
        true => Vec::new(),
        false => file::from_files(source.file.as_deref(), file::user_folder().as_deref())?,
    };
    let (environment, unknown) = merge::from_environment(std::env::vars_os());
    for name in unknown {
        write_stderr(&terminal_safe(&format!("warning: {name}: no setting has this variable; ignored")));
    }
    given.extend(environment);
    given.extend(flags);
    merge::merge(given)
}

/// Defaults but for the log, which is begun. What lies in the folder or the environment must not
/// change what these commands do.
fn without_files(verbosity: Verbosity) -> Result<Settings, CliError> {
    begun(verbosity.given().into_iter().collect())
}

fn begun(given: Vec<Given>) -> Result<Settings, CliError> {
    let settings = merge::merge(given)?;
    log::begin(&settings)?;
    Ok(settings)
}

fn tell_status(arguments: &StatusArguments) -> Result<u8, CliError> {
    output_dir::expect_whole(&arguments.dir)?;
    let status = status::StatusFile::read(&arguments.dir)?;
    if arguments.json {
        let json = serde_json::to_string(&status).map_err(anyhow::Error::from)?;
        return print(&format!("{json}\n"));
    }
    print(&status.text(jiff::Timestamp::now()))
}

fn tell_clusters(arguments: &ClustersArguments) -> Result<u8, CliError> {
    let found = clusters::Clusters::read(&arguments.dir, arguments.min_mwo)?;
    if arguments.json {
        return print(&found.json_lines().map_err(anyhow::Error::from)?);
    }
    print(&clusters::text(&found, arguments.min_mwo))
}

fn tell_why(arguments: &ExplainArguments) -> Result<u8, CliError> {
    let mut crawl = explain::Crawl::open(&arguments.dir)?;
    let object = |json: serde_json::Result<String>| json.map(|json| json + "\n").map_err(anyhow::Error::from);
    print(&match &arguments.other {
        None => {
            let explanation = crawl.explain(&arguments.url)?;
            match arguments.json {
                true => object(serde_json::to_string(&explanation))?,
                false => explanation.text(&arguments.dir.display().to_string()),
            }
        }
        Some(other) => {
            let pair = crawl.compare(&arguments.url, other)?;
            if arguments.json { object(serde_json::to_string(&pair))? } else { pair.text(arguments.all) }
        }
    })
}

fn show_config(arguments: &ShowArguments) -> Result<u8, CliError> {
    let settings = settle(arguments.keys.given.clone(), &arguments.config)?;
    if arguments.json {
        return print(&format!("{}\n", template::listing_json(&settings)));
    }
    print(&template::listing(&settings))
}

fn init_config(path: &Path, force: bool) -> Result<u8, CliError> {
    if path == Path::new("-") {
        return print(&template::template());
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(!force).create(true).truncate(force);
    let written = options.open(path).and_then(|mut file| file.write_all(template::template().as_bytes()));
    match written {
        Ok(()) => {
            write_stderr(&format!("wrote {}", terminal_safe(&path.display().to_string())));
            Ok(exit::FINISHED)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(CliError::usage(format!("{}: there is one already", path.display())).with_hint("--force replaces it"))
        }
        Err(error) => Err(CliError::usage(format!("{}: {error}", path.display()))),
    }
}

fn manual() -> Result<u8, CliError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut page).map_err(anyhow::Error::from)?;
    print(&String::from_utf8_lossy(&page))
}

fn print(data: &str) -> Result<u8, CliError> {
    write_stdout(data).map(|()| exit::FINISHED)
}
