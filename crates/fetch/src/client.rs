//! The fetcher: sends one request at a time, politely.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use super::address_attempts::list;
use super::classify::Http2;
use super::connect::Attempt;
use super::exchange::{Exchange, Unanswered};
use super::headers::RequestHeaders;
use super::host_health::Sign;
use super::http_client::{HttpClients, connection, port};
use super::in_flight::InFlight;
use super::lenient;
use super::licenses::Licenses;
use super::politeness::Permit;
use super::proxy::ProxyRules;
use super::request::{PageRequest, RequestOptions, Validators};
use super::resolver::Resolver;
use super::robots::now_millis;
use super::robots_cache::RobotsCache;
use super::robots_download::{RobotsTransport, download_robots};
use super::site_files::{SiteFiles, SitePreferences};
use super::{
    AddressGuard, CrawlDelay, FetchError, FetchFailure, Options, Politeness, Robots, Traffic, accepts, back_off,
    rest_asked,
};
use ndcrawl_model::{CanonicalUrl, FailureClass, Fetched, Rest, RestRow, RobotsRow};

/// How often a request is sent again that the server has not processed. It is sent at once, and then after a pause that
/// grows by [`REPEAT_PAUSE`] each time.
const MOST_REPEATS: u32 = 10;
const REPEAT_PAUSE: Duration = Duration::from_millis(20);

/// Takes an exchange that was made to read a file of a site, with the URL of the file.
type KeepSiteFile = Arc<dyn Fn(&str, &Fetched) + Send + Sync>;

/// HTTP client with robots.txt, politeness and address filter. Clones are cheap and share all state.
#[derive(Clone)]
pub struct Fetcher(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) options: Options,
    headers: RequestHeaders,
    pub(super) proxies: ProxyRules,
    pub(super) resolver: Arc<Resolver>,
    clients: HttpClients,
    pub(super) politeness: Politeness,
    pub(super) robots: RobotsCache,
    site_files: SiteFiles,
    pub(super) licenses: Licenses,
    keep_site_file: OnceLock<KeepSiteFile>,
    in_flight: InFlight,
    /// Whether any server has ever answered.
    heard: AtomicBool,
    /// Addresses that timed out before any server had answered.
    pub(super) silent: Mutex<HashSet<(SocketAddr, bool)>>,
}

