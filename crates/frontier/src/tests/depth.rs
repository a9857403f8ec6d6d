//! The depth of a URL is that of the shortest path, whatever the order in which the paths turn up.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::HeldBack;
use ndcrawl_model::Deferral;

/// A site: what each URL names. A redirect names one URL, which is no step further.
#[derive(Clone, Debug)]
struct Site {
    links: Vec<Vec<usize>>,
    redirects: Vec<bool>,
    /// URLs below this number are seeds.
    seeds: usize,
    depth: u16,
}

impl Site {
    fn named(&self, url: usize) -> &[usize] {
        if self.redirects[url] { &self.links[url][..self.links[url].len().min(1)] } else { &self.links[url] }
    }

    /// The least number of steps to each URL that is named, by breadth-first search.
    fn distances(&self) -> BTreeMap<usize, u16> {
        let mut distances: BTreeMap<usize, u16> = (0..self.seeds).map(|seed| (seed, 0)).collect();
        let mut next: VecDeque<usize> = (0..self.seeds).collect();
        while let Some(url) = next.pop_front() {
            let distance = distances[&url];
            if distance > self.depth {
                continue;
            }
            for &named in self.named(url) {
                let behind = distance + u16::from(!self.redirects[url]);
                if distances.get(&named).is_none_or(|&known| behind < known) {
                    distances.insert(named, behind);
                    if self.redirects[url] { next.push_front(named) } else { next.push_back(named) }
                }
            }
        }
        distances
    }
}

fn text(url: usize) -> String {
    format!("http://host-{}.test/{url}", url % 3)
}

/// A crawl of a site that fetches in any order.
struct Crawl<'a> {
    site: &'a Site,
    bench: Bench,
    leases: Vec<Lease>,
    outcomes: Vec<(UrlId, bool)>,
    history: History,
    fetched: BTreeSet<usize>,
    committed: BTreeSet<usize>,
}

impl<'a> Crawl<'a> {
    fn options(site: &Site) -> Options {
        Options { depth: site.depth, host_concurrency: 3, trap_guard: false, ..Options::default() }
    }

    fn new(site: &'a Site) -> Self {
        let bench = Bench::new(Self::options(site));
        let crawl = Self {
            site,
            bench,
            leases: Vec::new(),
            outcomes: Vec::new(),
            history: History::default(),
            fetched: BTreeSet::new(),
            committed: BTreeSet::new(),
        };
        crawl.offer_seeds();
        crawl
    }

    fn offer_seeds(&self) {
        // The hosts are in scope from the first.
        for host in 0..3 {
            self.bench.offer(link(&format!("http://host-{host}.test/robots"), 0));
        }
        for seed in 0..self.site.seeds {
            self.bench.offer(link(&text(seed), 0));
        }
    }

    /// Ends one of the leases with the links of its page.
    fn fetch(&mut self, which: usize) {
        let lease = self.leases.swap_remove(which % self.leases.len());
        if let Ok(url) = lease.url.as_url().path()[1..].parse::<usize>() {
            self.fetched.insert(url);
            for &named in self.site.named(url) {
                let discovery = match self.site.redirects[url] {
                    true => Discovery {
                        hops: 1,
                        ..Discovery::new(LinkKind::Redirect, Some(lease.id), lease.discovery.depth)
                    },
                    false => Discovery::new(LinkKind::Page, Some(lease.id), lease.discovery.depth + 1),
                };
                self.bench.offer(Link { discovery, ..link(&text(named), 1) });
            }
        }
        self.bench.ack(lease.id, true);
        self.outcomes.push((lease.id, true));
    }

    fn commit(&mut self) {
        let changes = self.bench.commit();
        self.history.add_paths(&changes);
        self.history.leased = changes.leased;
        self.history.outcomes.append(&mut self.outcomes);
        self.committed = self.fetched.clone();
    }

    fn die(&mut self) {
        self.bench = self.bench.reopen(Self::options(self.site), &self.history).unwrap();
        self.leases.clear();
        self.outcomes.clear();
        self.fetched = self.committed.clone();
        self.offer_seeds();
    }

    fn step(&mut self, step: u8, which: usize) {
        match step {
            0..=3 => self.leases.extend(self.bench.lease(1 + which % 3, 0).leases),
            4..=6 if !self.leases.is_empty() => self.fetch(which),
            7 if !self.leases.is_empty() => {
                let lease = self.leases.swap_remove(which % self.leases.len());
                self.bench.nak(lease, 0);
            }
            8 => self.commit(),
            9 if which.is_multiple_of(3) => self.die(),
            _ => {}
        }
    }

