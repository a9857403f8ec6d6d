//! *Is it the page, or the whole host?*
//!
//! A reset, a refusal, a timeout, a 429 or a 5xx may be the fault of one page. It is the host's if the host was in trouble
//! before, too. So no page is asked for while the host's last answer was one of trouble: first the host shows that it is
//! well, by its robots.txt or by a page that it had before. Between two such questions the host rests, twice as long each
//! time ([`back_off`](super::back_off)). A page that fails at a host that is well has failed by itself.
//!
//! A host that has never answered is not away but dead, and an answer of 429 is never about a page.

use std::time::Duration;

use tokio::time::Instant;

use super::request::RequestOptions;
use super::retry::{busy_status, retry_status};
use super::{FetchFailure, Fetcher, Politeness};
use ndcrawl_model::{CanonicalUrl, FailureClass, Fetched};

/// Path of the file that shows whether a host is well.
const ROBOTS: &str = "/robots.txt";

/// What the last answer of a host says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It answers.
    Well,
    /// No connection, or no answer.
    Unreached,
    /// Status 500: a program behind one address may have failed.
    Broken,
    /// The host says that it is busy, or a proxy does not reach it.
    Busy,
    /// Status 429: it is asked too often.
    Flooded,
}

impl Sign {
    /// Returns what an answer says of the host; `None` if nothing.
    pub(super) fn of(answer: &Result<Fetched, FetchFailure>) -> Option<Self> {
        use FailureClass::{Connect, Protocol, Timeout, Tls};
        match answer {
            Ok(fetched) if fetched.status == 429 => Some(Self::Flooded),
            Ok(fetched) if busy_status(fetched.status) => Some(Self::Busy),
            Ok(fetched) if retry_status(fetched.status) && fetched.status >= 500 => Some(Self::Broken),
            Ok(_) => Some(Self::Well),
            Err(failure) if failure.retryable && matches!(failure.class, Connect | Timeout | Protocol | Tls) => {
                Some(Self::Unreached)
            }
            Err(_) => None,
        }
    }
}

/// The trouble that a host is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trouble {
    /// How long it has lasted at the last answer, without the time for which the host wanted to be left alone.
    lasted: Duration,
    latest: Instant,
    last: Sign,
}

/// What is known of a host's health.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) trouble: Option<Trouble>,
    /// A page that it had.
    page: Option<CanonicalUrl>,
    has_answered: bool,
    /// How much slower it is asked than it might be: the gap doubles with each level.
    slowness: u8,
    good_in_a_row: u8,
}

/// Levels of slowness. The last one multiplies the gap by 32.
const SLOWEST: u8 = 5;

/// Good answers in a row after which a host is asked faster again.
const GOOD_FOR_FASTER: u8 = 20;

/// The gap of a host without one, once it is asked too often.
const LEAST_GAP: Duration = Duration::from_millis(100);

impl Record {
    fn note(&mut self, sign: Sign, url: &CanonicalUrl, is_page: bool, asked: Option<Duration>) {
        self.has_answered |= sign != Sign::Unreached;
        if sign != Sign::Well {
            let latest = Instant::now();
            let lasted = self
                .trouble
                .map_or(Duration::ZERO, |trouble| trouble.lasted + latest.saturating_duration_since(trouble.latest));
            let latest = latest + asked.unwrap_or_default();
            self.trouble = Some(Trouble { lasted, latest, last: sign });
            (self.slowness, self.good_in_a_row) = (SLOWEST.min(self.slowness + u8::from(sign == Sign::Flooded)), 0);
            return;
        }
        let is_robots = url.as_url().path() == ROBOTS;
        // The file may come from a proxy that does not reach the program behind.
        if is_robots && self.trouble.is_some_and(|trouble| matches!(trouble.last, Sign::Busy | Sign::Flooded)) {
            return;
        }
        self.trouble = None;
        if is_page && !is_robots {
            self.page.get_or_insert_with(|| url.clone());
        }
        self.good_in_a_row += 1;
        if self.good_in_a_row >= GOOD_FOR_FASTER {
            (self.slowness, self.good_in_a_row) = (self.slowness.saturating_sub(1), 0);
        }
    }

    /// Returns the rest beyond the gap between two requests.
    pub(super) fn further_gap(&self, gap: Duration) -> Duration {
        gap.max(LEAST_GAP) * ((1 << self.slowness) - 1)
    }

