//! The frontier against a naive model that looks at everything every time.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::record::{Deferral, Disposition, Exclusion, FrontierCounts, Wait};

const DEPTH: u16 = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Queued,
    Leased,
    Done,
    Excluded,
    Deferred(Deferral),
}

#[derive(Clone, Debug)]
struct Url {
    text: String,
    state: State,
    priority: (u8, u16),
    /// Place among those of its priority; what was given back stands before all others.
    arrival: Option<u64>,
    not_before: u64,
    deliveries: u32,
    attempts: u32,
}

#[derive(Clone, Default)]
struct Model {
    concurrency: u64,
    max_pages: u64,
    max_pages_per_host: u64,
    urls: Vec<Url>,
    scope: Vec<String>,
    postponed: BTreeMap<String, u64>,
    pages: BTreeMap<String, u64>,
    arrivals: u64,
}

fn origin(url: &str) -> String {
    Normaliser::default().absolute(url).unwrap().origin()
}

fn host(url: &str) -> String {
    Normaliser::default().absolute(url).unwrap().host().to_owned()
}

impl Model {
    fn offer(&mut self, link: &Link) -> Offered {
        let text = link.url.as_str();
        let is_seed = link.kind == LinkKind::Seed;
        if is_seed {
            self.scope.push(host(text));
        }
        let wanted = if !self.scope.contains(&host(text)) {
            State::Excluded
        } else if let Some(reason) = link.only_seen {
            State::Deferred(reason)
        } else if link.depth > DEPTH {
            State::Deferred(Deferral::Depth)
        } else {
            State::Queued
        };
        let place = self.urls.iter().position(|url| url.text == text);
        let disposition = match (place.map(|place| self.urls[place].state), wanted) {
            (None, State::Excluded) => Disposition::Excluded(Exclusion::Scope),
            (None, State::Deferred(reason)) => Disposition::Deferred(reason),
            (None, _) | (Some(State::Deferred(_)), State::Queued) => Disposition::Queued,
            (Some(State::Excluded), State::Queued) if is_seed => Disposition::Queued,
            (Some(State::Deferred(Deferral::DuplicateLink)), State::Deferred(Deferral::Depth)) => {
                Disposition::Deferred(Deferral::Depth)
            }
            (Some(State::Deferred(reason)), _) => Disposition::Deferred(reason),
            _ => Disposition::Seen,
        };
        let id = place.unwrap_or(self.urls.len());
        let new = Url {
            text: text.to_owned(),
            state: wanted,
            priority: (link.rank, link.depth),
            arrival: Some(self.arrivals),
            not_before: 0,
            deliveries: 0,
            attempts: 0,
        };
        self.arrivals += 1;
        if place.is_none() {
            self.urls.push(new);
        } else if disposition == Disposition::Queued {
            self.urls[id] = new;
        } else if let Disposition::Deferred(reason) = disposition {
            self.urls[id].state = State::Deferred(reason);
        }
        Offered { id: UrlId(id as u32), disposition }
    }

    fn in_state(&self, state: State) -> impl Iterator<Item = &Url> {
        self.urls.iter().filter(move |url| url.state == state)
    }

    fn leased_of(&self, name: impl Fn(&str) -> String, of: &str) -> u64 {
        self.in_state(State::Leased).filter(|url| name(&url.text) == of).count() as u64
    }

    /// When this queued URL can be leased at the earliest; `None` is never as things are.
    fn due(&self, url: &Url) -> Option<u64> {
        let (origin, host) = (origin(&url.text), host(&url.text));
        let is_full = |pages: u64, leased: u64, most: u64| most > 0 && pages + leased >= most;
        let leased = self.in_state(State::Leased).count() as u64;
        let pages = self.pages.get(&host).copied().unwrap_or(0);
        if is_full(self.pages.values().sum(), leased, self.max_pages)
            || is_full(pages, self.leased_of(self::host, &host), self.max_pages_per_host)
            || self.leased_of(self::origin, &origin) >= self.concurrency
        {
            return None;
        }
        Some(url.not_before.max(self.postponed.get(&origin).copied().unwrap_or(0)))
    }

