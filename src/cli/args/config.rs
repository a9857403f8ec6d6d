//! The arguments of `config show` and `config init`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::common::ConfigSource;
use super::flags::KeyFlags;

/// The commands under `config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every setting in force and its source
    #[command(args_override_self = true)]
    Show(Box<ShowArguments>),
    /// Write a commented configuration file with all defaults
    Init {
        /// File to write; - is stdout
        #[arg(default_value = "ndcrawl.toml", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
}

/// The arguments of `config show`: the flags of `crawl` that set keys.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Flags that set keys.
    #[command(flatten)]
    pub keys: KeyFlags,
    /// Configuration files.
    #[command(flatten)]
    pub config: ConfigSource,
    /// Print one JSON object that maps keys to value and source
    #[arg(long)]
    pub json: bool,
}
