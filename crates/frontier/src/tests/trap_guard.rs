//! Patterns of URLs that keep repeating each other.

use super::*;
use crate::HeldBack;
use ndcrawl_model::Wait;

const MONTHS: u32 = 400;

fn options() -> Options {
    Options { host_concurrency: 4, ..Options::default() }
}

/// A seed and the months of a calendar, which it names all together.
fn calendar(options: Options) -> Bench {
    let bench = Bench::new(options);
    bench.offer(link("http://a.test/", 0));
    for month in 1..=MONTHS {
        bench.offer(link(&format!("http://a.test/calendar/{month}"), 1));
    }
    bench
}

/// Leases all URLs; the seed and the first month are unique, and all other months repeat the first.
fn fetch_all(bench: &Bench) -> Vec<(UrlId, Option<UrlId>)> {
    let mut pages = Vec::new();
    loop {
        let answer = bench.lease(4, 0);
        if answer.leases.is_empty() {
            assert_eq!(answer.wait, Wait::Done);
            return pages;
        }
        for lease in answer.leases {
            let repeats = (lease.id > UrlId(1)).then_some(UrlId(1));
            bench.ack_page(lease.id, repeats);
            pages.push((lease.id, repeats));
        }
    }
}

fn closed(bench: &Bench) -> Vec<UrlId> {
    let unfinished = bench.frontier.unfinished();
    unfinished.inspect(|(id, remaining)| assert_eq!(*remaining, HeldBack::Closed, "{id}")).map(|(id, _)| id).collect()
}

#[test]
fn months_that_repeat_each_other_are_left_out_with_the_pattern_on_record() {
    let bench = calendar(options());
    let fetched = fetch_all(&bench).len();
    assert!((34..60).contains(&fetched), "{fetched}");
    let left = closed(&bench);
    assert_eq!(left.len(), MONTHS as usize + 1 - fetched);
    assert_eq!(bench.frontier.counts().excluded, left.len() as u64);
    let url = bench.frontier.url(left[0]).unwrap().url;
    assert_eq!(bench.frontier.closed_pattern(&url).as_deref(), Some("http://a.test/calendar/*"));
    assert!(!bench.frontier.reopen().unwrap());

    let unguarded = calendar(Options { trap_guard: false, ..options() });
    assert_eq!(fetch_all(&unguarded).len(), MONTHS as usize + 1);
}

#[test]
fn what_was_left_out_is_left_out_after_a_restart_too() {
    let bench = calendar(options());
    let pages = fetch_all(&bench);
    let left = closed(&bench);
    bench.commit();
    let history = History { pages: pages.clone(), ..History::default() };
    let again = bench.reopen(options(), &history).unwrap();
    assert_eq!(again.frontier.counts().queued, left.len() as u64, "the log says that they were queued");
    assert_eq!((fetch_all(&again), closed(&again)), (Vec::new(), left));
}

#[test]
fn a_unique_page_brings_back_what_was_left_out() {
    let bench = calendar(options());
    let pages = fetch_all(&bench);
    bench.offer(link("http://a.test/calendar/9999", 0));
    let lease = bench.lease(1, 0).leases.remove(0);
    bench.ack_page(lease.id, None);
    assert!(bench.frontier.reopen().unwrap() && !bench.frontier.reopen().unwrap());
    assert_eq!(bench.frontier.counts().queued, u64::from(MONTHS) + 1 - pages.len() as u64);
}

#[test]
fn a_seed_is_fetched_whatever_it_belongs_to() {
    let bench = calendar(options());
    fetch_all(&bench);
    let left = closed(&bench)[0];
    let url = bench.frontier.url(left).unwrap().url;
    bench.offer(link(&url, 0));
    assert_eq!(bench.lease(9, 0).leases.iter().map(|lease| lease.id).collect::<Vec<_>>(), [left]);
}
