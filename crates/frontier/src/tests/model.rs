//! A naive model of the frontier that scans everything every time.

use std::collections::BTreeMap;

use super::*;
use ndcrawl_model::{Deferral, Exclusion, FrontierCounts, UrlState};

pub(super) const DEPTH: u16 = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    Queued,
    Leased,
    Done,
    Excluded,
    Deferred(Deferral),
}

#[derive(Clone, Debug)]
pub(super) struct Url {
    pub(super) text: String,
    pub(super) state: State,
    pub(super) priority: (i8, u16),
    /// Place among those of its priority; a URL that was given back stands before all others.
    pub(super) arrival: Option<u64>,
    pub(super) not_before: u64,
    pub(super) deliveries: u32,
    pub(super) attempts: u32,
    /// Whether it was a page.
    pub(super) is_page: bool,
    /// Whether it was ever queued for a new verdict: while it is queued or leased, its page is counted.
    pub(super) is_revised: bool,
}

impl Url {
    /// Its place in the queue of its origin.
    fn place(&self) -> ((i8, u16), Option<u64>) {
        (if self.is_revised { (i8::MIN, 0) } else { self.priority }, self.arrival)
    }
}

#[derive(Clone, Default)]
pub(super) struct Model {
    pub(super) concurrency: u64,
    pub(super) max_pages: u64,
    pub(super) max_pages_per_host: u64,
    pub(super) urls: Vec<Url>,
    pub(super) scope: Vec<String>,
    pub(super) postponed: BTreeMap<String, u64>,
    pub(super) pages: BTreeMap<String, u64>,
    pub(super) arrivals: u64,
}

pub(super) fn origin(url: &str) -> String {
    Normalizer::default().absolute(url).unwrap().origin()
}

pub(super) fn host(url: &str) -> String {
    Normalizer::default().absolute(url).unwrap().host().to_owned()
}

impl Model {
    pub(super) fn offer(&mut self, link: &Link) -> Offered {
        let text = link.url.as_str();
        let is_seed = link.discovery.kind == LinkKind::Seed;
        if is_seed {
            self.scope.push(host(text));
        }
        let wanted = if !self.scope.contains(&host(text)) {
            State::Excluded
        } else if let Some(reason) = link.only_seen {
            State::Deferred(reason)
        } else if link.discovery.depth > DEPTH {
            State::Deferred(Deferral::Depth)
        } else {
            State::Queued
        };
        let place = self.urls.iter().position(|url| url.text == text);
        let decision = match (place.map(|place| self.urls[place].state), wanted) {
            (None, State::Excluded) => Some(UrlState::Excluded(Exclusion::Scope)),
            (None, State::Deferred(reason)) => Some(UrlState::Deferred(reason)),
            (None, _) | (Some(State::Deferred(_)), State::Queued) => Some(UrlState::Queued),
            (Some(State::Excluded), State::Queued) => Some(UrlState::Queued),
            (Some(State::Deferred(Deferral::DuplicateLink)), State::Deferred(Deferral::Depth)) => {
                Some(UrlState::Deferred(Deferral::Depth))
            }
            (Some(State::Deferred(reason)), _) => Some(UrlState::Deferred(reason)),
            _ => None,
        };
        let id = place.unwrap_or(self.urls.len());
        if let (Some(place), State::Queued | State::Deferred(Deferral::Depth)) = (place, wanted) {
            self.shorten(place, link.discovery.depth);
        }
        let new = Url {
            text: text.to_owned(),
            state: wanted,
            priority: (link.discovery.rank, link.discovery.depth),
            arrival: Some(self.arrivals),
            not_before: 0,
            deliveries: 0,
            attempts: 0,
            is_page: false,
            is_revised: false,
        };
        self.arrivals += 1;
        if place.is_none() {
            self.urls.push(new);
        } else if decision == Some(UrlState::Queued) {
            self.urls[id] = new;
        } else if let Some(UrlState::Deferred(reason)) = decision {
            if self.urls[id].state != State::Deferred(reason) {
                self.urls[id].priority = new.priority;
            }
            self.urls[id].state = State::Deferred(reason);
        }
        Offered { id: UrlId(id as u32), decision }
    }

    /// Moves a URL to a shorter path, if it is one. Its first place in the queue is lost, unless it was given back.
    fn shorten(&mut self, place: usize, depth: u16) {
        let url = &mut self.urls[place];
        let is_reached =
            matches!(url.state, State::Queued | State::Leased | State::Done | State::Deferred(Deferral::Depth));
        if is_reached && depth < url.priority.1 {
            url.priority.1 = depth;
            if url.state == State::Queued && url.arrival.is_some() && !url.is_revised {
                url.arrival = Some(self.arrivals);
            }
        }
    }

    /// Queues a page for a new verdict.
    pub(super) fn revise(&mut self, id: UrlId) {
        let url = &mut self.urls[id.index()];
        if url.state == State::Done && !url.is_revised {
            url.state = State::Queued;
            url.priority.0 = 0;
            url.arrival = Some(self.arrivals);
            (url.not_before, url.deliveries, url.attempts) = (0, 0, 0);
            url.is_revised = true;
            self.arrivals += 1;
        }
    }