impl Fetcher {
    /// Creates a fetcher. Its requests need a tokio runtime.
    pub fn new(options: Options) -> Result<Self, FetchError> {
        let proxies = ProxyRules::new(options.proxy.as_deref(), |name| std::env::var(name).ok())?;
        if let (Some(proxy), false) = (proxies.hosts().first(), options.allow_private) {
            tracing::warn!(proxy, "proxy resolves host names: the address filter sees only addresses written in URLs");
        }
        let guard = AddressGuard { allow_nets: options.allow_nets.clone(), allow_private: options.allow_private };
        let resolver = Arc::new(Resolver::new(guard, options.resolve.clone(), proxies.hosts()));
        Ok(Self(Arc::new(Inner {
            headers: RequestHeaders::new(&options)?,
            clients: HttpClients::new(&options, &proxies, &resolver)?,
            politeness: Politeness::new(&options),
            robots: RobotsCache::default(),
            site_files: SiteFiles::default(),
            licenses: Licenses::default(),
            keep_site_file: OnceLock::new(),
            in_flight: InFlight::default(),
            heard: AtomicBool::new(false),
            silent: Mutex::default(),
            proxies,
            resolver,
            options,
        })))
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// Whether the fetcher reads bodies of this media type. An empty type is accepted.
    pub fn accepts(&self, media_type: &str) -> bool {
        accepts(&self.0.options.accept_types, media_type)
    }

    /// Sends one request immediately: no delay, no robots.txt, no redirect, no retry. Skips the body of a 2xx response
    /// whose type is not [accepted](Self::accepts).
    pub async fn get(&self, url: &CanonicalUrl) -> Result<Fetched, FetchFailure> {
        let addresses = self.addresses(url).await?;
        self.exchange_at_any(url, &addresses, &self.page_request(), None).await
    }

    /// Sends one request when origin and address are due. Trouble of the host delays the whole origin. The caller checks
    /// [`robots`](Self::robots) before.
    pub async fn polite_get(&self, url: &CanonicalUrl) -> Result<Fetched, FetchFailure> {
        self.ask_politely(url, &self.page_request()).await
    }

    /// [`polite_get`](Self::polite_get) as the caller wants it. With validators, an unchanged resource is answered with
    /// status 304 and no body.
    pub async fn polite_request(&self, url: &CanonicalUrl, request: PageRequest) -> Result<Fetched, FetchFailure> {
        let PageRequest { spelling, unless, any_type, sitemap_bytes } = request;
        let max_body = self.0.options.max_body;
        let sitemap_bytes = sitemap_bytes.map(|most| most.max(max_body));
        self.ask_politely(url, &RequestOptions { max_body, any_type, sitemap_bytes, unless, spelling }).await
    }

    /// [`polite_get`](Self::polite_get) that reads a body of any type.
    pub async fn polite_get_any_type(&self, url: &CanonicalUrl) -> Result<Fetched, FetchFailure> {
        self.ask_politely(url, &RequestOptions { any_type: true, ..self.page_request() }).await
    }

    /// Whether any server has ever answered. Until then the local network is the likely cause of a failure, and
    /// robots.txt is not retried.
    pub fn has_heard(&self) -> bool {
        self.0.heard.load(Ordering::Relaxed)
    }

    /// Returns the least time between two requests to the origin, as known now.
    pub fn gap(&self, origin: &str) -> Duration {
        self.0.politeness.gap(origin)
    }

    /// Returns when the next request to the origin may start, as known now. `None` is at once.
    pub fn next_start(&self, origin: &str) -> Option<std::time::Instant> {
        self.0.politeness.next_start(origin)
    }

    /// Returns when the next request to the origin may start, and the reason for the wait. `None` is at once.
    pub fn resting(&self, origin: &str) -> Option<(std::time::Instant, Rest)> {
        self.0.politeness.resting(origin)
    }

    /// Obeys a `Crawl-delay`. [`robots`](Self::robots) does so by itself.
    pub fn set_crawl_delay(&self, origin: &str, delay: Option<Duration>) -> CrawlDelay {
        self.0.politeness.set_crawl_delay(origin, delay)
    }

    /// Returns and resets the traffic counters of an origin, robots.txt included. Call it soon after each request:
    /// idle origins are evicted.
    pub fn take_traffic(&self, origin: &str) -> Traffic {
        self.0.politeness.take_traffic(origin)
    }

    /// Returns the robots.txt of the URL's origin. Downloads it if the cache has none or an expired one, with retries
    /// and in turn with all other requests. Its `Crawl-delay` is obeyed from then on. If the download fails, the
    /// expired copy stays in use.
    ///
    /// A `Crawl-delay` that is too long is not obeyed but reported: give [`Robots::crawl_delay`] to
    /// [`set_crawl_delay`](Self::set_crawl_delay) to learn of [`TooLong`](CrawlDelay::TooLong).
    ///
    /// Compare [`Robots::row`] with the stored row to see whether there is something new to store.
    pub async fn robots(&self, url: &CanonicalUrl) -> Arc<Robots> {
        if self.0.options.ignore_robots {
            return Arc::new(Robots::ignored());
        }
        let origin = url.origin();
        let download = download_robots(self, &self.0.options, &origin);
        let robots = self.0.robots.get_or_download(&origin, &self.0.options, download).await;
        self.set_crawl_delay(&origin, robots.crawl_delay());
        robots
    }

    /// Returns what the files beside robots.txt say of the use of the site's pages, if that is asked for
    /// ([`Options::preferences`]). Downloads them at the first call for the origin.
    pub async fn site_preferences(&self, url: &CanonicalUrl, robots: &Robots) -> Arc<SitePreferences> {
        match self.0.options.preferences {
            true => self.0.site_files.get_or_download(self, &self.0.options, (&url.origin(), robots)).await,
            false => Arc::default(),
        }
    }

    /// Whether a download of the origin's robots.txt is under way.
    pub fn is_asking_robots(&self, origin: &str) -> bool {
        self.0.robots.is_downloading(origin)
    }

    /// Returns the URL of the request that takes longest, and for how long.
    pub fn longest_request(&self) -> Option<(CanonicalUrl, Duration)> {
        self.0.in_flight.longest()
    }

    /// Puts a robots.txt of an earlier run into the cache, and returns it. An expired one counts until a new one is there.
    pub async fn restore_robots(&self, origin: &str, row: RobotsRow) -> Arc<Robots> {
        self.0.robots.insert(origin, Robots::new(origin, row, &self.0.options)).await
    }

    /// Lets origins and addresses rest as an earlier run has learnt. Returns when each of the origins is due.
    ///
    /// No rest is longer than the options allow now, nor than it was at first, whatever the clock says.
    pub fn restore_rests(&self, rows: &[RestRow]) -> Vec<(String, std::time::Instant)> {
        self.0.politeness.restore(rows, now_millis())
    }

    /// Calls `store` with each rest as soon as it is known. Only the first call counts.
    pub fn store_rests(&self, store: impl Fn(&RestRow) + Send + Sync + 'static) {
        self.0.politeness.store_with(store);
    }

    /// Calls `keep` with each exchange for robots.txt or another file that speaks for a site, and with the URL of the file,
    /// before anything follows from it. It may block. Only the first call counts.
    pub fn keep_site_files(&self, keep: impl Fn(&str, &Fetched) + Send + Sync + 'static) {
        let _ = self.0.keep_site_file.set(Arc::new(keep));
    }

    /// Has the origin rest in the next run until `due`, when a URL of it is to be tried again.
    pub fn store_retry(&self, origin: &str, due: std::time::Instant) {
        self.0.politeness.note_retry(origin, due);
    }

    /// [`polite_get`](Self::polite_get) with the given request options.
    pub(super) async fn ask_politely(
        &self,
        url: &CanonicalUrl,
        request: &RequestOptions,
    ) -> Result<Fetched, FetchFailure> {
        let origin = url.origin();
        let addresses = self.addresses(url).await?;
        let mut permit = self.0.politeness.acquire(&origin, addresses.first().copied()).await;
        let (silent, live): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|&address| self.is_silent(url, address));
        if live.is_empty() && !silent.is_empty() {
            let detail = format!("{} timed out a moment ago", list(&silent));
            return Err(FetchFailure::passing(FailureClass::Timeout, detail));
        }
        let in_flight = self.0.in_flight.begin(url);
        let answer = self.exchange_at_any(url, &live, request, Some(&mut permit)).await;
        drop(in_flight);
        permit.count(answer.is_ok(), answer.as_ref().map_or(0, |fetched| fetched.body.len()));
        if !answer.as_ref().is_ok_and(|fetched| !fetched.truncated) {
            permit.broken_off();
        }
        if answer.is_ok() && !self.0.heard.swap(true, Ordering::Relaxed) {
            self.0.robots.forget_failures();
        }
        self.heed(url, &answer);
        answer
    }

