//! Getting robots.txt, once per origin and day.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::time::Instant;

use super::client::{Validators, Wanted};
use super::robots::now_millis;
use super::{FetchFailure, Fetcher, Robots, retry_after, retry_status};
use crate::model::{CanonicalUrl, FailureClass, Fetched, NormaliseOptions, Normaliser, RobotsRow};

/// Redirects that are followed (RFC 9309, section 2.3.1.2: at least five).
const MAX_REDIRECTS: u32 = 5;

/// Bytes of robots.txt files that are held in memory; those not used for longest go first.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Bytes that an entry is taken to need beside its text.
const ENTRY_BYTES: usize = 512;

/// What is remembered of each origin's robots.txt.
#[derive(Default)]
pub(super) struct RobotsCache(Mutex<Table>);

#[derive(Default)]
struct Table {
    entries: HashMap<String, Entry>,
    /// The sum over all entries.
    bytes: usize,
}

struct Entry {
    /// Locked while it is being asked for, so that it is asked for once.
    slot: Arc<tokio::sync::Mutex<Option<Arc<Robots>>>>,
    bytes: usize,
    last_used: Instant,
}

impl RobotsCache {
    fn slot(&self, origin: &str) -> Arc<tokio::sync::Mutex<Option<Arc<Robots>>>> {
        let entry = Entry { slot: Arc::default(), bytes: 0, last_used: Instant::now() };
        let mut table = self.table();
        let entry = table.entries.entry(origin.to_owned()).or_insert(entry);
        entry.last_used = Instant::now();
        entry.slot.clone()
    }

    /// Whether somebody is asking for it just now.
    fn is_asked_for(&self, origin: &str) -> bool {
        self.table().entries.get(origin).is_some_and(|entry| entry.slot.try_lock().is_err())
    }