    /// Takes an outcome.
    pub(super) fn ack(&mut self, id: UrlId, is_page: bool) {
        let url = &mut self.urls[id.index()];
        let pages = self.pages.entry(host(&url.text)).or_default();
        *pages = *pages + u64::from(is_page) - u64::from(url.is_page);
        (url.state, url.is_page) = (State::Done, is_page);
    }

    fn in_state(&self, state: State) -> impl Iterator<Item = &Url> {
        self.urls.iter().filter(move |url| url.state == state)
    }

    /// Counts leases that may bring a further page.
    fn leased_further(&self, is_counted: impl Fn(&Url) -> bool) -> u64 {
        self.in_state(State::Leased).filter(|url| !url.is_revised && is_counted(url)).count() as u64
    }

    /// Returns when this queued URL can be leased at the earliest; `None` is never as things stand.
    fn due(&self, url: &Url) -> Option<u64> {
        let (origin, host) = (origin(&url.text), host(&url.text));
        let is_full = |pages: u64, leased: u64, most: u64| most > 0 && pages + leased >= most;
        let leased = self.leased_further(|_| true);
        let leased_of_host = self.leased_further(|url| self::host(&url.text) == host);
        let leased_of_origin = self.in_state(State::Leased).filter(|url| self::origin(&url.text) == origin).count();
        let pages = self.pages.get(&host).copied().unwrap_or(0);
        let has_pages = is_full(self.pages.values().sum(), leased, self.max_pages)
            || is_full(pages, leased_of_host, self.max_pages_per_host);
        if leased_of_origin as u64 >= self.concurrency || (has_pages && !url.is_revised) {
            return None;
        }
        Some(url.not_before.max(self.postponed.get(&origin).copied().unwrap_or(0)))
    }

    /// Checks that this lease was allowed and in order, and records it.
    pub(super) fn lease(&mut self, lease: &Lease, now: u64) {
        let url = &self.urls[lease.id.index()];
        assert_eq!(url.state, State::Queued, "leased twice, or not to be leased: {url:?}");
        assert!(self.due(url).is_some_and(|due| due <= now), "not due: {url:?}");
        let rivals = self
            .in_state(State::Queued)
            .filter(|rival| origin(&rival.text) == origin(&url.text) && rival.not_before <= now);
        for rival in rivals.filter(|rival| rival.is_revised == url.is_revised) {
            assert!(url.place() <= rival.place(), "{rival:?} goes before {url:?}");
        }
        let first = self
            .in_state(State::Queued)
            .find(|rival| rival.is_revised && !url.is_revised && self.due(rival).is_some_and(|due| due <= now));
        assert!(first.is_none(), "{first:?} goes before {url:?}");
        let url = &mut self.urls[lease.id.index()];
        url.state = State::Leased;
        url.deliveries += 1;
        let got = (lease.url.as_str(), (lease.discovery.rank, lease.discovery.depth), lease.deliveries, lease.attempts);
        assert_eq!(got, (url.text.as_str(), url.priority, url.deliveries, url.attempts));
    }

    pub(super) fn wait(&self, now: u64) -> Result<u64, &'static str> {
        let next = self.in_state(State::Queued).filter_map(|url| self.due(url)).min();
        match next {
            Some(due) => Ok(due.max(now)),
            None if self.in_state(State::Leased).count() == 0 => Err("done"),
            None => Err("event"),
        }
    }

    pub(super) fn counts(&self) -> FrontierCounts {
        let count = |state| self.in_state(state).count() as u64;
        let active = self.urls.iter().filter(|url| matches!(url.state, State::Queued | State::Leased));
        let origins: std::collections::BTreeSet<String> = active.map(|url| origin(&url.text)).collect();
        FrontierCounts {
            seen: self.urls.len() as u64,
            queued: count(State::Queued),
            leased: count(State::Leased),
            deferred: [Deferral::Depth, Deferral::Budget, Deferral::DuplicateLink]
                .map(|reason| count(State::Deferred(reason)))
                .iter()
                .sum(),
            excluded: count(State::Excluded),
            predicted: 0,
            origins: origins.len() as u64,
            pages: self.pages.values().sum(),
        }
    }

    /// Returns what the death of the process leaves of this state, if it was committed.
    pub(super) fn die(&mut self, history: &History) {
        self.postponed.clear();
        let requeued = |id: usize| history.paths.iter().rposition(|path| path.path().url.index() == id);
        let urls = self.urls.len();
        for (id, url) in self.urls.iter_mut().enumerate() {
            if url.state == State::Leased {
                url.state = State::Queued;
            }
            url.not_before = 0;
            url.attempts = 0;
            url.arrival = Some(if url.is_revised { id } else { requeued(id).map_or(id, |place| urls + place) } as u64);
            let left = history.leased.iter().find(|(leased, _)| leased.index() == id);
            url.deliveries = left.map_or(0, |&(_, deliveries)| deliveries);
        }
        self.arrivals = (urls + history.paths.len()) as u64;
    }
}
