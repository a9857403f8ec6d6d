//! What became of a URL. Every URL that was ever seen has exactly one outcome in the end.

use serde::{Deserialize, Serialize};

use super::{DecidedBy, Detector, Score, UrlId};

/// What became of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The page is unique and was kept.
    Stored,
    /// The page repeats a stored page.
    NearDuplicate {
        /// The URL of the stored page; `None` if that is one of an earlier crawl.
        of: Option<UrlId>,
        /// How similar the two are.
        score: Score,
        /// By the detector's second condition, if it has one.
        second: Option<Score>,
        /// Who says so.
        detector: Detector,
        /// By which evidence.
        decided_by: DecidedBy,
    },
    /// The page has the bytes or the text of a stored page.
    ExactDuplicate {
        /// The URL of the stored page; `None` if that is one of an earlier crawl.
        of: Option<UrlId>,
        /// Bytes or text.
        decided_by: DecidedBy,
    },
    /// The server says that the page is as it was.
    NotModified,
    /// The server named another URL, which has an outcome of its own.
    Redirected {
        /// The next hop.
        to: String,
        /// Its number, if it was not left alone.
        id: Option<UrlId>,
    },
    /// A rule kept the page out.
    Excluded(Exclusion),
    /// The page could not be had.
    Failed {
        /// The kind of failure.
        class: FailureClass,
        /// What happened, in words.
        detail: String,
    },
    /// Seen, not fetched. A better path queues the URL again.
    Deferred(Deferral),
    /// A rule predicts that the page repeats a stored page. The crawl did not fetch it.
    PredictedDuplicate {
        /// The URL of the stored page.
        of: UrlId,
    },
}

impl Outcome {
    /// The URL of the page that a duplicate repeats, or the target of a redirect.
    pub fn repeats(&self) -> Option<UrlId> {
        match self {
            Outcome::NearDuplicate { of, .. } | Outcome::ExactDuplicate { of, .. } => *of,
            Outcome::PredictedDuplicate { of } => Some(*of),
            Outcome::Redirected { id, .. } => *id,
            _ => None,
        }
    }

    /// The outcome without its particulars.
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

/// An [`Outcome`] without its particulars.
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
    /// All of them, those of pages that were compared first.
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

    /// Whether the page is kept: what repeats it points to it.
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

/// The rule that kept a page out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Exclusion {
    /// Outside the hosts, domains or prefixes of the seeds.
    Scope,
    /// No `--include` expression matches.
    Include,
    /// An `--exclude` expression matches.
    Exclude,
    /// robots.txt says no.
    Robots,
    /// robots.txt could not be had, which means no for the time being (RFC 9309, 2.3.1.4).
    RobotsUnreachable,
    /// The site asks for a longer Crawl-delay than `--max-crawl-delay` allows.
    CrawlDelay,
    /// The page asks not to be indexed. Its links were used.
    NoIndex,
    /// The media type, by the header or the first bytes, is not asked for.
    Type,
    /// The URL looks like a trap (repeated segments, too many segments).
    Trap,
    /// A sitemap: read for its links, no page itself.
    Sitemap,
    /// The URL belongs to a pattern whose pages keep repeating each other.
    Pattern,
    /// The page says no more than what the site answers to addresses that do not exist.
    Soft404,
    /// The page has less to do with the topic than is asked for. Its links were used.
    OffTopic,
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
        }
    }
}

/// Why a URL was seen and not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deferral {
    /// Deeper than `--depth`.
    Depth,
    /// The crawl or the host has had its pages, or time was up.
    Budget,
    /// Only duplicates name it.
    DuplicateLink,
    /// Every link to it says nofollow.
    NoFollow,
    /// The engine that decides what comes next has not asked for it.
    NotAsked,
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
    /// A fault of this program, caught.
    Internal,
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
        }
    }
}
