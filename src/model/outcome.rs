//! Outcomes of URLs. At the end of a crawl every discovered URL has exactly one.

use serde::{Deserialize, Serialize};

use super::{DecidedBy, Detector, Score, UrlId};

/// The outcome of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The page is unique and was stored.
    Stored,
    /// The page is a near-duplicate of a stored page.
    NearDuplicate {
        /// The URL of the stored page. `None` if an earlier crawl stored it.
        of: Option<UrlId>,
        /// The similarity of the two.
        score: Score,
        /// The similarity by the detector's second check, if it has one.
        second: Option<Score>,
        /// The detector that decided.
        detector: Detector,
        /// The evidence.
        decided_by: DecidedBy,
    },
    /// The page has the bytes or the text of a stored page.
    ExactDuplicate {
        /// The URL of the stored page. `None` if an earlier crawl stored it.
        of: Option<UrlId>,
        /// Bytes or text.
        decided_by: DecidedBy,
    },
    /// The server says that the page has not changed.
    NotModified,
    /// The server redirected to another URL, which has its own outcome.
    Redirected {
        /// The next hop.
        to: String,
        /// Its id, if it was queued.
        id: Option<UrlId>,
    },
    /// A rule excluded the page.
    Excluded(Exclusion),
    /// The page could not be fetched.
    Failed {
        /// The kind of failure.
        class: FailureClass,
        /// The cause, in words.
        detail: String,
    },
    /// Discovered, not fetched. A better path queues the URL again.
    Deferred(Deferral),
    /// A rule predicts that the page is a duplicate. The crawl did not fetch it.
    PredictedDuplicate {
        /// The URL of the stored page.
        of: UrlId,
    },
}

impl Outcome {
    /// Returns the URL of the original of a duplicate, or the target of a redirect.
    pub fn repeats(&self) -> Option<UrlId> {
        match self {
            Outcome::NearDuplicate { of, .. } | Outcome::ExactDuplicate { of, .. } => *of,
            Outcome::PredictedDuplicate { of } => Some(*of),
            Outcome::Redirected { id, .. } => *id,
            _ => None,
        }
    }

    /// Returns the outcome without its details.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Outcome::Stored => OutcomeKind::Stored,
            Outcome::NearDuplicate { .. } => OutcomeKind::NearDuplicate,
            Outcome::ExactDuplicate { .. } => OutcomeKind::ExactDuplicate,
            Outcome::NotModified => OutcomeKind::NotModified,
            Outcome::Redirected { .. } => OutcomeKind::Redirected,
            Outcome::Excluded(_) => OutcomeKind::Excluded,
            Outcome::Failed { .. } => OutcomeKind::Failed,
            Outcome::Deferred(_) => OutcomeKind::Deferred,
            Outcome::PredictedDuplicate { .. } => OutcomeKind::PredictedDuplicate,
        }
    }
}

/// An [`Outcome`] without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum OutcomeKind {
    Stored,
    NearDuplicate,
    ExactDuplicate,
    NotModified,
    Redirected,
    Excluded,
    Failed,
    Deferred,
    PredictedDuplicate,
}

impl OutcomeKind {
    /// All kinds, those of compared pages first.
    pub const ALL: [Self; 9] = [
        Self::Stored,
        Self::NearDuplicate,
        Self::ExactDuplicate,
        Self::NotModified,
        Self::Redirected,
        Self::Excluded,
        Self::Failed,
        Self::Deferred,
        Self::PredictedDuplicate,
    ];

    /// Whether it counts as a page against the budgets.
    pub fn is_page(self) -> bool {
        matches!(self, Self::Stored | Self::NearDuplicate | Self::ExactDuplicate | Self::NotModified)
    }

    /// Whether the page is stored, so that duplicates can point to it.
    pub fn is_kept(self) -> bool {
        matches!(self, Self::Stored | Self::NotModified)
    }

