//! Outcomes of URLs. At the end of a crawl every discovered URL has exactly one.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{DecidedBy, Detector, Difference, NotRequested, Score, UrlId};
use crate::named;

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
        /// What either page says for itself, if that was compared.
        difference: Option<Difference>,
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
    /// The page has not changed: by the server, by its bytes, or by what spared the request.
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

named! {
    /// An [`Outcome`] without its details.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[allow(missing_docs)]
    pub enum OutcomeKind {
        Stored = "stored",
        NearDuplicate = "near-duplicate",
        ExactDuplicate = "exact-duplicate",
        NotModified = "not-modified",
        Redirected = "redirected",
        Excluded = "excluded",
        Failed = "failed",
        #[default]
        Deferred = "deferred",
        PredictedDuplicate = "predicted-duplicate",
    }
}

impl OutcomeKind {
    /// Whether it counts as a page against the budgets.
    pub fn is_page(self) -> bool {
        matches!(self, Self::Stored | Self::NearDuplicate | Self::ExactDuplicate | Self::NotModified)
    }

    /// Whether the page is stored, so that duplicates can point to it.
    pub fn is_kept(self) -> bool {
        matches!(self, Self::Stored | Self::NotModified)
    }
}

named! {
    /// The rule that excluded a page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[allow(missing_docs)]
    pub enum Exclusion {
        /// Outside the hosts, domains or prefixes of the seeds.
        Scope = "scope": "outside the scope of the seeds (--scope)",
        /// No `--include` expression matches.
        Include = "include": "no --include expression matches it",
        /// An `--exclude` expression matches.
        Exclude = "exclude": "an --exclude expression matches it",
        /// robots.txt forbids it.
        Robots = "robots": "robots.txt disallows it",
        /// robots.txt is unreachable, which forbids everything for now (RFC 9309, 2.3.1.4).
        RobotsUnreachable = "robots-unreachable": "robots.txt is unreachable, which disallows everything for now",
        /// The site asks for a longer Crawl-delay than `--max-crawl-delay` allows.
        CrawlDelay = "crawl-delay": "its robots.txt sets a longer Crawl-delay than --max-crawl-delay",
        /// The page asks not to be indexed. Its links were used.
        NoIndex = "noindex": "the page is marked noindex; its links were followed",
        /// The media type, by header or first bytes, is not accepted.
        Type = "type": "its media type, by header or first bytes, is not accepted (--accept-type)",
        /// The URL looks like a trap (repeated segments, too many segments).
        Trap = "trap": "it looks like a crawler trap: repeated or too many path segments (--trap-guard)",
        /// A sitemap: read for its links, but not a page.
        Sitemap = "sitemap": "a sitemap: read for its links only",
        /// The trap guard closed the URL pattern: its pages repeat each other.
        Pattern = "pattern": "its URL pattern yields duplicates only (--trap-guard)",
        /// The page is a soft 404: the site answers the same to made-up addresses.
        Soft404 = "soft-404": "it equals the response to a made-up URL (--soft-404)",
        /// The relevance of the page is below the minimum. Its links were used.
        OffTopic = "off-topic": "its relevance to the topic is below --focus-min; its links were followed",
        /// The answer has no content: status 204 or 205, or a body without anything in it.
        Empty = "empty": "the answer has no content",
    }
}

named! {
    /// Why a discovered URL was not fetched.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Deferral {
        /// Deeper than `--depth`.
        Depth = "depth": "it is deeper than --depth",
        /// The page budget of crawl or host, or the time budget, is used up.
        Budget = "budget": "the page or time limit of the crawl or host was reached",
        /// Only duplicates link to it.
        DuplicateLink = "duplicate-link": "only duplicates link to it (--duplicate-links follow fetches it)",
        /// Every link to it says nofollow.
        NoFollow = "nofollow": "every link to it is marked nofollow",
        /// The external engine did not request it.
        NotAsked = "not-asked": "the engine spider skipped it (--engine frontier takes every link)",
        /// No sitemap lists it, and only those are crawled.
        NotInSitemap = "not-in-sitemap": "no sitemap lists it (--sitemaps on follows links, too)",
        /// Its host was in trouble for too long. The next run asks it again.
        HostTrouble = "host-trouble": "its host was in trouble for longer than --host-patience; the same command asks it again",
    }
}

