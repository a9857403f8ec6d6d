//! The arguments of `crawl`.

#[cfg(feature = "cluster")]
use std::num::NonZeroU16;

use clap::{Args, ValueHint};

#[cfg(feature = "cluster")]
use super::cluster_flags::ClusterFlags;
use super::common::{ConfigSource, Verbosity};
use super::flags::KeyFlags;
use crate::cli::config::schema;
use crate::cli::config::source::{GivenValue, Source};

/// The arguments of `crawl`.
#[derive(Debug, Args)]
pub struct CrawlArguments {
    /// Start from these URLs
    ///
    /// Without a scheme, https is tried first, then http.
    /// Example: ndcrawl example.org www.example.net/docs/
    #[arg(verbatim_doc_comment, value_name = "URL", help_heading = "Input", value_hint = ValueHint::Url)]
    pub urls: Vec<String>,
    /// Flags that set keys.
    #[command(flatten)]
    pub keys: KeyFlags,
    /// Configuration files.
    #[command(flatten)]
    pub config: ConfigSource,
    /// Share the crawl with other workers over PostgreSQL, as postgres://USER@HOST,HOST/DATABASE
    ///
    /// The first worker makes the crawl, others with the same settings join it.
    /// Without it, this process crawls alone.
    /// Example: --cluster postgres://crawler@db1,db2/crawls
    #[cfg(feature = "cluster")]
    #[arg(verbatim_doc_comment, long, value_name = "URL", help_heading = "Cluster")]
    pub cluster: Option<String>,
    /// What goes with `--cluster`.
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub cluster_flags: ClusterFlags,
    /// With --cluster: the parts into which the hosts of a crawl are divided; at least the number of workers, fixed for the crawl
    ///
    /// 64 parts are even enough for a dozen workers.
    /// Example: --slots 256
    #[cfg(feature = "cluster")]
    #[arg(
        verbatim_doc_comment,
        long,
        value_name = "N",
        default_value = "64",
        requires = "cluster",
        help_heading = "Cluster"
    )]
    pub slots: NonZeroU16,
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
    ///
    /// Without it, an unfinished crawl is resumed if there is one. Scripts use it to notice that there is none (exit code 5).
    /// Example: --resume
    #[arg(verbatim_doc_comment, long, help_heading = "Output", conflicts_with = "fresh")]
    pub resume: bool,
    /// Crawl again after a finished crawl, with conditional requests
    ///
    /// Off, since a finished crawl is left alone. The crawl before moves to earlier/.
    /// Example: --recrawl
    #[arg(verbatim_doc_comment, long, help_heading = "Output", conflicts_with_all = ["resume", "fresh"])]
    pub recrawl: bool,
    /// Start a new crawl; fail if the output folder is not empty
    ///
    /// Off, since the same command resumes. Nothing is overwritten without --force.
    /// Example: --fresh
    #[arg(verbatim_doc_comment, long, help_heading = "Output")]
    pub fresh: bool,
    /// With --fresh: delete the crawl in the output folder first
    ///
    /// Off, since a crawl may have taken days.
    /// Example: --fresh --force
    #[arg(verbatim_doc_comment, long, help_heading = "Output", requires = "fresh")]
    pub force: bool,
    /// Add these seeds to the crawl in the output folder, whose seeds are others
    ///
    /// Off, so that two sites do not become one crawl by mistake.
    /// Example: --add https://b.example/
    #[arg(verbatim_doc_comment, long, help_heading = "Output", conflicts_with = "fresh")]
    pub add: bool,
    /// Print the plan and exit; fetch and write nothing
    ///
    /// Off. It shows seeds, limits and settings, and who set them.
    /// Example: --dry-run
    #[arg(verbatim_doc_comment, long, help_heading = "Output")]
    pub dry_run: bool,
    /// Print the summary (or the plan) as one JSON object
    ///
    /// Off: text is for people. Progress goes to stderr either way.
    /// Example: --json
    #[arg(verbatim_doc_comment, long, help_heading = "Output")]
    pub json: bool,
}
