//! Politeness delay and concurrency limit, per origin and per IP address.
//!
//! [`Politeness`] holds for each origin and address: its delay, its slots for requests in flight, its back-off and its
//! traffic counters. Time is tokio's, so that tests advance the clock instead of sleeping.
//! [`rest_journal`](super::rest_journal) carries over what the next run must know.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use super::host_health::Record;
use super::pace::Pace;
use super::shared_starts::await_shared_start;
use super::{Options, SharedStarts};
use ndcrawl_model::{Rest, RestRow};

/// Table size from which idle origins or addresses are evicted.
const MANY: usize = 1024;

/// Idle time after which an origin or address may be evicted.
const IDLE: Duration = Duration::from_secs(60);

/// Result of applying a `Crawl-delay`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrawlDelay {
    /// There is none, or none longer than the configured delay.
    Kept,
    /// The origin's delay is now this long.
    Raised(Duration),
    /// It is ignored because `--max-crawl-delay` is zero.
    Ignored,
    /// It is longer than `--max-crawl-delay`. The crawl skips the host.
    TooLong(Duration),
}

/// Traffic counters of an origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// Requests without a response.
    pub unanswered: u64,
    /// Bytes of decoded bodies.
    pub bytes: u64,
    /// Sum of response times in microseconds.
    pub response_micros: u64,
}

/// Starts requests when origin and address are due. Clones share their state.
#[derive(Clone)]
pub struct Politeness(pub(super) Arc<Shared>);

/// Stores a rest for the next run.
type Journal = dyn Fn(&RestRow) + Send + Sync;

pub(super) struct Shared {
    pub(super) delay: Duration,
    pub(super) ip_delay: Duration,
    pub(super) concurrency: usize,
    pub(super) max_crawl_delay: Duration,
    pub(super) max_retry_after: Duration,
    pub(super) timeout: Duration,
    /// Who keeps requests of several processes apart.
    starts: Option<Arc<dyn SharedStarts>>,
    pub(super) warned: AtomicBool,
    pub(super) tables: Mutex<Tables>,
    /// Stores rests for the next run. Called under the lock, so that the last rest of a host is stored last.
    pub(super) journal: OnceLock<Box<Journal>>,
}

#[derive(Default)]
pub(super) struct Tables {
    pub(super) origins: HashMap<String, Host>,
    pub(super) addresses: HashMap<IpAddr, Host>,
}

/// State of an origin or of an address.
pub(super) struct Host {
    /// When the next request may start.
    pub(super) pace: Pace,
    /// Slots for requests in flight.
    pub(super) permits: Arc<Semaphore>,
    /// The last address of an origin.
    pub(super) address: Option<IpAddr>,
    /// Local address of the connection of the last response.
    pub(super) connection: Option<SocketAddr>,
    /// Signs of trouble in a row.
    pub(super) strikes: u32,
    /// What its answers say of it, for an origin.
    pub(super) health: Record,
    /// End of a delay beyond the politeness delay, and its reason.
    pub(super) resting: Option<(Instant, Rest)>,
    /// The due time that the journal has.
    pub(super) noted: Option<Instant>,
    /// Traffic since the last report.
    pub(super) traffic: Traffic,
}

impl Host {
    fn new(interval: Duration, concurrency: usize) -> Self {
        Self {
            pace: Pace::new(interval),
            permits: Arc::new(Semaphore::new(concurrency)),
            address: None,
            connection: None,
            strikes: 0,
            health: Record::default(),
            resting: None,
            noted: None,
            traffic: Traffic::default(),
        }
    }

    /// Whether no request waits for it and its delay is long over.
    fn is_idle(&self, now: Instant) -> bool {
        Arc::strong_count(&self.permits) == 1 && self.pace.due().is_none_or(|due| due + IDLE < now)
    }

    /// Returns when it is due, and why then, if the journal does not have that.
    pub(super) fn unnoted(&mut self, now: Instant, by_pace: Rest) -> Option<(Instant, Rest)> {
        let due = self.pace.due().filter(|&due| due > now && self.noted.is_none_or(|noted| noted < due))?;
        self.noted = Some(due);
        Some((due, self.resting.filter(|(until, _)| *until >= due).map_or(by_pace, |(_, why)| why)))
    }

