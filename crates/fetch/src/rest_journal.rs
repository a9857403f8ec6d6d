//! Rests of origins and addresses across runs: told to a journal by the wall clock, and restored from it.

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

use super::Politeness;
use super::politeness::Shared;
use super::retry::LONGEST_BACK_OFF;
use super::robots::now_millis;
use ndcrawl_model::{Rest, RestOf, RestRow};

impl Politeness {
    /// Calls `store` with each rest from now on.
    pub(super) fn store_with(&self, store: impl Fn(&RestRow) + Send + Sync + 'static) {
        // A second journal would have gaps; the first one goes on.
        let _ = self.0.journal.set(Box::new(store));
    }

    /// Restores the rests of an earlier run; `now` in milliseconds since 1970 UTC. Returns when each origin is due.
    pub(super) fn restore(&self, rows: &[RestRow], now: i64) -> Vec<(String, std::time::Instant)> {
        let moment = Instant::now();
        for row in rows {
            let left = self.left(row, now);
            if left.is_zero() {
                continue;
            }
            match &row.of {
                RestOf::Origin(origin) => self.with_origin(origin, |host| host.restore(moment + left, row)),
                RestOf::Address(address) => self.with_address(*address, |host| host.restore(moment + left, row)),
            }
        }
        let origins = rows.iter().filter_map(|row| match &row.of {
            RestOf::Origin(origin) => Some((origin.clone(), self.next_start(origin)?)),
            RestOf::Address(_) => None,
        });
        origins.collect()
    }

    /// Returns how much of an earlier run's rest is left. If the clock was set back since, it counts from now.
    fn left(&self, row: &RestRow, now: i64) -> Duration {
        let Shared { delay, ip_delay, max_crawl_delay, max_retry_after, timeout, .. } = *self.0;
        // A gap is also as long as the last response took.
        let gap = |delay: Duration| if delay.is_zero() { delay } else { delay.max(timeout) };
        let longest = match row.why {
            Rest::RetryAfter => max_retry_after,
            Rest::BackOff => LONGEST_BACK_OFF,
            Rest::CrawlDelay => max_crawl_delay,
            Rest::Gap => gap(delay),
            Rest::AddressGap => gap(ip_delay),
        };
        let past = Duration::from_millis(u64::try_from(now.saturating_sub(row.since)).unwrap_or(0));
        Duration::from_millis(row.millis).min(longest).saturating_sub(past)
    }

    /// Tells the journal when origin and address are due, if it does not have that.
    pub(super) fn note(&self, origin: &str, address: Option<IpAddr>) {
        let Some(journal) = self.0.journal.get() else { return };
        let (tables, now) = (&mut *self.tables(), Instant::now());
        let row = |of, (due, why): (Instant, Rest)| rest_row(of, why, due - now);
        if let Some(host) = tables.origins.get_mut(origin) {
            let gap = if host.pace.interval() > self.0.delay { Rest::CrawlDelay } else { Rest::Gap };
            if let Some(rest) = host.unnoted(now, gap) {
                let row = row(RestOf::Origin(origin.to_owned()), rest);
                journal(&RestRow { at: host.address, strikes: host.strikes, ..row });
            }
        }
        let host = address.and_then(|address| Some((address, tables.addresses.get_mut(&address)?)));
        if let Some((address, host)) = host
            && let Some(rest) = host.unnoted(now, Rest::AddressGap)
        {
            journal(&row(RestOf::Address(address), rest));
        }
    }

    /// Lets the origin rest until `due` in the next run. A URL of it waits until then for another try, and the next run
    /// does not know which.
    pub(super) fn note_retry(&self, origin: &str, due: std::time::Instant) {
        let (due, now) = (Instant::from_std(due), Instant::now());
        let Some(journal) = self.0.journal.get().filter(|_| due > now) else { return };
        if let Some(host) = self.tables().origins.get_mut(origin)
            && host.noted.is_none_or(|noted| noted < due)
        {
            host.noted = Some(due);
            let row = rest_row(RestOf::Origin(origin.to_owned()), Rest::BackOff, due - now);
            journal(&RestRow { at: host.address, strikes: host.strikes, ..row });
        }
    }
}