    /// Lets the host rest as long as it asks for, and if it is in trouble.
    fn heed(&self, url: &CanonicalUrl, answer: &Result<Fetched, FetchFailure>) {
        let is_page = answer.as_ref().is_ok_and(|fetched| (200..=299).contains(&fetched.status));
        let longest = self.0.options.max_retry_after;
        let asked = answer.as_ref().ok().and_then(|fetched| rest_asked(fetched, SystemTime::now(), longest));
        let strikes = Sign::of(answer).map_or(0, |sign| self.0.politeness.note_health(url, sign, is_page, asked));
        if strikes > 0 || asked.is_some() {
            self.rest(&url.origin(), asked, strikes);
        }
    }

    pub(super) async fn exchange(
        &self,
        url: &CanonicalUrl,
        request: &RequestOptions,
        permit: Option<&mut Permit>,
    ) -> Result<Fetched, Unanswered> {
        let inner = &*self.0;
        let mut headers = inner.headers.for_url(request.spelling.as_ref().unwrap_or(url.as_url()));
        request.unless.add_to(&mut headers);
        let mut exchange = Exchange::new(&inner.options, url, request.spelling.as_ref(), headers);
        let mut repeats = 0;
        let response = loop {
            if let Some(address) = Attempt::current().filter(|_| inner.clients.is_mended(url)) {
                let address = SocketAddr::new(address.address, port(url.as_url()));
                break exchange.send_mended(address).await?;
            }
            let (client, is_http2) = inner.clients.of(url);
            match exchange.send(client).await {
                Ok(response) => break response,
                // It still is the first request that the server sees.
                Err(unanswered) if unanswered.unprocessed && repeats < MOST_REPEATS => {
                    tokio::time::sleep(REPEAT_PAUSE * repeats).await;
                    repeats += 1;
                }
                Err(unanswered) if is_http2 && unanswered.http2 != Http2::Sound => {
                    inner.clients.give_up_http2(url);
                    if unanswered.http2 == Http2::Broken {
                        return Err(unanswered);
                    }
                }
                Err(unanswered) if self.may_mend(url, &unanswered) => {
                    inner.clients.mend(url);
                    tokio::time::sleep(self.gap(&url.origin())).await;
                }
                Err(unanswered) => return Err(unanswered),
            }
        };
        if let Some(permit) = permit {
            permit.answered(connection(&response));
        }
        let proxied = inner.proxies.for_url(url.as_url()).is_some();
        exchange.receive(response, request, proxied).await.inspect_err(|broken| {
            if broken.http2 != Http2::Sound {
                inner.clients.give_up_http2(url);
            }
        })
    }