    /// Rests until this moment, which the journal has.
    pub(super) fn restore(&mut self, until: Instant, row: &RestRow) {
        self.pace.rest(until);
        self.resting = Some((until, row.why));
        self.noted = self.pace.due();
        self.address = self.address.or(row.at);
        self.strikes = self.strikes.max(row.strikes);
    }

    /// Whether a response came over the same connection as the one before. Stores the connection.
    fn reused(&mut self, connection: Option<SocketAddr>) -> bool {
        let before = std::mem::replace(&mut self.connection, connection);
        connection.is_some() && connection == before
    }
}

impl Politeness {
    /// Creates the table with the delays and limits of the options.
    pub fn new(options: &Options) -> Self {
        Self(Arc::new(Shared {
            delay: options.delay,
            ip_delay: options.ip_delay,
            concurrency: options.host_concurrency.clamp(1, Semaphore::MAX_PERMITS),
            max_crawl_delay: options.max_crawl_delay,
            max_retry_after: options.max_retry_after,
            timeout: options.timeout,
            starts: options.shared_starts.clone(),
            warned: AtomicBool::new(false),
            tables: Mutex::default(),
            journal: OnceLock::new(),
        }))
    }

    /// Waits until a request to the origin at the address may start. Behind a proxy the address is `None`. Hold the
    /// permit to the end of the response.
    pub async fn acquire(&self, origin: &str, address: Option<IpAddr>) -> Permit {
        // Everyone takes the origin's slot before the address's, which rules out a deadlock.
        let (of_origin, of_address) = self.semaphores(origin, address);
        let mut held = Vec::with_capacity(2);
        for semaphore in [Some(of_origin), of_address].into_iter().flatten() {
            // The semaphores are never closed. Otherwise only the limit would be lost.
            held.extend(semaphore.acquire_owned().await.ok());
        }
        let started = loop {
            if let Some(due) = self.due(origin, address) {
                sleep_until(due).await;
            }
            if await_shared_start(self.0.starts.as_ref(), address, self.0.ip_delay).await {
                match self.try_start(origin, address) {
                    Ok(started) => break started,
                    Err(due) => sleep_until(due).await,
                }
            }
        };
        self.note(origin, address);
        let origin = origin.to_owned();
        Permit { politeness: self.clone(), origin, address, started, answered: false, held }
    }

    /// Applies a `Crawl-delay`: the origin's delay becomes longer, never shorter.
    pub fn set_crawl_delay(&self, origin: &str, delay: Option<Duration>) -> CrawlDelay {
        let Some(delay) = delay.filter(|&delay| delay > self.0.delay) else {
            return CrawlDelay::Kept;
        };
        if self.0.max_crawl_delay.is_zero() {
            if !self.0.warned.swap(true, Ordering::Relaxed) {
                tracing::warn!(origin, ?delay, "Crawl-delay ignored on all hosts: --max-crawl-delay is 0");
            }
            return CrawlDelay::Ignored;
        }
        if delay > self.0.max_crawl_delay {
            return CrawlDelay::TooLong(delay);
        }
        self.with_origin(origin, |host| host.pace.raise(delay));
        self.note(origin, None);
        CrawlDelay::Raised(delay)
    }

    /// Delays the origin's next request by `rest` from now.
    pub fn back_off(&self, origin: &str, rest: Duration, why: Rest) {
        let until = Instant::now() + rest;
        tracing::debug!(origin, ?rest, ?why, "host rests");
        self.with_origin(origin, |host| {
            host.pace.rest(until);
            if host.resting.is_none_or(|(known, _)| known < until) {
                host.resting = Some((until, why));
            }
        });
        self.note(origin, None);
    }

    /// Returns the least time between two requests to the origin.
    pub fn gap(&self, origin: &str) -> Duration {
        let tables = self.tables();
        tables.origins.get(origin).map_or(self.0.delay, |host| host.pace.interval())
    }

    /// Returns when the next request to the origin may start, with the delay of its address. `None` is at once.
    pub fn next_start(&self, origin: &str) -> Option<std::time::Instant> {
        self.resting(origin).map(|(due, _)| due)
    }

