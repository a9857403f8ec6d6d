//! Unknown hosts, in a focused crawl.

use super::*;
use crate::{FocusOptions, ScopeKind};
use ndcrawl_dust::{ListedRule, RuleConfidence, RuleState, infer_rule};
use ndcrawl_model::{Clue, Relevance, Wait};

/// Leases nothing out of turn by chance, unless `exploration` is more than next to nothing.
fn options(exploration: f64) -> Options {
    let focus = Some(FocusOptions { exploration, ..FocusOptions::default() });
    Options { scope: ScopeKind::Any, focus, ..Options::default() }
}

const NEXT_TO_NOTHING: f64 = 1e-9;

fn page(url: &str, source: UrlId, promise: f64) -> Link {
    let promise = Relevance::of(promise);
    let clue = Clue { anchor: promise, source: promise, ..Clue::default() };
    Link { clue: Some(clue), ..link_from(source, url, 1) }
}

fn ack(bench: &Bench, id: UrlId, worth: Option<f64>) {
    let worth = worth.map(Relevance::of);
    bench.frontier.ack(vec![Ack { id, kind: OutcomeKind::Stored, repeats: None, worth }]).unwrap();
}

/// A page that names pages of a host about the topic, of which one was fetched already, and the first pages of ten
/// hosts.
fn portal(options: Options) -> Bench {
    let bench = Bench::new(options);
    let portal = bench.offer(link("http://portal.test/", 0)).id;
    let first = bench.lease(1, 0).leases.remove(0);
    for n in 0..200 {
        bench.offer(page(&format!("http://known.test/{n}"), portal, 0.3));
    }
    ack(&bench, first.id, Some(0.3));
    let known = bench.lease(1, 0).leases.remove(0);
    assert_eq!(known.url.host(), "known.test");
    ack(&bench, known.id, Some(0.3));
    for n in 0..10 {
        bench.offer(page(&format!("http://unknown-{n}.test/"), portal, 0.0));
    }
    bench
}

/// Returns the hosts of the next leases, whose pages have this relevance.
fn hosts(bench: &Bench, count: usize, worth: impl Fn(&str) -> Option<f64>) -> Vec<String> {
    let next = |_| {
        let lease = bench.lease(1, 0).leases.remove(0);
        let host = lease.url.host().to_owned();
        ack(bench, lease.id, worth(&host));
        host
    };
    (0..count).map(next).collect()
}

fn found(host: &str) -> Option<f64> {
    Some(if host == "known.test" { 0.3 } else { 0.0 })
}

#[test]
fn every_host_is_tried_soon_though_one_is_known_where_more_is_expected() {
    let hosts = hosts(&portal(options(NEXT_TO_NOTHING)), 100, found);
    let tried = hosts.iter().filter(|host| *host != "known.test");
    assert_eq!(tried.count(), 10, "each once: {hosts:?}");
    let first = &hosts[..15];
    assert!(first.iter().any(|host| host == "known.test"), "and what promises more in between: {hosts:?}");
}

#[test]
fn no_unknown_host_is_tried_without_exploration() {
    let hosts = hosts(&portal(options(0.0)), 100, found);
    assert!(hosts.iter().all(|host| host == "known.test"), "{hosts:?}");
}

#[test]
fn what_lies_behind_a_mere_list_is_seen_before_the_next_host_is_tried_but_not_for_ever() {
    let bench = Bench::new(options(NEXT_TO_NOTHING));
    let portal = bench.offer(link("http://portal.test/", 0)).id;
    bench.offer(page("http://known.test/", portal, 0.0));
    for _ in 0..2 {
        // So all scores are equal, and no lease goes to a better one.
        let worthless = bench.lease(1, 0).leases.remove(0);
        ack(&bench, worthless.id, Some(0.0));
    }
    for n in 0..3 {
        bench.offer(page(&format!("http://unknown-{n}.test/"), portal, 0.0));
    }
    let root = bench.lease(1, 0).leases.remove(0);
    assert_eq!(root.url.host(), "unknown-0.test");
    for n in 0..9 {
        bench.offer(page(&format!("http://unknown-0.test/{n}/"), root.id, 0.0));
    }
    ack(&bench, root.id, None);
    let hosts = hosts(&bench, 4, |host| (host != "unknown-0.test").then_some(0.0));
    assert_eq!(hosts, ["unknown-0.test", "unknown-0.test", "unknown-1.test", "unknown-2.test"]);
}

/// Unknown hosts without clues.
fn unknown(names: &[&str]) -> Bench {
    let bench = Bench::new(options(NEXT_TO_NOTHING));
    let portal = bench.offer(link("http://portal.test/", 0)).id;
    let seed = bench.lease(1, 0).leases.remove(0);
    ack(&bench, seed.id, Some(0.0));
    for name in names {
        bench.offer(page(&format!("http://{name}.test/"), portal, 0.0));
    }
    bench
}

fn names(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.url.host().trim_end_matches(".test")).collect()
}

