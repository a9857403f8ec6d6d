//! The flags of crawls and of `dedup` runs that several processes share.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;

use crate::cli::config::units::parse_duration;

/// What `--cluster` of a crawl and of `dedup` have in common.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterFlags {
    /// With --cluster: the name of the crawl in the database
    ///
    /// Letters, digits and _, so that one database may hold several crawls.
    /// Example: --cluster-name blogs
    #[arg(verbatim_doc_comment, long, value_name = "NAME", default_value = "crawl", requires = "cluster")]
    pub cluster_name: String,
    /// With --cluster: start N workers on this machine
    ///
    /// 1, since one process uses all cores for fetching and reading.
    /// Example: --workers 3
    #[arg(verbatim_doc_comment, long, value_name = "N", default_value = "1", requires = "cluster")]
    pub workers: NonZeroUsize,
    /// With --cluster: how long a worker lives without an answer of the database; then others take its part
    ///
    /// 10s, so that a short trouble of the network costs nothing.
    /// Example: --lease 30s
    #[arg(verbatim_doc_comment, long, value_name = "TIME", default_value = "10s", value_parser = parse_duration, requires = "cluster")]
    pub lease: Duration,
    /// With --cluster: accept a server without a synchronous standby; a lost disk then loses the crawl
    ///
    /// Off, since a crawl may have taken days.
    /// Example: --one-copy
    #[arg(verbatim_doc_comment, long, requires = "cluster")]
    pub one_copy: bool,
}