    /// Notes the size of an entry and, if all are too many bytes, drops the older half.
    fn note_size(&self, origin: &str, body: usize) {
        let table = &mut *self.table();
        if let Some(entry) = table.entries.get_mut(origin) {
            // The text and the rules made of it.
            let bytes = ENTRY_BYTES + 2 * body;
            table.bytes = table.bytes - entry.bytes + bytes;
            entry.bytes = bytes;
        }
        if table.bytes > MAX_BYTES {
            table.drop_older_half();
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn drop_older_half(&mut self) {
        let mut ages: Vec<Instant> = self.entries.values().map(|entry| entry.last_used).collect();
        ages.sort_unstable();
        let middle = ages[ages.len() / 2];
        self.entries.retain(|_, entry| entry.last_used >= middle || Arc::strong_count(&entry.slot) > 1);
        self.bytes = self.entries.values().map(|entry| entry.bytes).sum();
    }
}

impl Fetcher {
    /// The robots.txt of the URL's origin, asked for if it is not known or too old, with a few tries
    /// and in turn with all other requests. Its `Crawl-delay` is obeyed from then on. Of a file
    /// that can't be had any more, the last one that could be had goes on to count.
    ///
    /// A `Crawl-delay` that is too long is not obeyed but reported: give [`Robots::crawl_delay`] to
    /// [`set_crawl_delay`](Self::set_crawl_delay) to learn of [`TooLong`](super::CrawlDelay::TooLong).
    ///
    /// Compare [`Robots::row`] with what is stored to see whether there is something new to store.
    pub async fn robots(&self, url: &CanonicalUrl) -> Arc<Robots> {
        if self.options().ignore_robots {
            return Arc::new(Robots::ignored());
        }
        let origin = url.origin();
        let slot = self.robots_cache().slot(&origin);
        let mut slot = slot.lock().await;
        let robots = match slot.as_ref() {
            Some(known) if now_millis() < known.good_until(self.options().robots_ttl) => known.clone(),
            stale => {
                let new = self.renew(&origin, stale).await;
                self.robots_cache().note_size(&origin, new.row().body.len());
                slot.insert(new).clone()
            }
        };
        self.set_crawl_delay(&origin, robots.crawl_delay());
        robots
    }

    /// Whether the robots.txt of an origin is being asked for just now.
    pub fn is_asking_robots(&self, origin: &str) -> bool {
        self.robots_cache().is_asked_for(origin)
    }

    /// Takes up a robots.txt that an earlier run had. One that is too old counts until a new one is
    /// had.
    pub async fn restore_robots(&self, origin: &str, row: RobotsRow) {
        let bytes = row.body.len();
        let robots = Arc::new(Robots::new(origin, row, self.options()));
        let slot = self.robots_cache().slot(origin);
        *slot.lock().await = Some(robots);
        self.robots_cache().note_size(origin, bytes);
    }

    async fn renew(&self, origin: &str, stale: Option<&Arc<Robots>>) -> Arc<Robots> {
        let new = self.fetch_robots(origin).await;
        match stale {
            Some(stale) if stale.is_reached() && !new.is_reached() => {
                tracing::debug!(origin, "robots.txt cannot be had any more; the last one goes on to count");
                Arc::new(stale.outlived(origin, self.options()))
            }
            _ => Arc::new(new),
        }
    }

    /// Asks for an origin's robots.txt, a few times if that may help.
    async fn fetch_robots(&self, origin: &str) -> Robots {
        let mut attempt = 1;
        loop {
            let answer = self.follow_robots(origin).await;
            let again = match &answer {
                Ok(fetched) => retry_status(fetched.status),
                Err(failure) => failure.retryable && self.has_heard(),
            };
            if !again || attempt > self.options().retries {
                return self.judge_robots(origin, answer);
            }
            let asked = answer.ok().and_then(|fetched| fetched.header("retry-after"));
            let asked = asked.and_then(|text| retry_after(&text, SystemTime::now(), self.options().max_retry_after));
            self.rest(origin, asked, attempt);
            attempt += 1;
        }
    }

    fn judge_robots(&self, origin: &str, answer: Result<Fetched, FetchFailure>) -> Robots {
        let fetched_at = now_millis();
        match answer {
            Ok(fetched) => {
                let row = RobotsRow { fetched_at, status: fetched.status, body: fetched.body };
                Robots::new(origin, row, self.options())
            }
            Err(failure) => {
                let row = RobotsRow { fetched_at, status: 0, body: Vec::new() };
                Robots::failed(row, Some(failure))
            }
        }
    }

    /// Asks for robots.txt and follows its redirects, each hop in turn with its own origin's
    /// requests and with its address checked like any other.
    async fn follow_robots(&self, origin: &str) -> Result<Fetched, FetchFailure> {
        let names = Normaliser::new(NormaliseOptions { strip_params: Vec::new(), ..NormaliseOptions::default() });
        let no_url = |error| FetchFailure::lasting(FailureClass::Redirect, format!("robots.txt: {error}"));
        let mut url = names.absolute(&format!("{origin}/robots.txt")).map_err(no_url)?;
        let wanted =
            Wanted { max_body: self.options().robots_max_bytes, any_type: true, unless: Validators::default() };
        let mut hops = 0;
        loop {
            let fetched = self.ask_politely(&url, &wanted).await?;
            let next = fetched.header("location").filter(|_| is_redirect(fetched.status));
            match next.map(|location| names.resolve(url.as_url(), &location)) {
                Some(Ok(next)) if hops < MAX_REDIRECTS => url = next,
                _ => return Ok(fetched),
            }
            hops += 1;
        }
    }
}

/// Whether the status names another place by `Location` (RFC 9110, section 15.4).
fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::test::{Server, Then, options, url};
    use crate::fetch::{Options, RobotsAnswer};

    fn text(status: &str, headers: &str, body: &str) -> (Vec<u8>, Then) {
        let text = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        (text.into_bytes(), Then::Close)
    }

    fn path(request: &str) -> &str {
        request.split(' ').nth(1).unwrap()
    }

    #[tokio::test]
    async fn robots_is_asked_for_once_and_its_rules_and_delay_hold() {
        let rules = "User-agent: ndcrawl\nDisallow: /private/\nCrawl-delay: 2\nSitemap: /map.xml\n";
        let server = Server::new(move |_| text("200 OK", "Content-Type: image/png\r\n", rules)).await;
        let fetcher = Fetcher::new(options()).unwrap();
        let (page, private) = (server.url("/page"), server.url("/private/page"));
        let (robots, again) = tokio::join!(fetcher.robots(&page), fetcher.robots(&private));
        assert_eq!(robots.allows(&page), RobotsAnswer::Allowed);
        assert_eq!(again.allows(&private), RobotsAnswer::Disallowed);
        assert_eq!(robots.sitemaps()[0].as_str(), server.url("/map.xml").as_str());
        assert_eq!(server.paths(), ["/robots.txt"]);
        assert!(fetcher.next_start(&page.origin()).is_some(), "the crawl delay holds from the first page on");
        assert_eq!(fetcher.take_traffic(&page.origin()).requests, 1);
    }

    #[tokio::test]
    async fn five_redirects_are_followed_and_a_sixth_is_not() {
        let server = Server::new(|request| match path(request) {
            "/robots.txt" => text("302 Found", "Location: /1\r\n", ""),
            "/5" => text("200 OK", "", "User-agent: *\nDisallow: /\n"),
            other => {
                let next: u32 = other[1..].parse::<u32>().unwrap() + 1;
                text("301 Moved", &format!("Location: /{next}\r\n"), "")
            }
        });
        let server = server.await;
        let robots = Fetcher::new(options()).unwrap().robots(&server.url("/")).await;
        assert_eq!(robots.allows(&server.url("/")), RobotsAnswer::Disallowed);
        assert_eq!(server.paths().len(), 6);
        let server = Server::new(|_| text("302 Found", "Location: /again\r\n", "")).await;
        let robots = Fetcher::new(options()).unwrap().robots(&server.url("/")).await;
        assert_eq!(robots.allows(&server.url("/")), RobotsAnswer::Allowed);
        assert_eq!(server.paths().len(), 6);
    }

    #[tokio::test]
    async fn a_redirect_to_a_private_address_is_not_followed() {
        let server = Server::new(|_| text("302 Found", "Location: http://127.0.0.2:1/robots.txt\r\n", "")).await;
        let robots = Fetcher::new(options()).unwrap().robots(&server.url("/")).await;
        assert_eq!(robots.allows(&server.url("/")), RobotsAnswer::Unreachable);
        assert_eq!(robots.failure().unwrap().class, FailureClass::PrivateAddress);
    }

    #[tokio::test]
    async fn a_server_in_trouble_is_asked_again_and_then_left_alone() {
        let server = Server::new(|_| text("500 Oops", "Retry-After: 0\r\n", "")).await;
        let fetcher = Fetcher::new(options()).unwrap();
        for _ in 0..2 {
            let robots = fetcher.robots(&server.url("/")).await;
            assert_eq!(robots.allows(&server.url("/")), RobotsAnswer::Unreachable);
        }
        assert_eq!(server.paths().len(), 3, "once and two retries");
    }

    #[tokio::test]
    async fn a_restored_file_is_not_asked_for_and_an_old_one_outlives_a_server_in_trouble() {
        let server = Server::new(|_| text("503 Busy", "Retry-After: 0\r\n", "")).await;
        let fetcher = Fetcher::new(options()).unwrap();
        let page = server.url("/page");
        let row = |fetched_at| RobotsRow { fetched_at, status: 200, body: b"User-agent: *\nDisallow: /page".to_vec() };
        fetcher.restore_robots(&page.origin(), row(now_millis())).await;
        assert_eq!(fetcher.robots(&page).await.allows(&page), RobotsAnswer::Disallowed);
        assert!(server.paths().is_empty());
        fetcher.restore_robots(&page.origin(), row(0)).await;
        for _ in 0..2 {
            assert_eq!(fetcher.robots(&page).await.allows(&page), RobotsAnswer::Disallowed);
        }
        assert_eq!(server.paths().len(), 3, "once and two retries, and then not for a while");
    }

    #[tokio::test]
    async fn ignored_robots_are_not_asked_for() {
        let fetcher = Fetcher::new(Options { ignore_robots: true, ..options() }).unwrap();
        let page = url("http://127.0.0.2:1/");
        assert_eq!(fetcher.robots(&page).await.allows(&page), RobotsAnswer::Allowed);
    }

    #[tokio::test]
    async fn memory_of_huge_files_is_bounded() {
        let fetcher = Fetcher::new(options()).unwrap();
        for number in 0..200 {
            let row = RobotsRow { fetched_at: now_millis(), status: 404, body: vec![b'#'; 512 * 1024] };
            fetcher.restore_robots(&format!("http://{number}.test:80"), row).await;
        }
        let table = fetcher.robots_cache().table();
        assert!(table.bytes <= MAX_BYTES);
        assert_eq!(table.bytes, table.entries.values().map(|entry| entry.bytes).sum::<usize>());
        assert!(table.entries.contains_key("http://199.test:80"));
    }
}