    /// Checks that this lease was allowed and in order, and takes note of it.
    fn lease(&mut self, lease: &Lease, now: u64) {
        let url = &self.urls[lease.id.index()];
        assert_eq!(url.state, State::Queued, "leased twice, or not to be leased: {url:?}");
        assert!(self.due(url).is_some_and(|due| due <= now), "not due: {url:?}");
        let rivals = self
            .in_state(State::Queued)
            .filter(|rival| origin(&rival.text) == origin(&url.text) && rival.not_before <= now);
        for rival in rivals {
            assert!((url.priority, url.arrival) <= (rival.priority, rival.arrival), "{rival:?} goes before {url:?}");
        }
        let url = &mut self.urls[lease.id.index()];
        url.state = State::Leased;
        url.deliveries += 1;
        let got = (lease.url.as_str(), (lease.rank, lease.depth), lease.deliveries, lease.attempts);
        assert_eq!(got, (url.text.as_str(), url.priority, url.deliveries, url.attempts));
    }

    fn wait(&self, now: u64) -> Result<u64, &'static str> {
        let next = self.in_state(State::Queued).filter_map(|url| self.due(url)).min();
        match next {
            Some(due) => Ok(due.max(now)),
            None if self.in_state(State::Leased).count() == 0 => Err("done"),
            None => Err("event"),
        }
    }

    fn counts(&self) -> FrontierCounts {
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
            origins: origins.len() as u64,
            pages: self.pages.values().sum(),
        }
    }

    /// What the death of the process leaves of this state if it was committed.
    fn die(&mut self, history: &History) {
        self.postponed.clear();
        let requeued = |id: usize| history.requeued.iter().rposition(|path| path.url.index() == id);
        let urls = self.urls.len();
        for (id, url) in self.urls.iter_mut().enumerate() {
            if url.state == State::Leased {
                url.state = State::Queued;
            }
            url.not_before = 0;
            url.attempts = 0;
            url.arrival = Some(requeued(id).map_or(id, |place| urls + place) as u64);
            let left = history.leased.iter().find(|(leased, _)| leased.index() == id);
            url.deliveries = left.map_or(0, |&(_, deliveries)| deliveries);
        }
        self.arrivals = (urls + history.requeued.len()) as u64;
    }
}

#[derive(Clone, Debug)]
enum Step {
    Offer { url: usize, kind: u8, depth: u16, rank: u8 },
    Lease { most: usize },
    Ack { which: usize, is_page: bool },
    Nak { which: usize, delay: u64 },
    Postpone { url: usize, delay: u64 },
    Sleep(u64),
    Commit,
    Die,
}

fn url_text(url: usize) -> String {
    let (host, port, page) = (url % 3, 80 + url / 3 % 2, url / 6);
    format!("http://host-{host}.test:{port}/{page}")
}

const URLS: usize = 36;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..URLS, 0..20u8, 1..=DEPTH + 1, 0..2u8)
            .prop_map(|(url, kind, depth, rank)| Step::Offer { url, kind, depth, rank }),
        6 => (0..4usize).prop_map(|most| Step::Lease { most }),
        4 => (any::<usize>(), prop::bool::weighted(0.7)).prop_map(|(which, is_page)| Step::Ack { which, is_page }),
        3 => (any::<usize>(), 0..5u64).prop_map(|(which, delay)| Step::Nak { which, delay }),
        1 => (0..URLS, 0..4u64).prop_map(|(url, delay)| Step::Postpone { url, delay }),
        2 => (1..3u64).prop_map(Step::Sleep),
        2 => Just(Step::Commit),
        1 => Just(Step::Die),
    ]
}

fn options(model: &Model) -> Options {
    Options {
        depth: DEPTH,
        max_pages: model.max_pages,
        max_pages_per_host: model.max_pages_per_host,
        host_concurrency: model.concurrency as usize,
        ..Options::default()
    }
}

/// Both sides, and what a store would have of them.
struct Pair {
    bench: Bench,
    model: Model,
    now: u64,
    leases: Vec<Lease>,
    outcomes: Vec<(UrlId, bool)>,
    committed: (Model, History),
}

