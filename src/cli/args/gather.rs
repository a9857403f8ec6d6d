//! The arguments of `gather`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::common::Verbosity;

/// The arguments of `gather`.
#[derive(Debug, Args)]
pub struct GatherArguments {
    /// The servers of the cluster: postgres://USER@HOST,HOST/DATABASE
    #[arg(value_name = "URL", value_hint = ValueHint::Url)]
    pub cluster: String,
    /// The name of the crawl in the database
    #[arg(long, value_name = "NAME", default_value = "crawl")]
    pub cluster_name: String,
    /// The folder to make
    #[arg(short, long, value_name = "DIR", default_value = "./ndcrawl-out", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Look for archives of workers in DIR, too: copies of their folders (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub archives: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}
