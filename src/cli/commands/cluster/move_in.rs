//! `cluster move`: makes a shared crawl from the folder of a crawl.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::args::ClusterMoveArguments;
use crate::cli::cluster_access::{connector, crawl_name};
use crate::cli::cluster_settings::{TURN_PAGES, of_crawl};
use crate::cli::config::settings::Settings;
use crate::cli::dividable::refuse_undividable_crawl;
use crate::cli::errors::{CliError, cluster_error, exit, opening_error};
use crate::cli::format::{counted, thousands};
use crate::cli::output_dir::{DEDUP, EarlierRun, expect_whole};
use crate::cli::run_crawl::runtime;
use crate::cli::run_worker::shared_setup;
use crate::cli::saved_settings;
use crate::cli::seeds::Seeds;
use crate::cli::setup;
use crate::cli::startup::defaults_with_log;
use crate::cli::step_progress::StepProgress;
use crate::cli::terminal::print;
use crate::cluster::{CrawlPlan, Moved, RunDescription, begin_move, connect_checked, init, move_in};
use crate::store::{CrawlVersion, MovedTo, StoreReader, mark_moved};

/// Memory of the store's cache.
const CACHE_BYTES: u64 = 64 << 20;

/// Moves, and returns the exit code.
pub(super) fn run(arguments: &ClusterMoveArguments) -> Result<u8, CliError> {
    defaults_with_log(arguments.verbosity)?;
    let (connector, name) = (connector(&arguments.cluster)?, crawl_name(&arguments.cluster_name)?);
    // It holds the folder until the process ends.
    let (folder, opened) = StoreReader::open(&arguments.dir, CACHE_BYTES).map_err(opening_error)?;
    expect_whole(&arguments.dir)?;
    let file = saved_settings::file_of(&arguments.dir)?;
    if file["command"] == DEDUP {
        let instead = "give its inputs to ndcrawl dedup --cluster";
        return Err(refusal(&arguments.dir, "the folder holds the results of dedup", instead));
    }
    let (settings, seeds) = of_file(&arguments.dir, &file, arguments.max_pages)?;
    let rendering = shared_setup(&settings, &seeds)?.rendering();
    expect_movable(&arguments.dir, &settings, &opened.identity.rendering, &rendering)?;
    let plan = CrawlPlan {
        name: name.clone(),
        settings: of_crawl(&settings, &seeds),
        rendering,
        slots: arguments.slots,
        turn_pages: TURN_PAGES,
        one_copy: arguments.one_copy,
    };
    let place = place(&arguments.dir)?;
    let moved = runtime()?.block_on(async {
        let mut session = connect_checked(&connector, arguments.one_copy).await?;
        let crawl = init(&mut session, &plan).await?;
        begin_move(&mut session, &crawl).await?;
        let mut progress = StepProgress::new("moving", arguments.verbosity.quiet);
        let told = |done: u64, all: u64| progress.tell("the folder", done, all);
        // Until the end both the folder and the crawl are refused to those who would go on.
        move_in(&mut session, &crawl, &folder, place, told).await
    });
    let moved = moved.map_err(cluster_error)?;
    let to = MovedTo { servers: connector.servers(), crawl: name.text().to_owned() };
    mark_moved(&arguments.dir, &to).map_err(opening_error)?;
    tell(arguments, &to, moved)
}

/// Returns the settings and the seeds of the crawl in a folder, with another limit of pages if there is one.
fn of_file(folder: &Path, file: &Value, limit: Option<u64>) -> Result<(Settings, Seeds), CliError> {
    let mut settings = saved_settings::of_crawl(folder, file)?;
    settings.scope.max_pages = limit.or(settings.scope.max_pages);
    settings.out.dir = folder.to_owned();
    let seeds = EarlierRun::of(&settings, file)?.seeds;
    Ok((settings, Seeds { seeds, ..Seeds::default() }))
}

/// Refuses a folder whose crawl several processes cannot go on with, or of which something would be lost.
fn expect_movable(folder: &Path, settings: &Settings, found: &str, wanted: &str) -> Result<(), CliError> {
    let refused = |what: &str, instead: &str| Err(refusal(folder, what, instead));
    if CrawlVersion::last(folder).map_err(opening_error)?.is_some() {
        return refused(
            "the folder has earlier crawls in earlier/",
            "crawl again in the cluster, without the earlier ones",
        );
    }
    refuse_undividable_crawl(settings, false)?;
    if found != wanted {
        let instead = "move it with the version of ndcrawl that made it, or crawl again in the cluster";
        return refused(&format!("its pages were read as '{found}', and this program has '{wanted}'"), instead);
    }
    Ok(())
}

fn refusal(folder: &Path, what: &str, instead: &str) -> CliError {
    CliError::new(exit::NOT_RESUMABLE, format!("{}: {what}", folder.display())).with_hint(instead)
}

/// Says where the archive of the folder is.
fn place(folder: &Path) -> Result<RunDescription, CliError> {
    let failed = |error: std::io::Error| CliError::usage(format!("{}: {error}", folder.display()));
    let (machine, path) = (setup::system_name(), folder.canonicalize().map_err(failed)?);
    Ok(RunDescription {
        name: format!("{machine}: a folder"),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        archive: format!("{machine}:{}", path.display()),
    })
}

fn tell(arguments: &ClusterMoveArguments, to: &MovedTo, moved: Moved) -> Result<u8, CliError> {
    let Moved { urls, outcomes, pages, files } = moved;
    if arguments.json {
        let told = json!({
            "crawl": to.crawl, "urls": urls, "outcomes": outcomes, "pages": pages, "archives": files,
        });
        return print(&format!("{told}\n"));
    }
    print(&format!(
        "{} is the crawl '{}' now: {}, {} with an outcome, {} decided, {}, which {} where {}\n\
         next: ndcrawl worker {} --cluster-name {}\n",
        arguments.dir.display(),
        to.crawl,
        counted(urls, "URL", "URLs"),
        thousands(outcomes),
        counted(pages, "page", "pages"),
        counted(files, "archive file", "archive files"),
        if files == 1 { "stays" } else { "stay" },
        if files == 1 { "it is" } else { "they are" },
        arguments.cluster,
        to.crawl
    ))
}