impl Pair {
    fn new(model: Model) -> Self {
        let mut bench = Bench::new(options(&model));
        bench.start += Duration::from_secs(1);
        let committed = (model.clone(), History::default());
        Self { bench, model, now: 0, leases: Vec::new(), outcomes: Vec::new(), committed }
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Offer { url, kind, depth, rank } => self.offer(url, kind, depth, rank),
            Step::Lease { most } => self.lease(most),
            Step::Ack { which, is_page } => self.ack(which, is_page),
            Step::Nak { which, delay } => self.nak(which, delay),
            Step::Postpone { url, delay } => {
                self.bench.postpone(&origin(&url_text(url)), self.now + delay);
                let until = self.model.postponed.entry(origin(&url_text(url))).or_default();
                *until = (*until).max(self.now + delay);
            }
            Step::Sleep(seconds) => self.now += seconds,
            Step::Commit => self.commit(),
            Step::Die => self.die(),
        }
        assert_eq!(self.bench.frontier.counts(), self.model.counts());
    }

    fn offer(&mut self, url: usize, kind: u8, depth: u16, rank: u8) {
        let mut link = link(&url_text(url), depth);
        link.rank = rank;
        match kind {
            0 => link = super::link(&url_text(url), 0),
            1..=4 => link.only_seen = Some(Deferral::DuplicateLink),
            _ => {}
        }
        let expected = self.model.offer(&link);
        assert_eq!(self.bench.offer(link), expected);
        if matches!(expected.disposition, Disposition::Excluded(_)) {
            self.outcomes.push((expected.id, false));
        }
    }

    fn lease(&mut self, most: usize) {
        let answer = self.bench.lease(most, self.now);
        assert!(answer.leases.len() <= most);
        answer.leases.iter().for_each(|lease| self.model.lease(lease, self.now));
        if answer.leases.len() < most {
            assert_ne!(self.model.wait(self.now), Ok(self.now), "something is due and was not handed out");
        }
        let wait = match answer.wait {
            Wait::Done => Err("done"),
            Wait::Event => Err("event"),
            Wait::Until(moment) => Ok(moment.duration_since(self.bench.start).as_secs()),
        };
        assert_eq!(wait, self.model.wait(self.now));
        self.leases.extend(answer.leases);
    }

    fn ack(&mut self, which: usize, is_page: bool) {
        if self.leases.is_empty() {
            return;
        }
        let lease = self.leases.swap_remove(which % self.leases.len());
        self.bench.ack(lease.id, is_page);
        self.bench.ack(lease.id, true);
        self.bench.nak(lease.clone(), 0);
        self.outcomes.push((lease.id, is_page));
        let url = &mut self.model.urls[lease.id.index()];
        url.state = State::Done;
        *self.model.pages.entry(host(&url.text)).or_default() += u64::from(is_page);
    }

    fn nak(&mut self, which: usize, delay: u64) {
        if self.leases.is_empty() {
            return;
        }
        let mut lease = self.leases.swap_remove(which % self.leases.len());
        lease.attempts += 1;
        self.bench.nak(lease.clone(), self.now + delay);
        self.bench.ack(lease.id, true);
        let url = &mut self.model.urls[lease.id.index()];
        url.state = State::Queued;
        url.attempts = lease.attempts;
        url.not_before = self.now + delay;
        url.arrival = None;
    }

    fn commit(&mut self) {
        let changes = self.bench.commit();
        let history = &mut self.committed.1;
        history.requeued.extend(changes.requeued);
        history.outcomes.append(&mut self.outcomes);
        history.leased = changes.leased;
        self.committed.0 = self.model.clone();
    }

    fn die(&mut self) {
        let (model, history) = self.committed.clone();
        self.bench = self.bench.reopen(options(&model), &history).unwrap();
        self.model = model;
        self.model.die(&history);
        self.leases.clear();
        self.outcomes.clear();
    }

    /// Fetches whatever can be fetched until the frontier says that it is over.
    fn finish(&mut self) {
        for _ in 0..10 * URLS {
            self.lease(3);
            while !self.leases.is_empty() {
                self.ack(0, true);
            }
            match self.bench.lease(0, self.now).wait {
                Wait::Done => return,
                Wait::Event => panic!("no lease is alive"),
                Wait::Until(moment) => self.now = moment.duration_since(self.bench.start).as_secs(),
            }
        }
        panic!("the crawl does not end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_frontier_does_what_the_model_does(
        concurrency in 1..3u64,
        max_pages in prop_oneof![Just(0), 1..9u64],
        max_pages_per_host in prop_oneof![Just(0), 1..6u64],
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut pair = Pair::new(Model { concurrency, max_pages, max_pages_per_host, ..Model::default() });
        for host in [0, 1] {
            pair.offer(host, 0, 0, 0);
        }
        steps.into_iter().for_each(|step| pair.run(step));
        pair.leases.clone().iter().for_each(|_| pair.nak(0, 0));
        pair.finish();
        let total: u64 = pair.model.pages.values().sum();
        prop_assert!(max_pages == 0 || total <= max_pages);
        prop_assert!(max_pages_per_host == 0 || pair.model.pages.values().all(|&pages| pages <= max_pages_per_host));
        let left: Vec<_> = pair.bench.frontier.unfinished().map(|(id, _)| id.index()).collect();
        let expected: Vec<_> = (0..pair.model.urls.len())
            .filter(|&id| matches!(pair.model.urls[id].state, State::Queued | State::Deferred(_)))
            .collect();
        prop_assert_eq!(left, expected);
    }
}
