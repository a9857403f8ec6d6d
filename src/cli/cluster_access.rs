//! The address and the name of a shared crawl, as the user gives them.

use crate::cli::errors::{CliError, cluster_error};
use crate::cluster::{Connector, CrawlName, ServerAddress};

/// Returns what connects to these servers.
pub(super) fn connector(address: &str) -> Result<Connector, CliError> {
    ServerAddress::from_argument(address).map(Connector::new).map_err(cluster_error)
}

/// Returns the name of a crawl.
pub(super) fn crawl_name(name: &str) -> Result<CrawlName, CliError> {
    CrawlName::parse(name).map_err(cluster_error)
}

/// Whether an argument names servers, if perhaps wrongly, and not a folder.
pub(super) fn is_address(argument: &std::path::Path) -> bool {
    argument.to_str().is_some_and(|text| text.contains("://"))
}
