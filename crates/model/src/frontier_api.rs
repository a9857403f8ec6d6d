//! The messages between the frontier and the crawl: links offered, URLs leased, leases ended.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{
    CanonicalUrl, Clue, Deferral, Expectation, OutcomeKind, Recrawled, Relevance, SampledPrediction, UrlId, UrlState,
};

/// How a URL was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// By the user. Seeds are never out of scope.
    Seed,
    /// By a robots.txt, as a sitemap: the crawl reads it for its links. Never out of scope.
    SitemapFile,
    /// By a sitemap.
    Sitemap,
    /// By a page.
    Page,
    /// By a page that is a duplicate.
    Duplicate,
    /// By a redirect.
    Redirect,
    /// By this crawl, which revises the verdict of a page that it judged too early.
    Revision,
    /// By a sitemap that says that the page has not changed since the crawl before.
    SitemapUnchanged,
}

impl LinkKind {
    /// Whether a sitemap lists the URL as a page.
    pub fn is_listing(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapUnchanged)
    }
}

/// How a URL came to be known: the path that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    /// Links from a seed.
    pub depth: u16,
    /// The page or redirect that names the URL.
    pub referrer: Option<UrlId>,
    /// How it is named.
    pub kind: LinkKind,
    /// Redirect hops in a row that lead to it, the last one included.
    pub hops: u8,
    /// Queue order before depth: -1 for links to fetch first, 0 for most, 1 for links to fetch last.
    pub rank: i8,
}

impl Discovery {
    /// A seed.
    pub const SEED: Self = Self::new(LinkKind::Seed, None, 0);

    /// A discovery without redirects and with the usual rank.
    pub const fn new(kind: LinkKind, referrer: Option<UrlId>, depth: u16) -> Self {
        Self { depth, referrer, kind, hops: 0, rank: 0 }
    }

    /// Returns the page that names the URL by a link.
    pub fn linking_page(self) -> Option<UrlId> {
        self.referrer.filter(|_| matches!(self.kind, LinkKind::Page | LinkKind::Duplicate))
    }

    /// Whether a guess may keep the URL from being fetched: it is neither a seed nor a sitemap nor a revision.
    pub fn may_be_left_out(self) -> bool {
        !matches!(self.kind, LinkKind::Seed | LinkKind::SitemapFile | LinkKind::Revision)
    }
}

/// A URL that the crawl offers to the frontier.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where it leads.
    pub url: CanonicalUrl,
    /// The path to it.
    pub discovery: Discovery,
    /// If set, the frontier only marks the URL as seen, for this reason. A later offer without it queues the URL.
    pub only_seen: Option<Deferral>,
    /// The evidence on the naming page that the URL is on topic, in a focused crawl.
    pub clue: Option<Clue>,
}

/// The frontier's reply to one offered link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The URL's number.
    pub id: UrlId,
    /// The decision about it; `None` if it was queued, leased or done before.
    pub decision: Option<UrlState>,
}

/// A URL to fetch now.
#[derive(Clone, Debug)]
pub struct Lease {
    /// The URL's number.
    pub id: UrlId,
    /// The URL.
    pub url: CanonicalUrl,
    /// The best path to it so far.
    pub discovery: Discovery,
    /// How often the frontier has leased it, this time included.
    pub deliveries: u32,
    /// Requests made for it so far.
    pub attempts: u32,
    /// The best clues to it, in a focused crawl.
    pub clue: Option<Clue>,
    /// Its expected relevance, in a focused crawl.
    pub expectation: Option<Expectation>,
    /// The prediction that it is a duplicate, if the crawl fetches it to test the rule.
    pub sampled_prediction: Option<Box<SampledPrediction>>,
    /// What became of it, if the crawl before has kept it.
    pub recrawled: Option<Recrawled>,
}

/// What to wait for when there are fewer leases than requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing is queued and no lease is alive: the crawl is over.
    Done,
    /// A queued URL becomes due at this moment.
    Until(Instant),
    /// Only an ack, a nak or an offer can change anything.
    Event,
}

/// The frontier's reply to a request for leases.
#[derive(Clone, Debug)]
pub struct LeaseAnswer {
    /// At most as many as requested.
    pub leases: Vec<Lease>,
    /// What to wait for before the next request.
    pub wait: Wait,
}

/// The end of a lease: the URL has its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The URL.
    pub id: UrlId,
    /// Its outcome; pages count against the budgets.
    pub kind: OutcomeKind,
    /// The URL of the page that it repeats, or the target of the redirect.
    pub repeats: Option<UrlId>,
    /// The relevance of the page, in a focused crawl; `None` if it tells nothing about URLs near it.
    pub worth: Option<Relevance>,
}

/// Sizes of the frontier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontierCounts {
    /// URLs ever seen.
    pub seen: u64,
    /// URLs in a queue.
    pub queued: u64,
    /// Leases alive.
    pub leased: u64,
    /// URLs on record that are not queued.
    pub deferred: u64,
    /// URLs that a rule kept out at first sight.
    pub excluded: u64,
    /// URLs that rules predict to be duplicates.
    #[serde(default)]
    pub predicted: u64,
    /// Origins with something queued or leased.
    pub origins: u64,
    /// Pages fetched so far, as the budgets count them.
    pub pages: u64,
}