    /// Returns [`next_start`](Self::next_start) and the reason for the wait.
    pub fn resting(&self, origin: &str) -> Option<(std::time::Instant, Rest)> {
        let tables = self.tables();
        let host = tables.origins.get(origin)?;
        let address = host.address.and_then(|address| tables.addresses.get(&address));
        let (own, of_address) = (host.pace.due(), address.and_then(|address| address.pace.due()));
        let due = own.max(of_address).filter(|&due| due > Instant::now())?;
        let why = match host.resting {
            Some((until, why)) if until >= due => why,
            _ if of_address > own => Rest::AddressGap,
            _ if host.pace.interval() > self.0.delay => Rest::CrawlDelay,
            _ => Rest::Gap,
        };
        Some((due.into_std(), why))
    }

    /// Returns and resets the traffic counters of an origin. Call it soon after each request: idle origins are evicted.
    pub fn take_traffic(&self, origin: &str) -> Traffic {
        self.tables().origins.get_mut(origin).map(|host| std::mem::take(&mut host.traffic)).unwrap_or_default()
    }

    fn semaphores(&self, origin: &str, address: Option<IpAddr>) -> (Arc<Semaphore>, Option<Arc<Semaphore>>) {
        let of_origin = self.with_origin(origin, |host| {
            host.address = address.or(host.address);
            host.permits.clone()
        });
        (of_origin, address.map(|address| self.with_address(address, |host| host.permits.clone())))
    }

    /// Returns when origin and address are due, if they are not.
    fn due(&self, origin: &str, address: Option<IpAddr>) -> Option<Instant> {
        let tables = self.tables();
        let of_address = address.and_then(|address| tables.addresses.get(&address));
        let hosts = tables.origins.get(origin).into_iter().chain(of_address);
        hosts.filter_map(|host| host.pace.due()).max().filter(|&due| due > Instant::now())
    }

    /// Starts a request if origin and address are due. Otherwise returns when they may be.
    fn try_start(&self, origin: &str, address: Option<IpAddr>) -> Result<Instant, Instant> {
        let mut tables = self.tables();
        let tables = &mut *tables;
        let now = Instant::now();
        let mut hosts: Vec<&mut Host> = tables.origins.get_mut(origin).into_iter().collect();
        hosts.extend(address.and_then(|address| tables.addresses.get_mut(&address)));
        if let Some(due) = hosts.iter().filter_map(|host| host.pace.due()).max().filter(|&due| due > now) {
            return Err(due);
        }
        hosts.iter_mut().try_for_each(|host| host.pace.start(now))?;
        Ok(now)
    }

    /// Starts at another address a request that has had its origin's turn.
    fn try_start_at(&self, origin: &str, address: IpAddr) -> Result<Instant, Instant> {
        let mut tables = self.tables();
        let now = Instant::now();
        if let Some(host) = tables.addresses.get_mut(&address) {
            if let Some(due) = host.pace.due().filter(|&due| due > now) {
                return Err(due);
            }
            host.pace.start(now)?;
        }
        if let Some(host) = tables.origins.get_mut(origin) {
            host.address = Some(address);
            host.pace.restart(now);
        }
        Ok(now)
    }

    pub(super) fn with_origin<T>(&self, origin: &str, f: impl FnOnce(&mut Host) -> T) -> T {
        let origins = &mut self.tables().origins;
        if let Some(host) = origins.get_mut(origin) {
            return f(host);
        }
        forget_idle(origins);
        f(origins.entry(origin.to_owned()).or_insert_with(|| Host::new(self.0.delay, self.0.concurrency)))
    }

    pub(super) fn with_address<T>(&self, address: IpAddr, f: impl FnOnce(&mut Host) -> T) -> T {
        let addresses = &mut self.tables().addresses;
        if !addresses.contains_key(&address) {
            forget_idle(addresses);
        }
        f(addresses.entry(address).or_insert_with(|| Host::new(self.0.ip_delay, self.0.concurrency)))
    }

