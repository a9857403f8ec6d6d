//! Life stories of single URLs.

use std::io;

use super::*;
use crate::{HeldBack, OriginHold, QueuedOrigin, ScopeKind, Trap};
use ndcrawl_model::{Deferral, Exclusion, UrlState, Wait};

fn redirect(url: &str, from: Offered) -> Link {
    Link { discovery: Discovery { hops: 1, ..Discovery::new(LinkKind::Redirect, Some(from.id), 1) }, ..link(url, 1) }
}

fn paths(answer: &LeaseAnswer) -> Vec<&str> {
    answer.leases.iter().map(|lease| lease.url.as_url().path()).collect()
}

#[test]
fn the_redirects_of_a_seed_take_its_new_host_into_scope() {
    let bench = Bench::new(Options::default());
    let seed = bench.offer(link("http://example.com/", 0));
    let away = bench.offer(redirect("http://other.test/", seed));
    assert_eq!(away.decision, Some(UrlState::Excluded(Exclusion::Scope)));
    let hop = bench.offer(redirect("https://www.example.com/", seed));
    let last = bench.offer(redirect("https://m.example.com/", hop));
    assert_eq!((hop.decision, last.decision), (Some(UrlState::Queued), Some(UrlState::Queued)));
    let page = bench.offer(link("https://m.example.com/page", 1));
    assert_eq!(page.decision, Some(UrlState::Queued));
    let from_page = bench.offer(redirect("https://shop.example.com/", page));
    assert_eq!(from_page.decision, Some(UrlState::Excluded(Exclusion::Scope)));

    bench.commit();
    let again = bench.reopen(Options::default(), &History::default()).unwrap();
    assert_eq!(again.offer(link("https://m.example.com/new", 1)).decision, Some(UrlState::Queued));
    assert_eq!(again.offer(redirect("https://n.example.com/", last)).decision, Some(UrlState::Queued));
    assert_eq!(again.offer(link("https://shop.example.com/new", 1)).decision, from_page.decision);
}

#[test]
fn a_trap_is_excluded_unless_the_guard_is_off() {
    let trap = link("http://example.com/a/a/a/", 1);
    assert_eq!(Trap::of(&trap.url), Some(Trap::RepeatedSegments));
    for (trap_guard, expected) in [(true, Some(UrlState::Excluded(Exclusion::Trap))), (false, Some(UrlState::Queued))] {
        let bench = Bench::new(Options { trap_guard, ..Options::default() });
        bench.offer(link("http://example.com/", 0));
        assert_eq!(bench.offer(trap.clone()).decision, expected);
    }
}

#[test]
fn a_deferred_url_is_queued_by_a_better_path_and_fetched_by_it() {
    let bench = Bench::new(Options::default());
    bench.offer(link("http://a.test/", 0));
    let deep = bench.offer(link("http://a.test/deep", 6));
    assert_eq!(deep.decision, Some(UrlState::Deferred(Deferral::Depth)));
    assert_eq!(bench.offer(link("http://a.test/deep", 7)).decision, deep.decision);
    assert_eq!(bench.offer(link("http://a.test/deep", 4)).decision, Some(UrlState::Queued));
    assert_eq!(bench.offer(link("http://a.test/deep", 3)).decision, None);
    let changes = bench.commit();
    assert_eq!((changes.urls[1].discovery.depth, changes.requeued[0].discovery.depth), (6, 4));
    assert_eq!(changes.shortened[0].discovery.depth, 3);
    let seed = bench.lease(1, 0).leases.remove(0);
    bench.ack(seed.id, true);
    assert_eq!(bench.lease(1, 0).leases[0].discovery.depth, 3);
}

#[test]
fn a_run_with_another_depth_queues_and_defers_accordingly() {
    let bench = Bench::new(Options { depth: 2, ..Options::default() });
    for depth in 0..5 {
        bench.offer(link(&format!("http://a.test/{depth}"), depth));
    }
    let duplicate = Link { only_seen: Some(Deferral::DuplicateLink), ..link("http://a.test/duplicate", 3) };
    bench.offer(duplicate);
    bench.commit();
    let left = |depth| {
        let again = bench.reopen(Options { depth, ..Options::default() }, &History::default()).unwrap();
        let reason = |(id, remaining)| match remaining {
            HeldBack::Deferred(reason) => reason,
            HeldBack::Excluded | HeldBack::Closed | HeldBack::Predicted => panic!("{id} was never excluded"),
        };
        let reasons: Vec<Deferral> = again.frontier.unfinished().map(reason).collect();
        (again.frontier.counts().queued, reasons)
    };
    use Deferral::{Budget, Depth, DuplicateLink};
    assert_eq!(left(2), (3, vec![Budget, Budget, Budget, Depth, Depth, DuplicateLink]));
    assert_eq!(left(3), (4, vec![Budget, Budget, Budget, Budget, Depth, DuplicateLink]));
    assert_eq!(left(1), (2, vec![Budget, Budget, Depth, Depth, Depth, DuplicateLink]));
}

#[test]
fn what_only_duplicates_named_is_fetched_by_a_deeper_run_once_a_page_has_named_it() {
    let bench = Bench::new(Options { depth: 2, ..Options::default() });
    bench.offer(link("http://a.test/", 0));
    bench.offer(Link { only_seen: Some(Deferral::DuplicateLink), ..link("http://a.test/b", 1) });
    assert_eq!(bench.offer(link("http://a.test/b", 3)).decision, Some(UrlState::Deferred(Deferral::Depth)));
    let mut history = History::default();
    history.add_paths(&bench.commit());
    let again = bench.reopen(Options { depth: 3, ..Options::default() }, &history).unwrap();
    again.ack(again.lease(1, 0).leases[0].id, true);
    assert_eq!(again.lease(1, 0).leases[0].discovery.depth, 3);
}

