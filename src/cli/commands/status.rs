//! The command `status`: prints the status of a crawl.

use crate::cli::args::StatusArguments;
use crate::cli::errors::CliError;
use crate::cli::output_dir;
use crate::cli::status_file::StatusFile;
use crate::cli::terminal::print;

/// Prints the status of a crawl, as text or JSON.
pub(super) fn run(arguments: &StatusArguments) -> Result<u8, CliError> {
    #[cfg(feature = "cluster")]
    if crate::cli::cluster_access::is_address(&arguments.dir) {
        return cluster::run(arguments);
    }
    output_dir::expect_whole(&arguments.dir)?;
    let status = StatusFile::read(&arguments.dir)?;
    if arguments.json {
        let json = serde_json::to_string(&status).map_err(anyhow::Error::from)?;
        return print(&format!("{json}\n"));
    }
    print(&status.text(jiff::Timestamp::now()))
}

#[cfg(feature = "cluster")]
mod cluster {
    use crate::cli::args::StatusArguments;
    use crate::cli::cluster_access::{connector, crawl_name};
    use crate::cli::cluster_text;
    use crate::cli::errors::{CliError, cluster_error};
    use crate::cli::run_crawl::runtime;
    use crate::cli::terminal::print;
    use crate::cluster::status;

    /// Prints the status of a crawl that several workers share.
    pub fn run(arguments: &StatusArguments) -> Result<u8, CliError> {
        let name = crawl_name(&arguments.cluster_name)?;
        let connector = connector(&arguments.dir.to_string_lossy())?;
        let found = runtime()?.block_on(async { status(&connector.connect().await?, &name).await });
        let found = found.map_err(cluster_error)?;
        if arguments.json {
            let json = serde_json::to_string(&found).map_err(anyhow::Error::from)?;
            return print(&format!("{json}\n"));
        }
        print(&cluster_text::text(&found))
    }
}