    pub(super) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Evicts idle entries. Runs only when the table is about to grow, so the cost per entry is constant.
fn forget_idle<K: Eq + Hash>(hosts: &mut HashMap<K, Host>) {
    if hosts.len() >= MANY && hosts.len() == hosts.capacity() {
        let now = Instant::now();
        hosts.retain(|_, host| !host.is_idle(now));
    }
}

/// Permit for one request. Held to the end of the response, then dropped.
pub struct Permit {
    politeness: Politeness,
    origin: String,
    address: Option<IpAddr>,
    started: Instant,
    answered: bool,
    held: Vec<OwnedSemaphorePermit>,
}

impl Permit {
    /// Records the arrival of the response header, and the local address of its connection.
    pub fn answered(&mut self, connection: Option<SocketAddr>) {
        self.answered = true;
        let now = Instant::now();
        self.with_paces(|pace| pace.heard(self.started, now));
        if !self.politeness.with_origin(&self.origin, |host| host.reused(connection)) {
            self.count_gap_from_now();
        }
    }

    /// Goes on at another address of the host, after a failure to connect to the one before. The origin's slot stays;
    /// the address has a slot and a turn of its own. Does nothing if the address is the same.
    pub(super) async fn move_to(&mut self, address: IpAddr) {
        if self.address == Some(address) {
            return;
        }
        if let Some(failed) = self.address.replace(address) {
            let now = Instant::now();
            self.politeness.with_address(failed, |host| host.pace.answered(now));
            // The slot of the address, which was taken last.
            self.held.pop();
        }
        let semaphore = self.politeness.with_address(address, |host| host.permits.clone());
        self.held.extend(semaphore.acquire_owned().await.ok());
        let shared = &self.politeness.0;
        self.started = loop {
            if await_shared_start(shared.starts.as_ref(), Some(address), shared.ip_delay).await {
                match self.politeness.try_start_at(&self.origin, address) {
                    Ok(started) => break started,
                    Err(due) => sleep_until(due).await,
                }
            }
        };
        self.politeness.note(&self.origin, self.address);
    }

    /// Records that the response was not read to its end. The server works on until it notices, so the delay counts
    /// from the moment when the permit is dropped.
    pub(super) fn broken_off(&mut self) {
        self.answered = false;
    }

    /// Counts the request.
    pub(super) fn count(&self, answered: bool, body_bytes: usize) {
        let elapsed = self.started.elapsed().as_micros() as u64;
        self.politeness.with_origin(&self.origin, |host| {
            host.traffic.requests += 1;
            host.traffic.unanswered += u64::from(!answered);
            host.traffic.bytes += body_bytes as u64;
            host.traffic.response_micros += elapsed;
        });
    }

    fn count_gap_from_now(&self) {
        let now = Instant::now();
        self.with_paces(|pace| pace.answered(now));
    }

    /// Calls `tell` on the pace of the origin and of the address.
    fn with_paces(&self, tell: impl Fn(&mut Pace)) {
        self.politeness.with_origin(&self.origin, |host| tell(&mut host.pace));
        if let Some(address) = self.address {
            self.politeness.with_address(address, |host| tell(&mut host.pace));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.politeness.with_origin(&self.origin, |host| host.pace.finished(self.started.elapsed()));
        if !self.answered {
            // The server may have worked on the request until now.
            self.count_gap_from_now();
        }
        self.politeness.note(&self.origin, self.address);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub const ONE: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 43, 1)));
    pub const SECOND: Duration = Duration::from_secs(1);

    pub fn politeness(change: impl FnOnce(&mut Options)) -> Politeness {
        let mut options = Options::default();
        change(&mut options);
        Politeness::new(&options)
    }

