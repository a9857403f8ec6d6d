//! The arguments of `worker`.

use std::time::Duration;

use clap::{Args, ValueHint};

use super::common::{ConfigSource, Verbosity};
use super::flags::KeyFlags;
use super::key_sets::MachineKeys;
use crate::cli::config::source::GivenValue;
use crate::cli::config::units::parse_duration;

/// The arguments of `worker`.
#[derive(Debug, Args)]
pub struct WorkerArguments {
    /// The servers of the cluster: postgres://USER@HOST,HOST/DATABASE
    #[arg(value_name = "URL", value_hint = ValueHint::Url)]
    pub cluster: String,
    /// The name of the crawl in the database
    #[arg(long, value_name = "NAME", default_value = "crawl")]
    pub cluster_name: String,
    /// How long this worker lives without an answer of the database; then others take its hosts
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub lease: Duration,
    /// Accept a server without a synchronous standby, as the crawl does
    #[arg(long)]
    pub one_copy: bool,
    /// Flags that set keys of this machine. Those of the crawl come from the crawl.
    #[command(flatten)]
    pub keys: KeyFlags<MachineKeys>,
    /// Configuration files.
    #[command(flatten)]
    pub config: ConfigSource,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}

impl WorkerArguments {
    /// Returns the values that the command line sets.
    pub fn given(&self) -> Vec<GivenValue> {
        let mut given = self.keys.given.clone();
        given.extend(self.verbosity.given());
        given
    }
}
