//! The arguments of the commands under `cluster`.

use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueHint};

use super::cluster_flags::ClusterFlags;
use super::common::{ConfigSource, Verbosity};
use super::flags::KeyFlags;
use super::key_sets::JudgingKeys;
use super::value_enums::{LocalAction, named};
use crate::batch::VerdictFormat;

/// The commands under `cluster`.
#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Make the tables of a dedup run that several workers share
    #[command(args_override_self = true)]
    Init(Box<ClusterInitArguments>),
    /// Make a shared crawl from the folder of a crawl, which is left as it is; an interrupted move goes on
    Move(ClusterMoveArguments),
    /// Stop a crawl: its workers end, and can go on later
    Stop(ClusterStopArguments),
    /// Have a stopped crawl go on, as soon as workers are started again
    Resume(ClusterStopArguments),
    /// Delete a crawl with all its tables; refused while workers are at it
    Drop(ClusterDropArguments),
    /// Start and stop a database server and its standby on this machine, to try a cluster
    Local(ClusterLocalArguments),
}

/// The arguments of `cluster local`.
#[derive(Debug, Args)]
pub struct ClusterLocalArguments {
    /// What the servers are to do
    #[arg(value_name = "ACTION", value_enum)]
    pub action: LocalAction,
    /// Where their data is; both lie on one disk, so it is no place for a crawl that matters
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "ndcrawl-cluster")]
    pub folder: PathBuf,
}

/// The arguments of `cluster init`.
#[derive(Debug, Args)]
pub struct ClusterInitArguments {
    /// The servers: postgres://USER@HOST,HOST/DATABASE
    #[arg(value_name = "URL")]
    pub cluster: String,
    /// The name of the crawl in the database
    #[arg(long, value_name = "NAME", default_value = "crawl")]
    pub cluster_name: String,
    /// What is fixed for the crawl.
    #[command(flatten)]
    pub shape: ClusterShape,
    /// The flags of `dedup` that concern decisions.
    #[command(flatten)]
    pub keys: KeyFlags<JudgingKeys>,
    /// Configuration files.
    #[command(flatten)]
    pub config: ConfigSource,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// What is fixed when a crawl is made.
#[derive(Clone, Debug, Args)]
pub struct ClusterShape {
    /// Pages that are decided together
    #[arg(long, value_name = "N", default_value = "64", value_parser = turn_size())]
    pub turn: u16,
    /// Accept a server without a synchronous standby; a lost disk then loses the crawl
    #[arg(long)]
    pub one_copy: bool,
}

/// How many pages may be decided together.
fn turn_size() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=4096)
}

/// The arguments of `cluster move`.
#[derive(Debug, Args)]
pub struct ClusterMoveArguments {
    /// Output folder of the crawl
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// The servers: postgres://USER@HOST,HOST/DATABASE
    #[arg(value_name = "URL")]
    pub cluster: String,
    /// The name of the crawl in the database
    #[arg(long, value_name = "NAME", default_value = "crawl")]
    pub cluster_name: String,
    /// Most pages of the crawl from here on, those of the folder included; 0: no limit. Without it the folder's limit stays
    #[arg(long, value_name = "N")]
    pub max_pages: Option<u64>,
    /// Parts into which hosts are divided among workers; fixed for the crawl
    #[arg(long, value_name = "N", default_value = "64")]
    pub slots: NonZeroU16,
    /// Accept a server without a synchronous standby; a lost disk then loses the crawl
    #[arg(long)]
    pub one_copy: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// The arguments of `cluster stop` and `cluster resume`.
#[derive(Debug, Args)]
pub struct ClusterStopArguments {
    /// The servers: postgres://USER@HOST,HOST/DATABASE
    #[arg(value_name = "URL")]
    pub cluster: String,
    /// The name of the crawl in the database
    #[arg(long, value_name = "NAME", default_value = "crawl")]
    pub cluster_name: String,
}

/// The arguments of `cluster drop`.
#[derive(Debug, Args)]
pub struct ClusterDropArguments {
    /// The servers: postgres://USER@HOST,HOST/DATABASE
    #[arg(value_name = "URL")]
    pub cluster: String,
    /// The name of the crawl in the database; it has no default, since nothing brings the crawl back
    #[arg(long, value_name = "NAME", required = true)]
    pub cluster_name: String,
}

/// The flags of a `dedup` run that several workers share.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub struct SharedDedupFlags {
    /// Share the work with other workers over PostgreSQL (postgres://USER@HOST,HOST/DATABASE); INPUT is a manifest, a
    /// file that names the inputs, one a line
    #[arg(long, value_name = "URL")]
    pub cluster: Option<String>,
    /// With --cluster: pages that are decided together; verdicts depend on it
    #[arg(long, value_name = "N", default_value = "64", value_parser = turn_size(), requires = "cluster")]
    pub turn: u16,
    /// With --cluster: format of the verdicts; parquet with --kept parquet, else jsonl
    #[arg(long, value_name = "FORMAT", value_parser = named(&VerdictFormat::ALL, with_meaning), requires = "cluster")]
    pub verdicts: Option<VerdictFormat>,
    /// What goes with `--cluster`.
    #[command(flatten)]
    pub cluster_flags: ClusterFlags,
}

impl SharedDedupFlags {
    /// Returns what is fixed when the crawl is made.
    pub fn shape(&self) -> ClusterShape {
        ClusterShape { turn: self.turn, one_copy: self.cluster_flags.one_copy }
    }
}

fn with_meaning(format: VerdictFormat) -> PossibleValue {
    PossibleValue::new(format.name()).help(format.explain())
}
