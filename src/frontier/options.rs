//! The frontier's settings.

use regex::Regex;

use crate::dust::ListedRule;
use crate::model::PartWeights;

/// What belongs to the crawl, seen from its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeKind {
    /// The hosts of the seeds, by name, whatever the scheme and port.
    #[default]
    Host,
    /// The registrable domains of the seeds; an address is its own.
    Domain,
    /// The hosts and directories of the seeds, whatever the scheme and port.
    Prefix,
    /// Everything.
    Any,
}

/// The frontier's settings.
#[derive(Clone, Debug)]
pub struct Options {
    /// What belongs to the crawl.
    pub scope: ScopeKind,
    /// If there are any, a URL must match one of them. Seeds need not.
    pub include: Vec<Regex>,
    /// A URL must match none of them. Seeds may.
    pub exclude: Vec<Regex>,
    /// URLs with more links between them and a seed are deferred.
    pub depth: u16,
    /// So many pages in all; 0 for no bound.
    pub max_pages: u64,
    /// So many pages of one host, by name; 0 for no bound.
    pub max_pages_per_host: u64,
    /// So many leases of one origin at a time, at least 1.
    pub host_concurrency: usize,
    /// Whether URLs that look like traps are excluded, see [`Trap`](super::Trap), and patterns of URLs that
    /// keep repeating themselves are closed.
    pub trap_guard: bool,
    /// If set, what promises most is fetched first.
    pub focus: Option<FocusOptions>,
    /// Whether URLs that a rule foretells to be duplicates are left out; otherwise rules are only measured.
    pub skip_predicted: bool,
    /// Whether the links of duplicates are followed like others: then no page is left out that leads to URLs which
    /// nobody has named yet.
    pub follows_duplicates: bool,
    /// Rules from elsewhere to begin with.
    pub rules: Vec<ListedRule>,
    /// Seed of all sampling.
    pub random_seed: u64,
}

/// In which order a focused crawl goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FocusOptions {
    /// The share of URLs that are taken out of turn, in [0, 1]. With 0, hosts of which nothing is known are not tried
    /// for their own sake either.
    pub exploration: f64,
    /// What speaks for a URL, and how much.
    pub weights: PartWeights,
}

impl Default for FocusOptions {
    fn default() -> Self {
        Self { exploration: 0.05, weights: PartWeights::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scope: ScopeKind::Host,
            include: Vec::new(),
            exclude: Vec::new(),
            depth: 5,
            max_pages: 0,
            max_pages_per_host: 10_000,
            host_concurrency: 1,
            trap_guard: true,
            focus: None,
            skip_predicted: true,
            follows_duplicates: false,
            rules: Vec::new(),
            random_seed: 0,
        }
    }
}
