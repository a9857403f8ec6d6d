//! The command `demo`: crawls a small site that this process serves.

use std::sync::Arc;

use tokio::runtime::Runtime;

use crate::cli::args::{DemoArguments, RunFlags};
use crate::cli::errors::CliError;
use crate::cli::host::Host;
use crate::cli::run_crawl::{self, runtime};
use crate::cli::seeds::{Seed, Seeds};
use crate::cli::startup::defaults_with_log;
use crate::cli::terminal::write_stderr;
use crate::demo as demo_site;
use crate::model::Normalizer;

/// Serves a small site on loopback and crawls it with default settings.
pub(super) fn run(arguments: &DemoArguments) -> Result<u8, CliError> {
    let settings = defaults_with_log(arguments.verbosity)?;
    let runtime = runtime()?;
    let site = Arc::new(demo_site::DemoSite::new(0));
    if let Some(port) = arguments.serve {
        return serve(&runtime, site, port);
    }
    let out = arguments.out.display().to_string();
    let settings = [
        ("out.dir", out.as_str()),
        ("politeness.delay", "0"),
        ("politeness.ip_delay", "0"),
        ("politeness.host_concurrency", "1"),
        ("security.allow_private", "true"),
        ("http.proxy", "none"),
    ]
    .into_iter()
    .try_fold(settings, |settings, (key, text)| settings.with(key, text))?;
    let server = runtime.block_on(demo_site::serve(site, 0)).map_err(anyhow::Error::from)?;
    let url = Normalizer::new(settings.normalise_options()).absolute(&server.url()).map_err(anyhow::Error::from)?;
    let seeds = Seeds { seeds: vec![Seed { line: "demo".to_owned(), url, fallback: None }], ..Seeds::default() };
    // The port differs each time, so there is never a crawl to resume.
    let flags = RunFlags { fresh: true, force: true, json: arguments.json, ..RunFlags::default() };
    let code = run_crawl::run(&settings, seeds, flags, &runtime, &Host::Process)?;
    runtime.block_on(server.stop()).map_err(anyhow::Error::from)?;
    Ok(code)
}

/// Serves the site until a signal ends the process.
fn serve(runtime: &Runtime, site: Arc<demo_site::DemoSite>, port: u16) -> Result<u8, CliError> {
    let server = runtime.block_on(demo_site::serve(site, port)).map_err(|error| {
        CliError::usage(format!("--serve {port}: {error}")).with_hint("choose another port, or 0 for any that is free")
    })?;
    let url = server.url();
    write_stderr(&format!(
        "a small site at {url} until Ctrl-C; in another terminal:\n\n    ndcrawl {url} --allow-net 127.0.0.1 --delay 0\n"
    ));
    runtime.block_on(std::future::pending())
}
