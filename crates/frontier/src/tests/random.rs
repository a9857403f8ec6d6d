//! Random histories of the frontier, against the model.

use proptest::prelude::*;

use super::model::{DEPTH, Model, State, origin};
use super::*;
use ndcrawl_model::{Deferral, Wait};

#[derive(Clone, Debug)]
enum Step {
    Offer { url: usize, kind: u8, depth: u16, rank: i8 },
    Lease { most: usize },
    Ack { which: usize, is_page: bool },
    Nak { which: usize, delay: u64 },
    Revise { which: usize },
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
        8 => (0..URLS, 0..20u8, 1..=DEPTH + 1, -1..2i8)
            .prop_map(|(url, kind, depth, rank)| Step::Offer { url, kind, depth, rank }),
        6 => (0..4usize).prop_map(|most| Step::Lease { most }),
        4 => (any::<usize>(), prop::bool::weighted(0.7)).prop_map(|(which, is_page)| Step::Ack { which, is_page }),
        3 => (any::<usize>(), 0..5u64).prop_map(|(which, delay)| Step::Nak { which, delay }),
        2 => any::<usize>().prop_map(|which| Step::Revise { which }),
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

/// Both sides, and what a store would hold of them.
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
            Step::Revise { which } => self.revise(which),
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

    fn offer(&mut self, url: usize, kind: u8, depth: u16, rank: i8) {
        let mut link = link(&url_text(url), depth);
        link.discovery.rank = rank;
        match kind {
            0 => link = super::link(&url_text(url), 0),
            1..=4 => link.only_seen = Some(Deferral::DuplicateLink),
            _ => {}
        }
        let expected = self.model.offer(&link);
        assert_eq!(self.bench.offer(link), expected);
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
        self.model.ack(lease.id, is_page);
    }

    fn revise(&mut self, which: usize) {
        let urls = self.model.urls.iter().enumerate();
        let pages: Vec<usize> =
            urls.filter(|(_, url)| url.state == State::Done && url.is_page).map(|(id, _)| id).collect();
        if let Some(place) = which.checked_rem(pages.len()) {
            let id = UrlId(pages[place] as u32);
            self.bench.frontier.revise(vec![id, id]).unwrap();
            self.model.revise(id);
        }
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
        history.add_paths(&changes);
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

    /// Fetches until the frontier says that the crawl is over.
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
            .filter(|&id| matches!(pair.model.urls[id].state, State::Queued | State::Deferred(_) | State::Excluded))
            .collect();
        prop_assert_eq!(left, expected);
    }
}