    /// Fetches what is left, and compares with the search.
    fn finish(mut self) {
        loop {
            self.leases.extend(self.bench.lease(9, 0).leases);
            if self.leases.is_empty() {
                break;
            }
            self.fetch(0);
        }
        self.check();
        self.commit();
        self.bench = self.bench.reopen(Self::options(self.site), &self.history).unwrap();
        self.check();
    }

    fn check(&self) {
        let distances = self.site.distances();
        let reached = distances.iter().filter(|(_, distance)| **distance <= self.site.depth).map(|(url, _)| *url);
        assert_eq!(self.fetched, reached.collect());
        let engine_depth = |url: usize| {
            let id = self.bench.frontier.find(&text(url)).unwrap();
            (self.bench.frontier.depth(id), id)
        };
        let left: BTreeMap<UrlId, HeldBack> = self.bench.frontier.unfinished().collect();
        for (&url, &distance) in &distances {
            let (depth, id) = engine_depth(url);
            assert_eq!(depth, Some(distance), "of {url}");
            let expected = (distance > self.site.depth).then_some(HeldBack::Deferred(Deferral::Depth));
            assert_eq!(left.get(&id), expected.as_ref(), "{url}");
            if let Some(path) = self.bench.frontier.better_path(id) {
                assert_eq!(path.depth, distance, "of {url}");
            }
        }
    }
}