#[test]
fn unknown_hosts_are_tried_two_at_a_time_and_a_silent_one_is_not_waited_for_long() {
    let bench = unknown(&["a", "b", "c", "d", "e"]);
    let first = bench.lease(9, 0);
    assert_eq!(names(&first.leases), ["a", "b"]);
    assert_eq!(first.wait, Wait::Until(bench.at(2)));
    ack(&bench, first.leases[0].id, Some(0.0));
    let second = bench.lease(9, 1);
    assert_eq!((names(&second.leases), second.wait), (vec!["c"], Wait::Until(bench.at(2))));
    let third = bench.lease(9, 2);
    assert_eq!((names(&third.leases), third.wait), (vec!["d"], Wait::Until(bench.at(3))), "b says nothing");
}

#[test]
fn seeds_are_all_fetched_at_once() {
    let bench = Bench::new(options(NEXT_TO_NOTHING));
    for n in 0..5 {
        bench.offer(link(&format!("http://seed-{n}.test/"), 0));
    }
    assert_eq!(bench.lease(9, 0).leases.len(), 5);
}

#[test]
fn a_probable_mirror_is_tried_after_other_hosts() {
    let of = |name: &str| (0..5).map(|n| format!("{name}{n}")).collect::<Vec<_>>();
    let order = [of("mirror-"), of(""), vec!["lone".to_owned()]].concat();
    let bench = unknown(&order.iter().map(String::as_str).collect::<Vec<_>>());
    let mut tried: Vec<String> = Vec::new();
    let mut ids: Vec<(String, UrlId)> = Vec::new();
    while let Some(lease) = bench.lease(1, 0).leases.pop() {
        let name = lease.url.host().trim_end_matches(".test").to_owned();
        let other = name.strip_prefix("mirror-").map_or_else(|| format!("mirror-{name}"), str::to_owned);
        let repeats = ids.iter().find(|(name, _)| *name == other).map(|(_, id)| *id);
        let kind = if repeats.is_some() { OutcomeKind::ExactDuplicate } else { OutcomeKind::Stored };
        let worth = Some(Relevance::of(0.0));
        bench.frontier.ack(vec![Ack { id: lease.id, kind, repeats, worth }]).unwrap();
        ids.push((name.clone(), lease.id));
        tried.push(name);
    }
    let lone = tried.iter().position(|name| name == "lone").unwrap();
    assert!(tried.len() == 11 && tried[lone..].len() > 3, "{tried:?}");
}

#[test]
fn a_host_that_an_earlier_run_knew_is_not_tried_again() {
    let bench = portal(options(NEXT_TO_NOTHING));
    for n in 0..10 {
        bench.offer(page(&format!("http://unknown-{n}.test/further"), UrlId(0), 0.0));
    }
    bench.commit();
    let again = EmbeddedFrontier::new(options(NEXT_TO_NOTHING), bench.log.clone(), 1);
    let rows = bench.log.rows();
    rows.iter().for_each(|row| again.restore_url(row).unwrap());
    let fetched = |row: &UrlRow| row.url.ends_with(".test/") || row.url == "http://known.test/0";
    for (id, _) in (0..).zip(&rows).filter(|(_, row)| fetched(row)) {
        again.restore_done(UrlId(id), true);
        again.restore_worth(UrlId(id), Some(Relevance::of(0.2)));
    }
    again.restored();
    let again = Bench { frontier: again, log: bench.log.clone(), start: bench.start };
    let hosts = hosts(&again, 100, found);
    assert!(hosts.iter().all(|host| host == "known.test"), "{hosts:?}");
}

/// A proven rule of an earlier crawl.
fn proven(url: &str, original: &str) -> ListedRule {
    ListedRule {
        text: String::new(),
        rule: infer_rule(url, original).unwrap(),
        context: "*".to_owned(),
        confidence: RuleConfidence {
            tests: 99,
            hits: 99,
            run: 99,
            state: RuleState::Proven,
            ..RuleConfidence::default()
        },
        share: 1.0,
        interval: (0.9, 1.0),
        saved: 0,
        off: false,
    }
}

#[test]
fn a_certain_mirror_is_not_tried_unless_its_original_was_never_met() {
    let mirrors = (0..4).map(|n| proven(&format!("http://mirror-{n}.test/"), &format!("http://{n}.test/")));
    let bench = portal(Options { rules: mirrors.collect(), ..options(NEXT_TO_NOTHING) });
    for n in 0..5 {
        bench.offer(page(&format!("http://mirror-unknown-{n}.test/"), UrlId(0), 0.0));
    }
    bench.offer(page("http://mirror-of-another.test/", UrlId(0), 0.0));
    let hosts = hosts(&bench, 100, found);
    let tried: Vec<&String> = hosts.iter().filter(|host| *host != "known.test").collect();
    assert_eq!(tried.iter().filter(|host| host.starts_with("unknown-")).count(), 10, "{tried:?}");
    assert_eq!(tried.len(), 11, "{tried:?}");
    assert!(tried.iter().any(|host| *host == "mirror-of-another.test"));
}
