//! Arguments that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::cli::config::schema;
use crate::cli::config::source::{GivenValue, Source};

/// The configuration files to read.
#[derive(Debug, Args)]
pub struct ConfigSource {
    /// Read FILE too, besides ./ndcrawl.toml and the user's file
    ///
    /// None. FILE wins over both of them; the environment and flags win over FILE.
    /// Example: --config books.toml
    #[arg(verbatim_doc_comment, long = "config", value_name = "FILE", help_heading = "Input", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Read no configuration file
    ///
    /// Off. Scripts use it so that no file of the user changes what they do.
    /// Example: --no-config
    #[arg(verbatim_doc_comment, long, help_heading = "Input", conflicts_with = "file")]
    pub no_config: bool,
}

/// The verbosity on stderr.
#[derive(Clone, Copy, Debug, Args)]
pub struct Verbosity {
    /// Log errors only and show no progress
    ///
    /// Off, since warnings name what you may want to mend.
    /// Example: -q
    #[arg(verbatim_doc_comment, short, long, help_heading = "Logging", conflicts_with = "verbose")]
    pub quiet: bool,
    /// Log what the crawl does; -vv each URL, too, -vvv what libraries say
    ///
    /// Off: progress and summary say what most people want to know.
    /// Example: -v
    #[arg(verbatim_doc_comment, short, long, help_heading = "Logging", action = clap::ArgAction::Count)]
    pub verbose: u8,
}

impl Verbosity {
    /// Returns the value of `log.level` that the flags set.
    pub fn given(&self) -> Option<GivenValue> {
        let (flag, level) = match (self.quiet, self.verbose) {
            (true, _) => ("-q", "error"),
            (_, 0) => return None,
            (_, 1) => ("-v", "debug"),
            (false, 2) => ("-vv", "trace"),
            (false, _) => ("-vvv", "all"),
        };
        let key = schema::find("log.level")?;
        Some(GivenValue { key, texts: vec![level.to_owned()], source: Source::Flag(flag.to_owned()) })
    }
}