    /// Whether a header that was refused may be read once it is mended.
    fn may_mend(&self, url: &CanonicalUrl, unanswered: &Unanswered) -> bool {
        let is_plain = url.as_url().scheme() == "http" && Attempt::current().is_some();
        is_plain && !self.0.clients.is_mended(url) && lenient::may_help(&unanswered.failure.detail)
    }

    pub(super) fn page_request(&self) -> RequestOptions {
        RequestOptions {
            max_body: self.0.options.max_body,
            any_type: false,
            sitemap_bytes: None,
            unless: Validators::default(),
            spelling: None,
        }
    }
}

impl RobotsTransport for Fetcher {
    async fn send_politely(&self, url: &CanonicalUrl, request: &RequestOptions) -> Result<Fetched, FetchFailure> {
        self.ask_politely(url, request).await
    }

    async fn keep(&self, file: &str, fetched: Fetched) -> Fetched {
        let Some(keep) = self.0.keep_site_file.get().cloned() else { return fetched };
        let (file, fetched) = (file.to_owned(), Arc::new(fetched));
        let kept = fetched.clone();
        if let Err(error) = tokio::task::spawn_blocking(move || keep(&file, &kept)).await {
            tracing::error!(url = %fetched.url, %error, "file of a site not handed on");
        }
        Arc::unwrap_or_clone(fetched)
    }

    fn has_heard(&self) -> bool {
        Fetcher::has_heard(self)
    }

    fn strikes(&self, origin: &str) -> u32 {
        self.0.politeness.strikes(origin)
    }