    fn connection(port: u16) -> Option<SocketAddr> {
        Some(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    /// A request that is answered over the given connection after `header`, and whole after `body`
    /// more. Says when it started.
    pub async fn request(
        politeness: &Politeness,
        origin: &str,
        port: u16,
        header: Duration,
        body: Duration,
    ) -> Instant {
        let mut permit = politeness.acquire(origin, ONE).await;
        let start = Instant::now();
        tokio::time::sleep(header).await;
        permit.answered(connection(port));
        tokio::time::sleep(body).await;
        start
    }

    #[tokio::test(start_paused = true)]
    async fn the_gap_after_a_response_that_was_broken_off_is_counted_from_its_end() {
        let politeness = politeness(|_| {});
        let mut permit = politeness.acquire("http://a.test:80", ONE).await;
        permit.answered(connection(1));
        tokio::time::sleep(30 * SECOND).await;
        permit.broken_off();
        drop(permit);
        let left = Instant::now();
        politeness.acquire("http://a.test:80", ONE).await;
        assert!(left.elapsed() >= SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn the_gap_is_counted_from_the_moment_at_which_the_server_has_seen_the_request() {
        let politeness = politeness(|_| {});
        let millisecond = Duration::from_millis(1);
        for (answer, gap) in [(2 * millisecond, 1002), (300 * millisecond, 1200), (1500 * millisecond, 1500)] {
            let mut starts = Vec::new();
            for _ in 0..4 {
                starts.push(request(&politeness, "a", 1, answer, Duration::ZERO).await);
            }
            for pair in starts[1..].windows(2) {
                let between = pair[1] - pair[0];
                assert!((gap * millisecond..(gap + 5) * millisecond).contains(&between), "{answer:?}: {between:?}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_gap_after_a_request_that_is_not_answered_yet_has_a_margin() {
        let politeness = politeness(|options| options.host_concurrency = 2);
        let first = politeness.acquire("a", ONE).await;
        let second = politeness.acquire("a", ONE).await;
        let gap = second.started - first.started;
        assert!(gap > SECOND && gap < SECOND + Duration::from_millis(50), "{gap:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_host_gets_as_long_a_rest_as_it_took() {
        let politeness = politeness(|options| options.host_concurrency = 2);
        request(&politeness, "a", 1, Duration::ZERO, 5 * SECOND).await;
        let first = request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await;
        let second = tokio::spawn({
            let politeness = politeness.clone();
            async move { request(&politeness, "a", 1, Duration::ZERO, 7 * SECOND).await }
        });
        let second = second.await.unwrap();
        let third = request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await;
        assert!(second - first < 2 * SECOND);
        assert!(third - second >= 7 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn origins_that_share_an_address_share_its_gap() {
        let politeness = politeness(|_| {});
        let first = request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await;
        assert!(politeness.next_start("a").is_some());
        assert_eq!(politeness.next_start("b"), None, "nothing is known of it");
        let second = request(&politeness, "b", 2, Duration::ZERO, Duration::ZERO).await;
        let gap = second - first;
        assert!(gap >= SECOND / 2 && gap < SECOND, "{gap:?}");
        let elsewhere = politeness.acquire("c", Some("192.0.43.2".parse().unwrap())).await;
        assert_eq!(Instant::now(), second);
        drop(elsewhere);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_goes_on_at_another_address_waits_for_that_address_alone() {
        let politeness = politeness(|options| options.ip_delay = 5 * SECOND);
        let [second, third]: [IpAddr; 2] = ["192.0.43.2", "192.0.43.3"].map(|address| address.parse().unwrap());
        let begin = Instant::now();
        drop(politeness.acquire("b", Some(third)).await);
        let mut permit = politeness.acquire("a", ONE).await;
        permit.move_to(second).await;
        assert_eq!(Instant::now(), begin, "the origin has had its turn, and nobody has asked this address");
        permit.move_to(third).await;
        let moved = Instant::now();
        assert!(moved - begin >= 5 * SECOND && moved - begin < 6 * SECOND);
        permit.answered(connection(1));
        drop(permit);
        assert!(politeness.next_start("a").unwrap() >= (moved + 5 * SECOND).into_std(), "of the address that answered");
        let (first, second) = (politeness.acquire("c", ONE).await, politeness.acquire("d", Some(second)).await);
        drop((first, second));
        assert!(Instant::now() < moved + SECOND, "the gaps of addresses that failed are over, and their slots free");
    }

    #[tokio::test(start_paused = true)]
    async fn without_delays_only_the_permits_limit() {
        let politeness = politeness(|options| {
            (options.delay, options.ip_delay, options.host_concurrency) = (Duration::ZERO, Duration::ZERO, 2);
        });
        let begin = Instant::now();
        let (first, _second) = (politeness.acquire("a", ONE).await, politeness.acquire("b", ONE).await);
        assert_eq!(Instant::now(), begin);
        let wait = tokio::time::timeout(SECOND, politeness.acquire("c", ONE));
        assert!(wait.await.is_err(), "two are in flight to the address");
        drop(first);
        tokio::time::timeout(SECOND, politeness.acquire("c", ONE)).await.unwrap();
        assert_eq!(politeness.next_start("a"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_crawl_delay_raises_the_gap_and_never_lowers_it() {
        let politeness = politeness(|_| {});
        assert_eq!(politeness.set_crawl_delay("a", Some(SECOND / 2)), CrawlDelay::Kept);
        assert_eq!(politeness.set_crawl_delay("a", Some(3 * SECOND)), CrawlDelay::Raised(3 * SECOND));
        politeness.set_crawl_delay("a", Some(2 * SECOND));
        assert_eq!(politeness.set_crawl_delay("a", Some(61 * SECOND)), CrawlDelay::TooLong(61 * SECOND));
        let first = request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await;
        let second = request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await;
        assert!(second - first >= 3 * SECOND && second - first < 4 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn with_a_cap_of_zero_a_crawl_delay_is_ignored() {
        let politeness = politeness(|options| options.max_crawl_delay = Duration::ZERO);
        assert_eq!(politeness.set_crawl_delay("a", Some(3 * SECOND)), CrawlDelay::Ignored);
        let first = request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await;
        assert!(request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await - first < 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_asks_for_rest_gets_it() {
        let politeness = politeness(|_| {});
        let first = request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await;
        politeness.back_off("a", 30 * SECOND, Rest::RetryAfter);
        politeness.back_off("a", SECOND, Rest::BackOff);
        assert_eq!(politeness.resting("a"), Some(((first + 30 * SECOND).into_std(), Rest::RetryAfter)));
        assert!(request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await - first >= 30 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn what_an_origin_waits_for_has_a_name() {
        let politeness = politeness(|options| options.ip_delay = 5 * SECOND);
        let why = |origin: &str| politeness.resting(origin).map(|(_, why)| why);
        assert_eq!(why("a"), None);
        request(&politeness, "a", 1, Duration::ZERO, Duration::ZERO).await;
        assert_eq!(why("a"), Some(Rest::AddressGap));
        politeness.set_crawl_delay("a", Some(9 * SECOND));
        assert_eq!(why("a"), Some(Rest::CrawlDelay));
        politeness.back_off("a", 3600 * SECOND, Rest::BackOff);
        assert_eq!(why("a"), Some(Rest::BackOff));
        tokio::time::advance(3600 * SECOND).await;
        politeness.acquire("a", None).await;
        assert_eq!(why("a"), Some(Rest::CrawlDelay), "a rest that is over is no reason");
        politeness.acquire("b", None).await;
        assert_eq!(why("b"), Some(Rest::Gap));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_without_answer_counts_until_its_end() {
        let politeness = politeness(|_| {});
        let permit = politeness.acquire("a", ONE).await;
        tokio::time::sleep(10 * SECOND).await;
        permit.count(false, 0);
        drop(permit);
        let end = Instant::now();
        let next = politeness.acquire("a", ONE).await;
        assert!(next.started - end >= SECOND);
        let counted = Traffic { requests: 1, unanswered: 1, bytes: 0, response_micros: 10_000_000 };
        assert_eq!(politeness.take_traffic("a"), counted);
        assert_eq!(politeness.take_traffic("a"), Traffic::default());
    }

    #[tokio::test(start_paused = true)]
    async fn idle_origins_are_forgotten_and_busy_ones_are_not() {
        let politeness = politeness(|options| options.ip_delay = Duration::ZERO);
        let _busy = politeness.acquire("busy", None).await;
        politeness.back_off("resting", 3600 * SECOND, Rest::BackOff);
        for number in 0..20 * MANY {
            politeness.back_off(&number.to_string(), Duration::ZERO, Rest::BackOff);
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        let tables = politeness.tables();
        assert!(tables.origins.len() < 4 * MANY, "{}", tables.origins.len());
        assert!(tables.origins.contains_key("busy") && tables.origins.contains_key("resting"));
    }
}