named! {
    /// The kind of a failure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[allow(missing_docs)]
    pub enum FailureClass {
        Dns = "dns": "the name of the host has no address",
        Connect = "connect": "no connection to the server",
        Tls = "tls": "no secure connection: certificate or protocol",
        Timeout = "timeout": "no answer in time (--timeout)",
        Protocol = "protocol": "an answer that is no HTTP",
        Decode = "decode": "a body that is not encoded as its header says",
        TooLarge = "too-large": "larger than a limit allows",
        Robots = "robots": "robots.txt could not be fetched",
        PrivateAddress = "private-address": "a private address (--allow-net allows it)",
        Http = "http": "the status is an error",
        /// Too many redirects, or one that leads nowhere.
        Redirect = "redirect": "too many redirects, or one that leads nowhere",
        /// A bug of this program, caught.
        Internal = "internal": "a fault of this program",
        /// The server sent a part of the page only.
        Partial = "partial": "only a part of the page was sent",
    }
}

/// Why a URL was excluded, was deferred, failed, or was not requested again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Reason {
    Excluded(Exclusion),
    Deferred(Deferral),
    Failed(FailureClass),
    NotRequested(NotRequested),
}

impl Reason {
    /// Returns all reasons.
    pub fn all() -> impl Iterator<Item = Self> {
        let excluded = Exclusion::ALL.into_iter().map(Self::Excluded);
        let deferred = Deferral::ALL.into_iter().map(Self::Deferred);
        let failed = FailureClass::ALL.into_iter().map(Self::Failed);
        excluded.chain(deferred).chain(failed).chain(NotRequested::ALL.into_iter().map(Self::NotRequested))
    }

    /// Returns the outcome that it belongs to.
    pub fn outcome(self) -> OutcomeKind {
        match self {
            Self::Excluded(_) => OutcomeKind::Excluded,
            Self::Deferred(_) => OutcomeKind::Deferred,
            Self::Failed(_) => OutcomeKind::Failed,
            Self::NotRequested(_) => OutcomeKind::NotModified,
        }
    }

    /// The name used in `pages.jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Excluded(rule) => rule.name(),
            Self::Deferred(deferral) => deferral.name(),
            Self::Failed(class) => class.name(),
            Self::NotRequested(why) => why.name(),
        }
    }

    /// Says in words what it means, and which flag decides.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Excluded(rule) => rule.explain(),
            Self::Deferred(deferral) => deferral.explain(),
            Self::Failed(class) => class.explain(),
            Self::NotRequested(why) => why.explain(),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Reason {
    /// Finds a reason by its name. `robots` is an exclusion: no version writes it for a failure.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::all().find(|reason| reason.name() == name);
        known.ok_or_else(|| D::Error::custom(format!("unknown reason '{name}'")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TextError;

    #[test]
    fn a_reason_is_found_by_the_name_that_it_is_written_by() {
        for reason in Reason::all().filter(|reason| *reason != Reason::Failed(FailureClass::Robots)) {
            let text = serde_json::to_string(&reason).unwrap();
            assert_eq!(text, format!("\"{}\"", reason.name()));
            assert_eq!(serde_json::from_str::<Reason>(&text).unwrap(), reason);
        }
        assert!(serde_json::from_str::<Reason>("\"?\"").is_err());
        for kind in OutcomeKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        for error in TextError::ALL {
            assert_eq!(serde_json::to_value(error).unwrap(), error.name());
        }
    }
}