    /// The name used in `pages.jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Stored => "stored",
            OutcomeKind::NearDuplicate => "near-duplicate",
            OutcomeKind::ExactDuplicate => "exact-duplicate",
            OutcomeKind::NotModified => "not-modified",
            OutcomeKind::Redirected => "redirected",
            OutcomeKind::Excluded => "excluded",
            OutcomeKind::Failed => "failed",
            OutcomeKind::Deferred => "deferred",
            OutcomeKind::PredictedDuplicate => "predicted-duplicate",
        }
    }
}

/// The rule that excluded a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Exclusion {
    /// Outside the hosts, domains or prefixes of the seeds.
    Scope,
    /// No `--include` expression matches.
    Include,
    /// An `--exclude` expression matches.
    Exclude,
    /// robots.txt forbids it.
    Robots,
    /// robots.txt is unreachable, which forbids everything for now (RFC 9309, 2.3.1.4).
    RobotsUnreachable,
    /// The site asks for a longer Crawl-delay than `--max-crawl-delay` allows.
    CrawlDelay,
    /// The page asks not to be indexed. Its links were used.
    NoIndex,
    /// The media type, by header or first bytes, is not accepted.
    Type,
    /// The URL looks like a trap (repeated segments, too many segments).
    Trap,
    /// A sitemap: read for its links, but not a page.
    Sitemap,
    /// The trap guard closed the URL pattern: its pages repeat each other.
    Pattern,
    /// The page is a soft 404: the site answers the same to made-up addresses.
    Soft404,
    /// The relevance of the page is below the minimum. Its links were used.
    OffTopic,
    /// The answer has no content: status 204 or 205, or a body without anything in it.
    Empty,
}

impl Exclusion {
    /// The reason given in `pages.jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            Exclusion::Scope => "scope",
            Exclusion::Include => "include",
            Exclusion::Exclude => "exclude",
            Exclusion::Robots => "robots",
            Exclusion::RobotsUnreachable => "robots-unreachable",
            Exclusion::CrawlDelay => "crawl-delay",
            Exclusion::NoIndex => "noindex",
            Exclusion::Type => "type",
            Exclusion::Trap => "trap",
            Exclusion::Sitemap => "sitemap",
            Exclusion::Pattern => "pattern",
            Exclusion::Soft404 => "soft-404",
            Exclusion::OffTopic => "off-topic",
            Exclusion::Empty => "empty",
        }
    }
}

/// Why a discovered URL was not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deferral {
    /// Deeper than `--depth`.
    Depth,
    /// The page budget of crawl or host, or the time budget, is used up.
    Budget,
    /// Only duplicates link to it.
    DuplicateLink,
    /// Every link to it says nofollow.
    NoFollow,
    /// The external engine did not request it.
    NotAsked,
    /// No sitemap lists it, and only those are crawled.
    NotInSitemap,
}

impl Deferral {
    /// The reason given in `pages.jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            Deferral::Depth => "depth",
            Deferral::Budget => "budget",
            Deferral::DuplicateLink => "duplicate-link",
            Deferral::NoFollow => "nofollow",
            Deferral::NotAsked => "not-asked",
            Deferral::NotInSitemap => "not-in-sitemap",
        }
    }
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum FailureClass {
    Dns,
    Connect,
    Tls,
    Timeout,
    Protocol,
    Decode,
    TooLarge,
    Robots,
    PrivateAddress,
    Http,
    /// Too many redirects, or one that leads nowhere.
    Redirect,
    /// A bug of this program, caught.
    Internal,
    /// The server sent a part of the page only.
    Partial,
}

impl FailureClass {
    /// The name used in `errors.jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            FailureClass::Dns => "dns",
            FailureClass::Connect => "connect",
            FailureClass::Tls => "tls",
            FailureClass::Timeout => "timeout",
            FailureClass::Protocol => "protocol",
            FailureClass::Decode => "decode",
            FailureClass::TooLarge => "too-large",
            FailureClass::Robots => "robots",
            FailureClass::PrivateAddress => "private-address",
            FailureClass::Http => "http",
            FailureClass::Redirect => "redirect",
            FailureClass::Internal => "internal",
            FailureClass::Partial => "partial",
        }
    }
}