/// A rest that begins now.
fn rest_row(of: RestOf, why: Rest, rest: Duration) -> RestRow {
    let millis = u64::try_from(rest.as_millis()).unwrap_or(u64::MAX);
    RestRow { of, why, since: now_millis(), millis, at: None, strikes: 0 }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::politeness::tests::{ONE, SECOND, politeness, request};
    use crate::{CrawlDelay, Options};

    /// The politeness of a run, and the lines of its journal.
    fn journaled(change: impl FnOnce(&mut Options)) -> (Politeness, Arc<Mutex<Vec<RestRow>>>) {
        let (politeness, rows) = (politeness(change), Arc::<Mutex<Vec<RestRow>>>::default());
        let journal = rows.clone();
        politeness.store_with(move |row| journal.lock().unwrap().push(row.clone()));
        (politeness, rows)
    }

    /// Notes that the origin is busy. Returns how often in a row it was in trouble.
    fn strike(politeness: &Politeness) -> u32 {
        politeness.with_origin("a", |host| {
            host.strikes += 1;
            host.strikes
        })
    }

    /// The last line of each host, as the next run reads them.
    fn last(rows: &Mutex<Vec<RestRow>>) -> Vec<RestRow> {
        let rows = rows.lock().unwrap();
        let last: HashMap<RestOf, RestRow> = rows.iter().map(|row| (row.of.clone(), row.clone())).collect();
        last.into_values().collect()
    }

    #[tokio::test(start_paused = true)]
    async fn every_rest_goes_on_in_the_next_run() {
        let hour = 3600 * SECOND;
        type Learn = fn(&Politeness);
        let cases: [(Learn, Rest, Duration); 4] = [
            (|_| {}, Rest::Gap, SECOND),
            (
                |politeness| assert_ne!(politeness.set_crawl_delay("a", Some(9 * SECOND)), CrawlDelay::Kept),
                Rest::CrawlDelay,
                9 * SECOND,
            ),
            (|politeness| politeness.back_off("a", 40 * SECOND, Rest::BackOff), Rest::BackOff, 40 * SECOND),
            (|politeness| politeness.back_off("a", 200 * SECOND, Rest::RetryAfter), Rest::RetryAfter, 200 * SECOND),
        ];
        for (learn, why, length) in cases {
            let (before, rows) = journaled(|options| options.ip_delay = SECOND / 2);
            request(&before, "a", 1, Duration::ZERO, Duration::ZERO).await;
            learn(&before);
            let now = last(&rows)[0].since;
            let after = politeness(|options| options.ip_delay = SECOND / 2);
            let due = after.restore(&last(&rows), now);
            let (until, reason) = after.resting("a").unwrap();
            assert_eq!((&due[..], reason), (&[("a".to_owned(), until)][..], why));
            let start = Instant::now();
            let permit = after.acquire("a", ONE).await;
            assert!(start.elapsed() + SECOND / 10 >= length && start.elapsed() <= length + SECOND / 10, "{why:?}");
            drop(permit);
            assert_eq!(politeness(|_| {}).restore(&last(&rows), now + hour.as_millis() as i64), []);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_rests_in_the_next_run_for_all_its_origins() {
        let (before, rows) = journaled(|options| options.ip_delay = 20 * SECOND);
        request(&before, "a", 1, Duration::ZERO, Duration::ZERO).await;
        let after = politeness(|options| options.ip_delay = 20 * SECOND);
        after.restore(&last(&rows), last(&rows)[0].since);
        assert_eq!(after.resting("a").unwrap().1, Rest::AddressGap);
        let start = Instant::now();
        drop(after.acquire("b", ONE).await);
        assert!(start.elapsed() > 19 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_jumps_makes_no_rest_longer_than_it_was() {
        let row = |why, since, millis| {
            let of = RestOf::Origin("a".to_owned());
            RestRow { of, why, since, millis, at: None, strikes: 0 }
        };
        let now = 1_000_000_000;
        let left = |politeness: &Politeness, row: RestRow| politeness.left(&row, now);
        let usual = politeness(|_| {});
        assert_eq!(left(&usual, row(Rest::RetryAfter, now, 30_000)), 30 * SECOND);
        assert_eq!(left(&usual, row(Rest::RetryAfter, now - 10_000, 30_000)), 20 * SECOND);
        assert_eq!(left(&usual, row(Rest::RetryAfter, now + 86_400_000, 30_000)), 30 * SECOND, "set back by a day");
        assert_eq!(left(&usual, row(Rest::RetryAfter, i64::MIN, 30_000)), Duration::ZERO);
        assert_eq!(left(&usual, row(Rest::RetryAfter, i64::MAX, u64::MAX)), 300 * SECOND, "--max-retry-after");
        assert_eq!(left(&usual, row(Rest::BackOff, now, u64::MAX)), LONGEST_BACK_OFF);
        assert_eq!(left(&usual, row(Rest::CrawlDelay, now, u64::MAX)), 60 * SECOND, "--max-crawl-delay");
        assert_eq!(left(&usual, row(Rest::Gap, now, 7_000)), 7 * SECOND, "the host was slow");
        let hasty = politeness(|options| {
            (options.delay, options.max_retry_after) = (Duration::ZERO, 5 * SECOND);
        });
        assert_eq!(left(&hasty, row(Rest::Gap, now, 1_000)), Duration::ZERO, "the user wants no gap");
        assert_eq!(left(&hasty, row(Rest::RetryAfter, now, 30_000)), 5 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn back_off_goes_on_doubling_in_the_next_run() {
        let (before, rows) = journaled(|_| {});
        strike(&before);
        strike(&before);
        before.back_off("a", 2 * SECOND, Rest::BackOff);
        let after = politeness(|_| {});
        after.restore(&last(&rows), last(&rows)[0].since);
        assert_eq!(strike(&after), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_origin_of_a_url_that_is_tried_again_rests_in_the_next_run_only() {
        let (before, rows) = journaled(|_| {});
        request(&before, "a", 1, Duration::ZERO, Duration::ZERO).await;
        before.note_retry("a", (Instant::now() + 30 * SECOND).into_std());
        before.note_retry("a", (Instant::now() + 2 * SECOND).into_std());
        let start = Instant::now();
        request(&before, "a", 1, Duration::ZERO, Duration::ZERO).await;
        assert!(start.elapsed() < 2 * SECOND, "other URLs need not wait");
        let after = politeness(|_| {});
        after.restore(&last(&rows), last(&rows)[0].since);
        let (until, why) = after.resting("a").unwrap();
        let left = until - Instant::now().into_std();
        assert!(why == Rest::BackOff && left > 28 * SECOND && left <= 30 * SECOND, "{left:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_journal_gets_few_lines_a_request_and_none_without_delays() {
        let (politeness, rows) = journaled(|options| options.ip_delay = SECOND / 2);
        for _ in 0..10 {
            request(&politeness, "a", 1, Duration::from_millis(30), Duration::from_millis(50)).await;
        }
        assert!(rows.lock().unwrap().len() <= 2 * 10 + 2, "{:?}", rows.lock().unwrap());
        let (hasty, rows) = journaled(|options| (options.delay, options.ip_delay) = (Duration::ZERO, Duration::ZERO));
        request(&hasty, "a", 1, Duration::from_millis(30), Duration::from_millis(50)).await;
        assert!(rows.lock().unwrap().is_empty());
    }
}
