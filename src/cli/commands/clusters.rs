//! The command `clusters`: lists clusters of duplicates.

use crate::cli::args::ClustersArguments;
use crate::cli::clusters::{self, Clusters};
use crate::cli::errors::CliError;
use crate::cli::terminal::print;

/// Prints the clusters of a crawl, as text or JSON lines.
pub(super) fn run(arguments: &ClustersArguments) -> Result<u8, CliError> {
    let mut found = Clusters::read(&arguments.dir, arguments.min_mwo)?;
    if let Some(host) = &arguments.host {
        found.retain_host(host);
    }
    found.sort(arguments.sort);
    found.clusters.truncate(arguments.limit.unwrap_or(usize::MAX));
    if arguments.json {
        return print(&found.json_lines().map_err(anyhow::Error::from)?);
    }
    print(&clusters::text(&found, arguments.min_mwo))
}
