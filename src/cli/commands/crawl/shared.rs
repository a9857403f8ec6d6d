//! A crawl that several processes share: made or joined, and worked on.

use std::num::NonZeroU16;

use crate::cli::args::CrawlArguments;
use crate::cli::cluster_access::{connector, crawl_name};
use crate::cli::cluster_settings::{TURN_PAGES, of_crawl};
use crate::cli::config::schema::{self, Key, Owner};
use crate::cli::config::settings::Settings;
use crate::cli::dividable::refuse_undividable_crawl;
use crate::cli::errors::{CliError, worker_error};
use crate::cli::helper::Helper;
use crate::cli::host::Host;
use crate::cli::run_crawl::runtime;
use crate::cli::run_worker::{self, SharedCrawl, shared_setup, worker_folder};
use crate::cli::seeds::Seeds;
use crate::cluster::{ClusterError, CrawlPlan, connect_checked, init, resume};

/// Makes the crawl at this address, or joins it, and works on it. Returns the exit code.
pub(super) fn run(
    address: &str,
    arguments: &CrawlArguments,
    mut settings: Settings,
    seeds: &Seeds,
    host: &Host,
) -> Result<u8, CliError> {
    let flags = &arguments.cluster_flags;
    refuse_undividable_crawl(&settings, arguments.run.recrawl)?;
    let (connector, name) = (connector(address)?, crawl_name(&flags.cluster_name)?);
    // No worker may be without a slot.
    let slots = arguments.slots;
    let slots =
        slots.max(NonZeroU16::try_from(u16::try_from(flags.workers.get()).unwrap_or(u16::MAX)).unwrap_or(slots));
    let plan = CrawlPlan {
        name,
        settings: of_crawl(&settings, seeds),
        rendering: shared_setup(&settings, seeds)?.rendering(),
        slots,
        turn_pages: TURN_PAGES,
        one_copy: flags.one_copy,
    };
    let runtime = runtime()?;
    let row = runtime.block_on(async {
        let mut session = connect_checked(&connector, flags.one_copy).await?;
        let row = init(&mut session, &plan).await?;
        resume(&mut session).await?;
        Ok::<_, ClusterError>(row)
    });
    let row = row.map_err(|error| worker_error(&error))?;
    let mut common = vec![address.to_owned(), "--cluster-name".to_owned(), flags.cluster_name.clone()];
    common.extend(["--lease".to_owned(), format!("{}ms", flags.lease.as_millis())]);
    common.extend(flags.one_copy.then(|| "--one-copy".to_owned()));
    if let Some(file) = &arguments.config.file {
        common.extend(["--config".to_owned(), file.display().to_string()]);
    }
    common.extend(arguments.config.no_config.then(|| "--no-config".to_owned()));
    let folder = settings.out.dir.clone();
    let machine = machine_settings(arguments);
    let helper = |number: usize| {
        Helper::start(number, |command| {
            command.arg("worker").args(&common).arg("--out").arg(worker_folder(&folder, number));
            // In its environment nobody else sees them.
            command.envs(machine.iter().map(|(name, value)| (name, value)));
        })
    };
    let helpers = (2..=flags.workers.get()).map(helper).collect::<Result<Vec<_>, _>>()?;
    if flags.workers.get() > 1 {
        settings.out.dir = worker_folder(&folder, 1);
    }
    run_worker::run(
        SharedCrawl { connector, row, lease: flags.lease },
        &settings,
        arguments.run.json,
        helpers,
        &runtime,
        host,
    )
}

/// Returns the settings on the command line that belong to a machine, as variables of the environment.
fn machine_settings(arguments: &CrawlArguments) -> Vec<(String, String)> {
    let given = arguments.given();
    // The folder and the port of each worker are its own.
    let is_own = |key: &Key| matches!(key.name, "dashboard.listen" | "out.dir");
    let of_machine = given.iter().filter(|value| value.key.owner == Owner::Machine && !is_own(value.key));
    of_machine.map(|value| (schema::variable_of(value.key.name), value.texts.join("\n"))).collect()
}