    fn rest(&self, origin: &str, asked: Option<Duration>, attempt: u32) {
        let (rest, why) = match asked {
            Some(asked) => (asked, Rest::RetryAfter),
            None => (back_off(attempt, 0, origin), Rest::BackOff),
        };
        self.0.politeness.back_off(origin, rest, why);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Instant;

    use super::*;
    use crate::ResolveOverride;
    use crate::test::{Server, Then, options, quick, url};
    use ndcrawl_model::FailureClass;

    async fn get(options: Options, server: &Server) -> Result<Fetched, FetchFailure> {
        Fetcher::new(options).unwrap().get(&server.url("/")).await
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn coded(coding: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    }

    #[tokio::test]
    async fn an_exchange_is_recorded_as_it_was() {
        let answer = "HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\nX-Odd: \u{e9}\r\nContent-Length: 2\r\n\r\nok";
        let bytes: Vec<u8> = answer.chars().map(|c| c as u8).collect();
        let server = Server::saying(bytes, Then::Close).await;
        let fetched = get(Options { from: Some("me@a.test".into()), ..options() }, &server).await.unwrap();
        assert_eq!((fetched.status, fetched.version, fetched.reason.as_str()), (200, "HTTP/1.1", "Fine"));
        assert_eq!((fetched.body.as_slice(), fetched.truncated), (b"ok".as_slice(), false));
        assert_eq!(fetched.headers, [("content-type".into(), b"text/html".to_vec()), ("x-odd".into(), vec![0xe9])]);
        assert_eq!(fetched.address, Some(server.address));
        let mut recorded: Vec<String> = fetched
            .request_headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
            .collect();
        let request = server.requests().remove(0);
        let mut sent: Vec<String> = request.trim_end().split("\r\n").skip(1).map(str::to_owned).collect();
        recorded.sort();
        sent.sort();
        assert_eq!(recorded, sent);
        assert!(sent.iter().any(|line| line == "from: me@a.test"));
    }

    #[tokio::test]
    async fn a_redirect_is_an_answer_and_is_not_followed() {
        let server =
            Server::saying("HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n", Then::Close).await;
        let fetched = get(options(), &server).await.unwrap();
        assert_eq!((fetched.status, fetched.header("location").as_deref()), (302, Some("/next")));
        assert_eq!(server.paths(), ["/"]);
    }

    #[tokio::test]
    async fn a_bomb_is_cut_at_the_limit_of_decoded_bytes() {
        let server = Server::saying(coded("gzip", &gzip(&vec![b' '; 64 << 20])), Then::Close).await;
        let fetched = get(Options { max_body: 100_000, ..options() }, &server).await.unwrap();
        assert_eq!((fetched.body.len(), fetched.truncated), (100_000, true));
        assert_eq!(fetched.header("content-encoding"), None);
    }

    #[tokio::test]
    async fn a_body_of_just_the_limit_is_whole() {
        let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345", Then::Close).await;
        let fetched = get(Options { max_body: 5, ..options() }, &server).await.unwrap();
        assert_eq!((fetched.body.as_slice(), fetched.truncated), (b"12345".as_slice(), false));
    }

    #[tokio::test]
    async fn answers_that_break_off_or_are_no_http_are_told_apart() {
        let cases: [(&[u8], FailureClass, bool); 4] = [
            (b"HTTP/1.1 200 OK\r\nContent-Le", FailureClass::Protocol, true),
            (b"", FailureClass::Protocol, true),
            (b"SSH-2.0-OpenSSH\r\n\r\n", FailureClass::Protocol, false),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n", FailureClass::Protocol, true),
        ];
        for (bytes, class, retryable) in cases {
            let server = Server::saying(bytes, Then::Close).await;
            let failure = get(options(), &server).await.unwrap_err();
            assert_eq!((failure.class, failure.retryable), (class, retryable), "{failure}: {}", bytes.escape_ascii());
        }
    }

    #[tokio::test]
    async fn what_came_of_a_body_that_breaks_off_is_kept_and_why_it_broke_off() {
        for framing in ["Content-Length: 100\r\n\r\nshort", "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n"] {
            let server = Server::saying(format!("HTTP/1.1 200 OK\r\n{framing}"), Then::Close).await;
            let fetched = get(options(), &server).await.unwrap();
            assert_eq!((fetched.body.as_slice(), fetched.truncated), (&b"short"[..], true), "{framing}");
            assert!(fetched.broken_off.unwrap().contains("incomplete"), "{framing}");
        }
        for status in ["404 Not Found", "302 Found\r\nLocation: /x", "503 Busy"] {
            let bytes = format!("HTTP/1.1 {status}\r\nContent-Length: 100\r\n\r\n");
            let fetched = get(options(), &Server::saying(bytes, Then::Close).await).await.unwrap();
            assert_eq!((fetched.body.len(), fetched.broken_off), (0, None), "{status}");
        }
    }

    #[tokio::test]
    async fn a_coding_that_cannot_be_undone_is_a_failure_to_decode() {
        for coding in ["gzip", "br", "zstd", "compress"] {
            let server = Server::saying(coded(coding, b"plain text, and long enough"), Then::Close).await;
            let failure = get(options(), &server).await.unwrap_err();
            assert_eq!((failure.class, failure.retryable), (FailureClass::Decode, false), "{coding}: {failure}");
        }
    }

    #[tokio::test]
    async fn an_empty_body_needs_no_decoding() {
        let server = Server::saying(
            "HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
            Then::Close,
        )
        .await;
        assert_eq!(get(options(), &server).await.unwrap().body, b"");
    }

    #[tokio::test]
    async fn each_stage_has_its_time() {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
        for (bytes, word) in [(String::new(), "header"), (head.to_owned(), "body")] {
            let server = Server::saying(bytes, Then::Stall).await;
            let start = Instant::now();
            let failure = get(quick(), &server).await.unwrap_err();
            assert_eq!((failure.class, failure.retryable), (FailureClass::Timeout, true));
            assert!(failure.detail.contains(word), "{failure}");
            assert!(start.elapsed() < Duration::from_secs(2));
        }
        let fetched = get(quick(), &Server::saying(format!("{head}some"), Then::Stall).await).await.unwrap();
        assert_eq!(fetched.body, b"some");
        assert!(fetched.broken_off.unwrap().contains("no further bytes"));
    }

    #[tokio::test]
    async fn a_trickle_ends_with_the_time_of_the_whole() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let page = url(&format!("http://{}/", listener.local_addr().unwrap()));
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 4096]).await.unwrap();
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
            tokio::io::AsyncWriteExt::write_all(&mut stream, head).await.unwrap();
            while tokio::io::AsyncWriteExt::write_all(&mut stream, b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        let failure = Fetcher::new(quick()).unwrap().get(&page).await.unwrap_err();
        assert_eq!((failure.class, failure.detail.as_str()), (FailureClass::Timeout, "no whole body within 1.2s"));
    }