fn site() -> impl Strategy<Value = Site> {
    const URLS: usize = 24;
    let links = prop::collection::vec(prop::collection::vec(0..URLS, 0..4), URLS);
    let redirects = prop::collection::vec(prop::bool::weighted(0.15), URLS);
    (links, redirects, 1..3usize, 1..5u16).prop_map(|(links, redirects, seeds, depth)| Site {
        links,
        redirects,
        seeds,
        depth,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn depths_are_those_of_a_breadth_first_search(
        site in site(),
        steps in prop::collection::vec((0..10u8, any::<usize>()), 0..160),
    ) {
        let mut crawl = Crawl::new(&site);
        steps.into_iter().for_each(|(step, which)| crawl.step(step, which));
        crawl.finish();
    }
}

/// A chain of pages to a list whose items are too far away, and the hub that is nearer.
fn late_hub(depth: u16) -> (Bench, Lease, Vec<Offered>) {
    let bench = Bench::new(Options { depth, host_concurrency: 9, ..Options::default() });
    bench.offer(link("http://a.test/", 0));
    let seed = bench.lease(1, 0).leases.remove(0);
    bench.offer(link_from(seed.id, "http://a.test/hub", 1));
    bench.offer(link_from(seed.id, "http://a.test/a", 1));
    bench.ack(seed.id, true);
    let mut leases = bench.lease(2, 0).leases;
    let (chain, hub) = (leases.pop().unwrap(), leases.pop().unwrap());
    let mut page = chain;
    for (depth, name) in [(2, "b"), (3, "c"), (4, "list")] {
        bench.offer(link_from(page.id, &format!("http://a.test/{name}"), depth));
        bench.ack(page.id, true);
        page = bench.lease(1, 0).leases.remove(0);
    }
    let items = (0..3).map(|n| bench.offer(link_from(page.id, &format!("http://a.test/item{n}"), 5))).collect();
    bench.ack(page.id, true);
    (bench, hub, items)
}

#[test]
fn items_of_a_list_that_turns_out_to_be_nearer_are_brought_back() {
    for is_killed in [false, true] {
        let (bench, hub, items) = late_hub(4);
        assert!(items.iter().all(|item| item.decision == Some(UrlState::Deferred(Deferral::Depth))));
        let bench = if is_killed {
            let changes = bench.commit();
            let done = [0, 2, 3, 4, 5].map(|id| (UrlId(id), true));
            let mut history = History { outcomes: done.to_vec(), leased: changes.leased.clone(), ..History::default() };
            history.add_paths(&changes);
            let again = bench.reopen(Options { depth: 4, ..Options::default() }, &history).unwrap();
            assert_eq!(again.lease(1, 0).leases[0].id, hub.id);
            again
        } else {
            bench
        };
        bench.offer(link_from(hub.id, "http://a.test/list", 2));
        bench.ack(hub.id, true);
        assert_eq!(bench.frontier.counts().queued, 3, "killed: {is_killed}");
        let lease = bench.lease(1, 0).leases.remove(0);
        assert_eq!((lease.id, lease.discovery.depth), (items[0].id, 3));
        let list = bench.frontier.find("http://a.test/list");
        assert_eq!(lease.discovery.referrer, list, "the list itself was fetched by its longer path");
    }
}

#[test]
fn a_page_that_gets_nearer_while_it_is_fetched_names_its_links_by_the_new_depth() {
    let bench = Bench::new(Options { depth: 4, host_concurrency: 9, ..Options::default() });
    bench.offer(link("http://a.test/", 0));
    let list = bench.offer(link("http://a.test/list", 4));
    bench.lease(2, 0);
    bench.offer(link("http://a.test/list", 2));
    // The worker knows only the depth of its lease.
    let item = bench.offer(link_from(list.id, "http://a.test/item", 5));
    assert_eq!(item.decision, Some(UrlState::Queued));
    assert_eq!(bench.frontier.better_path(list.id).unwrap().depth, 2);
}

#[test]
fn a_url_that_was_given_back_gets_nearer_but_not_due_earlier() {
    let bench = Bench::new(Options::default());
    bench.offer(link("http://a.test/", 0));
    bench.ack(bench.lease(1, 0).leases[0].id, true);
    bench.offer(link("http://a.test/slow", 4));
    let slow = bench.lease(1, 0).leases.remove(0);
    bench.nak(slow.clone(), 9);
    bench.offer(link("http://a.test/other", 3));
    bench.offer(link("http://a.test/slow", 2));
    let other = bench.lease(1, 1).leases.remove(0);
    assert_eq!(other.url.as_url().path(), "/other");
    bench.ack(other.id, true);
    assert!(bench.lease(1, 8).leases.is_empty());
    let again = bench.lease(1, 9).leases.remove(0);
    assert_eq!((again.id, again.discovery.depth, again.deliveries), (slow.id, 2, 2));
}

#[test]
fn a_shorter_path_changes_neither_rank_nor_the_kind_of_a_sitemap() {
    let bench = Bench::new(Options { depth: 9, ..Options::default() });
    bench.offer(link("http://a.test/", 0));
    let last = Link {
        discovery: Discovery { rank: 1, ..link("http://a.test/last", 5).discovery },
        ..link("http://a.test/last", 5)
    };
    bench.offer(last);
    let map = Discovery::new(LinkKind::SitemapFile, None, 4);
    bench.offer(Link { discovery: map, ..link("http://a.test/map.xml", 4) });
    bench.offer(link("http://a.test/last", 1));
    bench.offer(link("http://a.test/map.xml", 3));
    let paths: Vec<_> = bench.commit().shortened.into_iter().map(|path| path.discovery).collect();
    assert_eq!(paths.iter().map(|path| (path.depth, path.rank)).collect::<Vec<_>>(), [(1, 1), (3, 0)]);
    assert_eq!(paths[1].kind, LinkKind::SitemapFile);
}

#[test]
fn a_link_that_is_not_followed_is_no_path() {
    let bench = Bench::new(Options { depth: 4, ..Options::default() });
    bench.offer(link("http://a.test/", 0));
    let deep = bench.offer(link("http://a.test/deep", 4));
    bench.offer(Link { only_seen: Some(Deferral::NoFollow), ..link("http://a.test/deep", 1) });
    assert_eq!(bench.frontier.depth(deep.id), Some(4));
    let seen = bench.offer(Link { only_seen: Some(Deferral::NoFollow), ..link("http://a.test/seen", 1) });
    assert_eq!(bench.offer(link("http://a.test/seen", 3)).decision, Some(UrlState::Queued));
    assert_eq!(bench.frontier.depth(seen.id), Some(3));
}

#[test]
fn a_later_seed_brings_back_what_lies_behind_it() {
    let bench = Bench::new(Options { depth: 2, ..Options::default() });
    let mut page = bench.offer(link("http://a.test/0", 0)).id;
    for depth in 1..4 {
        let lease = bench.lease(1, 0).leases.remove(0);
        assert_eq!(lease.id, page);
        page = bench.offer(link_from(page, &format!("http://a.test/{depth}"), depth)).id;
        bench.ack(lease.id, true);
    }
    assert!(bench.lease(1, 0).leases.is_empty(), "the last one is too deep");
    bench.offer(link("http://a.test/1", 0));
    let last = bench.lease(1, 0).leases.remove(0);
    assert_eq!((last.id, last.discovery.depth), (page, 2));
}
