//! The command `demo`: crawls a small site that this process serves.

use std::sync::Arc;

use crate::cli::args::{DemoArguments, RunFlags};
use crate::cli::errors::CliError;
use crate::cli::host::Host;
use crate::cli::run_crawl::{self, runtime};
use crate::cli::seeds::{Seed, Seeds};
use crate::cli::startup::defaults_with_log;
use crate::demo as demo_site;
use crate::model::Normalizer;

/// Serves a small site on loopback and crawls it with default settings.
pub(super) fn run(arguments: &DemoArguments) -> Result<u8, CliError> {
    let settings = defaults_with_log(arguments.verbosity)?;
    let runtime = runtime()?;
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
    let site = Arc::new(demo_site::DemoSite::new(0));
    let server = runtime.block_on(demo_site::serve(site)).map_err(anyhow::Error::from)?;
    let url = Normalizer::new(settings.normalise_options()).absolute(&server.url()).map_err(anyhow::Error::from)?;
    let seeds = Seeds { seeds: vec![Seed { line: "demo".to_owned(), url, fallback: None }], ..Seeds::default() };
    // The port differs each time, so there is never a crawl to resume.
    let flags = RunFlags { fresh: true, force: true, json: arguments.json, ..RunFlags::default() };
    let code = run_crawl::run(&settings, seeds, flags, &runtime, &Host::Process)?;
    runtime.block_on(server.stop()).map_err(anyhow::Error::from)?;
    Ok(code)
}