    #[tokio::test]
    async fn a_type_that_is_not_wanted_is_not_read_unless_it_tells_of_an_error() {
        let picture =
            |status: &str| format!("HTTP/1.1 {status}\r\nContent-Type: image/PNG\r\nContent-Length: 3\r\n\r\nabc");
        for (status, body) in [("200 OK", ""), ("404 Not Found", "abc")] {
            let server = Server::saying(picture(status), Then::Close).await;
            let fetched = get(options(), &server).await.unwrap();
            assert_eq!((fetched.media_type().as_str(), fetched.body.as_slice()), ("image/png", body.as_bytes()));
        }
    }

    #[tokio::test]
    async fn a_header_without_measure_is_refused() {
        for bytes in [70_000, 2 << 20] {
            let answer = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(bytes));
            let server = Server::saying(answer, Then::Close).await;
            let failure = get(options(), &server).await.unwrap_err();
            assert_eq!((failure.class, failure.retryable), (FailureClass::TooLarge, false), "{failure}");
        }
    }

    #[tokio::test]
    async fn private_addresses_are_refused_and_never_connected_to() {
        let server = Server::saying("HTTP/1.1 200 OK\r\n\r\n", Then::Close).await;
        let port = server.address.port();
        let to_loopback = ResolveOverride { host: "a.test".into(), port: None, address: server.address.ip() };
        let options = Options { allow_nets: Vec::new(), resolve: vec![to_loopback], ..options() };
        let fetcher = Fetcher::new(options).unwrap();
        for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "localhost", "a.test", "10.0.0.1"] {
            let failure = fetcher.get(&url(&format!("http://{host}:{port}/"))).await.unwrap_err();
            assert_eq!((failure.class, failure.retryable), (FailureClass::PrivateAddress, false), "{host}: {failure}");
        }
        // The client's own look-up, behind our backs, meets the same guard.
        let direct = fetcher
            .0
            .clients
            .of(&url("http://a.test/"))
            .0
            .get(format!("http://a.test:{port}/"))
            .send()
            .await
            .unwrap_err();
        assert_eq!(crate::classify::classify(&direct, false).class, FailureClass::PrivateAddress);
        assert!(server.requests().is_empty());
    }

    #[tokio::test]
    async fn an_override_leads_to_its_address_and_its_port() {
        let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Then::Close).await;
        let port = server.address.port();
        let entry =
            |port, address: &str| ResolveOverride { host: "a.test".into(), port, address: address.parse().unwrap() };
        let resolve = vec![entry(Some(port), "127.0.0.1"), entry(Some(1), "127.0.0.2")];
        let fetcher = Fetcher::new(Options { resolve, ..options() }).unwrap();
        assert_eq!(fetcher.get(&url(&format!("http://a.test:{port}/"))).await.unwrap().address, Some(server.address));
        assert!(server.requests()[0].contains(&format!("host: a.test:{port}\r\n")));
        let failure = fetcher.get(&url("http://a.test:1/")).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::PrivateAddress);
    }

    #[tokio::test]
    async fn a_user_name_in_a_url_is_not_sent() {
        let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Then::Close).await;
        let page = url(&format!("http://me:secret@{}/", server.address));
        Fetcher::new(options()).unwrap().get(&page).await.unwrap();
        assert!(!server.requests()[0].to_lowercase().contains("authorization"), "{:?}", server.requests());
    }

    #[tokio::test]
    async fn an_answer_that_asks_for_rest_gets_it() {
        let server =
            Server::saying("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", Then::Close).await;
        let fetcher = Fetcher::new(options()).unwrap();
        let page = server.url("/");
        assert_eq!(fetcher.next_start(&page.origin()), None);
        fetcher.polite_get(&page).await.unwrap();
        let rest = fetcher.next_start(&page.origin()).unwrap() - Instant::now();
        assert!(rest > Duration::from_secs(6) && rest <= Duration::from_secs(7), "{rest:?}");
        let traffic = fetcher.take_traffic(&page.origin());
        assert_eq!((traffic.requests, traffic.unanswered), (1, 0));
    }

    #[tokio::test]
    async fn by_proxy_the_proxy_looks_up_names_and_literal_addresses_are_still_checked() {
        let proxy = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Then::Close).await;
        let options = Options { proxy: Some(format!("http://{}", proxy.address)), ..options() };
        let fetcher = Fetcher::new(options).unwrap();
        let fetched = fetcher.polite_get(&url("http://only-the-proxy-knows.test/x")).await.unwrap();
        assert_eq!((fetched.status, fetched.address), (200, None));
        assert_eq!(proxy.paths(), ["http://only-the-proxy-knows.test/x"]);
        let failure = fetcher.polite_get(&url("http://10.0.0.1/")).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::PrivateAddress);
    }
}
