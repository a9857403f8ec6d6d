//! The frontier's options.

use regex::Regex;

use ndcrawl_dust::ListedRule;
use ndcrawl_model::{OwnSlots, PartWeights};

/// Which URLs belong to the crawl, seen from its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeKind {
    /// The hosts of the seeds, whatever the scheme and port.
    #[default]
    Host,
    /// The registrable domains of the seeds; an IP address is its own.
    Domain,
    /// The hosts and directories of the seeds, whatever the scheme and port.
    Prefix,
    /// All URLs.
    Any,
}

/// The frontier's options.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which URLs belong to the crawl.
    pub scope: ScopeKind,
    /// If there are any, a URL must match one of them. Seeds need not.
    pub include: Vec<Regex>,
    /// A URL must match none of them. Seeds may.
    pub exclude: Vec<Regex>,
    /// The most links between a seed and a URL; the frontier defers URLs beyond it.
    pub depth: u16,
    /// The most pages in all; 0 for no bound.
    pub max_pages: u64,
    /// The most pages of one host, by name; 0 for no bound.
    pub max_pages_per_host: u64,
    /// The most leases of one origin at a time, at least 1.
    pub host_concurrency: usize,
    /// Whether to exclude URLs that look like traps (see [`Trap`](super::Trap)), and to close patterns of URLs that
    /// keep repeating each other.
    pub trap_guard: bool,
    /// If set, the crawl is focused: it fetches the best score first.
    pub focus: Option<FocusOptions>,
    /// Whether to leave predicted duplicates out; otherwise the frontier only measures the rules.
    pub skip_predicted: bool,
    /// Whether the crawl follows the links of duplicates. Then the frontier leaves no page out that leads to URLs which
    /// nobody has named yet.
    pub follows_duplicates: bool,
    /// Imported rules to begin with.
    pub rules: Vec<ListedRule>,
    /// Seed of all sampling.
    pub random_seed: u64,
    /// If set, the frontier has the URLs of these slots alone. Links to others are mail for their slots. Offer each seed
    /// to the frontier of its slot.
    pub own: Option<OwnSlots>,
}

/// The order of a focused crawl.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FocusOptions {
    /// The share of URLs to lease out of turn, in [0, 1]. With 0, the crawl does not try unknown hosts either.
    pub exploration: f64,
    /// The weights of the parts of a score.
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
            own: None,
        }
    }
}
