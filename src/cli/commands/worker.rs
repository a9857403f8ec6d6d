//! The command `worker`: takes part in a crawl that several processes share.

use crate::cli::args::WorkerArguments;
use crate::cli::cluster_access::{connector, crawl_name};
use crate::cli::cluster_settings::{expect_crawl, given_by_crawl};
use crate::cli::errors::{CliError, cluster_error, worker_error};
use crate::cli::host::Host;
use crate::cli::log;
use crate::cli::run_crawl::runtime;
use crate::cli::run_worker::{self, SharedCrawl, shared_setup};
use crate::cli::seeds::Seeds;
use crate::cli::startup::load_settings;
use crate::cluster::{Refusal, connect_checked, open};

/// Works until the crawl is over. Returns the exit code.
pub(super) fn run(arguments: &WorkerArguments, host: &Host) -> Result<u8, CliError> {
    let (connector, name) = (connector(&arguments.cluster)?, crawl_name(&arguments.cluster_name)?);
    let runtime = runtime()?;
    let row = runtime.block_on(async {
        let session = connect_checked(&connector, arguments.one_copy).await?;
        open(&session, &name).await
    });
    let row = row.map_err(|error| worker_error(&error))?;
    expect_crawl(&row)?;
    let mut given = arguments.given();
    given.extend(given_by_crawl(&row.plan.settings, name.text()));
    let settings = load_settings(given, &arguments.config)?;
    log::begin(&settings)?;
    let rendering = shared_setup(&settings, &Seeds::default())?.rendering();
    if rendering != row.plan.rendering {
        let refusal = Refusal::OtherCrawl { name: name.text().to_owned(), difference: "rendering" };
        return Err(cluster_error(refusal));
    }
    run_worker::run(
        SharedCrawl { connector, row, lease: arguments.lease },
        &settings,
        false,
        Vec::new(),
        &runtime,
        host,
    )
}
