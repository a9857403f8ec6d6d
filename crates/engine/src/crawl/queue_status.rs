//! Why origins with queued URLs are not fetched now.

use std::time::{Duration, Instant, SystemTime};

use ndcrawl_fetch::Fetcher;
use ndcrawl_frontier::{self as frontier, OriginHold};
use ndcrawl_model::{Rest, named};

/// An origin with queued URLs, and what they wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueStatus {
    /// `scheme://host:port`.
    pub origin: String,
    /// Queued URLs.
    pub queued: u64,
    /// When the first of them is due; `None` if as soon as there is room.
    pub due: Option<Instant>,
    /// What the next of them waits for.
    pub why: WaitReason,
}

named! {
    /// What the next URL of an origin waits for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WaitReason {
        /// Its turn, and room among the requests of the whole crawl.
        Turn = "turn": "its turn, and room among the requests of the whole crawl",
        /// A request in flight: the host has as many as it may have at a time.
        InFlight = "in-flight": "requests in flight: the host has as many at a time as it may have",
        /// robots.txt, which is being fetched.
        Robots = "robots": "robots.txt, which is being asked for",
        /// The politeness delay of the host.
        Gap = "gap": "the politeness gap between requests to a host",
        /// The longer delay that robots.txt asks for.
        CrawlDelay = "crawl-delay": "the longer gap that robots.txt asks for with Crawl-delay",
        /// The politeness delay of the IP address.
        AddressGap = "address-gap": "the politeness gap between requests to an IP address",
        /// The crawler's own back-off after failures.
        BackOff = "back-off": "a back-off after failures",
        /// The pause that the host asked for.
        RetryAfter = "retry-after": "the time that the host asked for with Retry-After",
        /// The retry of URLs that failed; there are no others.
        Retry = "retry": "another try of URLs that failed; no others wait",
        /// Nothing: the host's page budget is used up.
        Budget = "budget": "nothing that will come: the host has had its pages",
        /// The next run: the host was in trouble for too long.
        HostTrouble = "host-trouble": "the next run: the host was in trouble for longer than --host-patience",
    }
}

impl From<Rest> for WaitReason {
    fn from(rest: Rest) -> Self {
        match rest {
            Rest::Gap => Self::Gap,
            Rest::CrawlDelay => Self::CrawlDelay,
            Rest::AddressGap => Self::AddressGap,
            Rest::BackOff => Self::BackOff,
            Rest::RetryAfter => Self::RetryAfter,
        }
    }
}

/// The shortest rest to speak of, when a crawl begins or ends.
const NOTEWORTHY: Duration = Duration::from_secs(2);

/// An origin that rests longer than between two requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestingOrigin {
    /// `scheme://host:port`.
    pub origin: String,
    /// When the next request may start.
    pub until: SystemTime,
    /// What it waits for.
    pub why: WaitReason,
}

impl RestingOrigin {
    fn of(origin: String, due: Instant, why: WaitReason) -> Option<Self> {
        let left = due.saturating_duration_since(Instant::now());
        (left >= NOTEWORTHY).then(|| Self { origin, until: SystemTime::now() + left, why })
    }
}

/// Returns those of the origins that rest, the one that rests longest first.
pub(super) fn resting(fetcher: &Fetcher, origins: impl Iterator<Item = String>) -> Vec<RestingOrigin> {
    let rest = |origin: String| {
        let (due, why) = fetcher.resting(&origin)?;
        RestingOrigin::of(origin, due, why.into())
    };
    let mut resting: Vec<RestingOrigin> = origins.filter_map(rest).collect();
    resting.sort_by(|a, b| b.until.cmp(&a.until).then_with(|| a.origin.cmp(&b.origin)));
    resting
}

/// Explains why an origin is held back. The frontier knows that it is, and the fetcher knows why.
pub(super) fn explained(waiting: frontier::QueuedOrigin, fetcher: &Fetcher) -> QueueStatus {
    let resting = fetcher.resting(&waiting.origin);
    let rest = resting.map(|(due, rest)| (Some(due), WaitReason::from(rest)));
    let (due, why) = match waiting.hold {
        OriginHold::Pages => (None, WaitReason::Budget),
        OriginHold::GivenUp => (None, WaitReason::HostTrouble),
        OriginHold::Leases if fetcher.is_asking_robots(&waiting.origin) => (None, WaitReason::Robots),
        OriginHold::Leases => rest.unwrap_or((None, WaitReason::InFlight)),
        OriginHold::Turn => rest.unwrap_or((None, WaitReason::Turn)),
        OriginHold::Postponed(due) => rest.unwrap_or((Some(due), WaitReason::Gap)),
        OriginHold::GivenBack(due) => match resting {
            Some((later, rest)) if later >= due => (Some(later), rest.into()),
            _ => (Some(due), WaitReason::Retry),
        },
    };
    QueueStatus { origin: waiting.origin, queued: waiting.queued, due, why }
}