    fn is_too_long_ill(&self, patience: Duration) -> bool {
        self.trouble.is_some_and(|trouble| trouble.lasted >= patience)
    }
}

impl Politeness {
    /// Records an answer of the origin. Returns the number of signs of trouble in a row.
    pub(super) fn note_health(&self, url: &CanonicalUrl, sign: Sign, is_page: bool, asked: Option<Duration>) -> u32 {
        self.with_origin(&url.origin(), |host| {
            host.health.note(sign, url, is_page, asked);
            host.strikes = if host.health.trouble.is_some() { host.strikes.saturating_add(1) } else { 0 };
            let further = host.health.further_gap(host.pace.interval());
            if !further.is_zero() {
                host.pace.rest(Instant::now() + further);
            }
            host.strikes
        })
    }

    /// Returns the number of signs of trouble in a row.
    pub(super) fn strikes(&self, origin: &str) -> u32 {
        self.health(origin, |_, strikes| strikes)
    }

    fn health<T>(&self, origin: &str, f: impl FnOnce(&Record, u32) -> T) -> T {
        self.with_origin(origin, |host| f(&host.health, host.strikes))
    }
}

/// Whether pages of a host may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostHealth {
    /// Yes.
    Well,
    /// Not before it has rested.
    Ill,
    /// Not in this run: it was in trouble longer than the patience lasts.
    GivenUp,
}

impl Fetcher {
    /// Says whether a page of this origin may be asked for. If the host was in trouble, it is asked first whether it is
    /// well: for its robots.txt, or a page that it had. `is_retry` tells that the URL was asked for before.
    pub async fn health(&self, url: &CanonicalUrl, is_retry: bool) -> HostHealth {
        let origin = url.origin();
        let (trouble, page, strikes) =
            self.0.politeness.health(&origin, |record, strikes| (record.trouble, record.page.clone(), strikes));
        if self.is_given_up(url) {
            return HostHealth::GivenUp;
        }
        let Some(Trouble { last, .. }) = trouble.filter(|_| self.is_there(&origin)) else { return HostHealth::Well };
        let question = match last {
            Sign::Well | Sign::Flooded => None,
            Sign::Unreached | Sign::Broken if !self.0.options.ignore_robots => Some(robots_of(url)),
            // Another page shows it as well as one that was there before.
            Sign::Busy if strikes < 2 && !is_retry => None,
            Sign::Unreached | Sign::Broken | Sign::Busy => page,
        };
        let Some(question) = question else { return HostHealth::Well };
        let request = RequestOptions { any_type: true, ..self.page_request() };
        // What it says is noted.
        let _ = self.ask_politely(&question, &request).await;
        let is_well = self.0.politeness.health(&origin, |record, _| record.trouble.is_none());
        if is_well { HostHealth::Well } else { HostHealth::Ill }
    }

    /// Whether the host was in trouble for longer than one is patient.
    pub fn is_given_up(&self, url: &CanonicalUrl) -> bool {
        let patience = self.0.options.host_patience;
        let origin = url.origin();
        self.is_there(&origin) && self.0.politeness.health(&origin, |record, _| record.is_too_long_ill(patience))
    }

    /// Whether the failure of the last request says nothing of its page: the host was in trouble before, or is for
    /// certain.
    pub fn is_trouble_of_host(&self, url: &CanonicalUrl) -> bool {
        let origin = url.origin();
        let is_there = self.is_there(&origin);
        self.0.politeness.health(&origin, |record, strikes| match record.trouble.map(|trouble| trouble.last) {
            Some(Sign::Flooded) => true,
            Some(Sign::Busy) => strikes > 1 || record.page.is_none(),
            Some(Sign::Unreached | Sign::Broken) => strikes > 1 && is_there,
            Some(Sign::Well) | None => false,
        })
    }

    /// Whether the host has ever answered, in this run or before.
    pub fn is_there(&self, origin: &str) -> bool {
        self.0.politeness.health(origin, |record, _| record.has_answered) || self.0.robots.is_reached(origin)
    }
}

fn robots_of(url: &CanonicalUrl) -> CanonicalUrl {
    let robots = url.as_url().join(ROBOTS).ok();
    robots.and_then(|robots| CanonicalUrl::from_canonical(robots.as_str()).ok()).unwrap_or_else(|| url.clone())
}
