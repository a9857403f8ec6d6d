//! The commands under `cluster`.

mod local;
mod move_in;

use crate::cli::args::{ClusterCommand, ClusterInitArguments};
use crate::cli::cluster_access::{connector, crawl_name};
use crate::cli::errors::{CliError, cluster_error, exit};
use crate::cli::log;
use crate::cli::run_crawl::runtime;
use crate::cli::shared_dedup::plan;
use crate::cli::startup::load_settings;
use crate::cli::terminal::write_stderr;
use crate::cluster::{ClusterError, CrawlState, connect_checked, drop_crawl, init, open, resume, stop};

/// Runs the command.
pub(super) fn run(command: &ClusterCommand) -> Result<u8, CliError> {
    match command {
        ClusterCommand::Init(arguments) => init_crawl(arguments),
        ClusterCommand::Move(arguments) => move_in::run(arguments),
        ClusterCommand::Stop(arguments) => stop_crawl(&arguments.cluster, &arguments.cluster_name),
        ClusterCommand::Resume(arguments) => resume_crawl(&arguments.cluster, &arguments.cluster_name),
        ClusterCommand::Drop(arguments) => delete_crawl(&arguments.cluster, &arguments.cluster_name),
        ClusterCommand::Local(arguments) => local::run(arguments),
    }
}

fn init_crawl(arguments: &ClusterInitArguments) -> Result<u8, CliError> {
    let given = arguments.keys.given.iter().cloned().chain(arguments.verbosity.given());
    let settings = load_settings(given.collect(), &arguments.config)?;
    log::begin(&settings)?;
    let plan = plan(&settings, &arguments.cluster_name, &arguments.shape)?;
    let connector = connector(&arguments.cluster)?;
    let row = runtime()?.block_on(async {
        let mut session = connect_checked(&connector, plan.one_copy).await?;
        let row = init(&mut session, &plan).await?;
        resume(&mut session).await?;
        Ok::<_, ClusterError>(row)
    });
    let row = row.map_err(cluster_error)?;
    write_stderr(&format!("the crawl '{}' is ready: turns of {} pages", row.plan.name, row.plan.turn_pages));
    Ok(exit::FINISHED)
}

fn stop_crawl(address: &str, name: &str) -> Result<u8, CliError> {
    let (connector, name) = (connector(address)?, crawl_name(name)?);
    let before = runtime()?.block_on(async { stop(&mut connector.connect().await?, &name).await });
    write_stderr(&match before.map_err(cluster_error)? {
        CrawlState::Running | CrawlState::Stopped => {
            format!(
                "the crawl '{name}' is stopped: its workers end within seconds; `ndcrawl cluster resume` has it go on"
            )
        }
        CrawlState::Finished => format!("the crawl '{name}' is finished: nobody works on it"),
        CrawlState::Moving => {
            return Err(CliError::usage(format!("the crawl '{name}' is being moved"))
                .with_hint("stop `ndcrawl cluster move`; the same command goes on with it"));
        }
    });
    Ok(exit::FINISHED)
}

fn resume_crawl(address: &str, name: &str) -> Result<u8, CliError> {
    let (connector, name) = (connector(address)?, crawl_name(name)?);
    let before = runtime()?.block_on(async {
        let mut session = connector.connect().await?;
        open(&session, &name).await?;
        resume(&mut session).await
    });
    let nothing = |why: &str| CliError::new(exit::NOT_RESUMABLE, format!("the crawl '{name}' is {why}"));
    write_stderr(&match before.map_err(cluster_error)? {
        CrawlState::Stopped => format!("the crawl '{name}' goes on: start its workers"),
        CrawlState::Running => format!("the crawl '{name}' was not stopped"),
        CrawlState::Finished => return Err(nothing("finished").with_hint("make another crawl under another name")),
        CrawlState::Moving => return Err(nothing("being moved").with_hint("`ndcrawl cluster move` goes on with it")),
    });
    Ok(exit::FINISHED)
}

fn delete_crawl(address: &str, name: &str) -> Result<u8, CliError> {
    let (connector, name) = (connector(address)?, crawl_name(name)?);
    let dropped = runtime()?.block_on(async { drop_crawl(&mut connector.connect().await?, &name).await });
    dropped.map_err(cluster_error)?;
    write_stderr(&format!("the crawl '{name}' is deleted"));
    Ok(exit::FINISHED)
}