#[test]
fn a_page_budget_is_not_overshot_and_the_rest_is_left_over() {
    let bench = Bench::new(Options { max_pages: 2, host_concurrency: 9, ..Options::default() });
    for n in 0..5 {
        bench.offer(link(&format!("http://a.test/{n}"), 0));
    }
    let answer = bench.lease(9, 0);
    assert_eq!((paths(&answer), answer.wait), (vec!["/0", "/1"], Wait::Event));
    bench.ack(answer.leases[0].id, false);
    bench.ack(answer.leases[1].id, true);
    let answer = bench.lease(9, 0);
    assert_eq!((paths(&answer), answer.wait), (vec!["/2"], Wait::Event));
    bench.ack(answer.leases[0].id, true);
    assert_eq!(bench.lease(9, 0).wait, Wait::Done);
    let left: Vec<_> = bench.frontier.unfinished().collect();
    let over_budget = HeldBack::Deferred(Deferral::Budget);
    assert_eq!(left, [(UrlId(3), over_budget), (UrlId(4), over_budget)]);
}

#[test]
fn the_state_of_origins_can_be_looked_at() {
    let bench = Bench::new(Options { scope: ScopeKind::Any, ..Options::default() });
    for url in ["http://a.test/", "https://b.test/1", "https://b.test/2"] {
        bench.offer(link(url, 1));
    }
    bench.postpone("https://b.test:443", 9);
    bench.postpone("nonsense", 9);
    let waiting = |origin: &str, queued, hold| QueuedOrigin { origin: origin.to_owned(), queued, hold };
    let b = waiting("https://b.test:443", 2, OriginHold::Postponed(bench.at(9)));
    let a = |hold| waiting("http://a.test:80", 1, hold);
    assert_eq!(bench.frontier.hosts_waiting(9), [b.clone(), a(OriginHold::Turn)]);
    assert_eq!(bench.frontier.hosts_waiting(1), [b]);
    let lease = bench.lease(1, 0).leases.remove(0);
    bench.nak(lease, 5);
    let hold_of_a = || bench.frontier.hosts_waiting(9).into_iter().find(|waiting| waiting.queued == 1).unwrap();
    assert_eq!(hold_of_a(), a(OriginHold::GivenBack(bench.at(5))));
    bench.offer(link("http://a.test/2", 1));
    bench.lease(1, 6);
    assert_eq!(hold_of_a(), a(OriginHold::Leases));
}

#[test]
fn a_lease_that_an_earlier_run_left_behind_is_on_record_until_its_outcome() {
    let bench = Bench::new(Options::default());
    bench.offer(link("http://a.test/0", 0));
    bench.offer(link("http://a.test/1", 0));
    bench.lease(1, 0);
    let history = History { leased: bench.commit().leased, ..History::default() };
    assert_eq!(history.leased, [(UrlId(0), 1)]);
    let again = bench.reopen(Options::default(), &history).unwrap();
    assert_eq!(again.commit().leased, history.leased);
    let lease = again.lease(1, 0).leases.remove(0);
    assert_eq!((lease.id, lease.deliveries), (UrlId(0), 2));
    assert_eq!(again.commit().leased, [(UrlId(0), 2)]);
    again.ack(lease.id, true);
    assert_eq!(again.commit().leased, []);
}

#[test]
fn the_echo_of_an_earlier_lease_does_not_end_the_living_one() {
    let bench = Bench::new(Options::default());
    bench.offer(link("http://a.test/", 0));
    let first = bench.lease(1, 0).leases.remove(0);
    bench.nak(Lease { attempts: 3, ..first.clone() }, 5);
    assert_eq!(bench.lease(1, 4).wait, Wait::Until(bench.at(5)));
    let second = bench.lease(1, 5).leases.remove(0);
    assert_eq!((second.deliveries, second.attempts), (2, 3));
    bench.nak(first, 5);
    assert_eq!((bench.frontier.counts().leased, bench.lease(1, 9).wait), (1, Wait::Event));
}

/// A log that fails after its first block.
struct BrokenLog;

impl UrlLog for BrokenLog {
    type Error = io::Error;

    fn read(&self, first: UrlId, count: usize) -> Result<Vec<UrlRow>, io::Error> {
        if first.0 > 0 {
            return Err(io::Error::other("disk gone"));
        }
        Ok((0..count as u32).map(row).collect())
    }
}

#[test]
fn a_broken_log_is_named_and_takes_no_lease_with_it() {
    let options = Options { host_concurrency: 99, ..Options::default() };
    let frontier = EmbeddedFrontier::new(options, BrokenLog, 1);
    (0..64).for_each(|n| frontier.restore_url(&row(n)).unwrap());
    frontier.restored();
    let lease = || frontier.lease(99, Instant::now());
    assert_eq!(lease().unwrap().leases.len(), 32);
    for _ in 0..2 {
        let error = lease().unwrap_err();
        assert!(matches!(error, FrontierError::Log { id: UrlId(32), .. }), "{error}");
    }
    assert_eq!((frontier.counts().queued, frontier.counts().leased), (32, 32));
}
