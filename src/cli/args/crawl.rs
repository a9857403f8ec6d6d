//! The arguments of `crawl`.

use clap::{Args, ValueHint};

use super::common::{ConfigSource, Verbosity};
use super::flags::KeyFlags;
use crate::cli::config::schema;
use crate::cli::config::source::{GivenValue, Source};

/// The arguments of `crawl`.
#[derive(Debug, Args)]
pub struct CrawlArguments {
    /// Start from these URLs
    #[arg(value_name = "URL", help_heading = "Input", value_hint = ValueHint::Url)]
    pub urls: Vec<String>,
    /// Flags that set keys.
    #[command(flatten)]
    pub keys: KeyFlags,
    /// Configuration files.
    #[command(flatten)]
    pub config: ConfigSource,
    /// Flags of this run only.
    #[command(flatten)]
    pub run: RunFlags,
    /// Verbosity.
    #[command(flatten)]
    pub verbosity: Verbosity,
}

impl CrawlArguments {
    /// Returns the values that the command line sets.
    pub fn given(&self) -> Vec<GivenValue> {
        let mut given = self.keys.given.clone();
        if let Some(key) = schema::find("seeds").filter(|_| !self.urls.is_empty()) {
            given.push(GivenValue { key, texts: self.urls.clone(), source: Source::Flag("URL".to_owned()) });
        }
        given.extend(self.verbosity.given());
        given
    }
}

/// Flags of one run, which set no key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct RunFlags {
    /// Resume an unfinished crawl; fail if there is none
    #[arg(long, help_heading = "Output", conflicts_with = "fresh")]
    pub resume: bool,
    /// Crawl again after a finished crawl, with conditional requests
    #[arg(long, help_heading = "Output", conflicts_with_all = ["resume", "fresh"])]
    pub recrawl: bool,
    /// Start a new crawl; fail if the output folder is not empty
    #[arg(long, help_heading = "Output")]
    pub fresh: bool,
    /// With --fresh: delete the crawl in the output folder first
    #[arg(long, help_heading = "Output", requires = "fresh")]
    pub force: bool,
    /// Add these seeds to the crawl in the output folder, whose seeds are others
    #[arg(long, help_heading = "Output", conflicts_with = "fresh")]
    pub add: bool,
    /// Print the plan and exit; fetch and write nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Print the summary (or the plan) as one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}
