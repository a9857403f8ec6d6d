//! Downloads robots.txt: redirects, retries and back-off (RFC 9309, section 2.3.1).

use std::time::{Duration, SystemTime};

use super::request::{RequestOptions, Validators};
use super::robots::now_millis;
use super::{Absent, FetchFailure, Options, Robots, absent_page, asks_to_come_again, rest_asked, tries_before_answer};
use ndcrawl_model::{CanonicalUrl, FailureClass, Fetched, NormalizeOptions, Normalizer, RobotsRow};

/// Redirects that are followed (RFC 9309, section 2.3.1.2: at least five).
const MAX_REDIRECTS: u32 = 5;

/// The network side of a download.
pub(super) trait RobotsTransport: Sync {
    /// Sends one request when origin and address are due. Follows no redirect.
    fn send_politely(
        &self,
        url: &CanonicalUrl,
        request: &RequestOptions,
    ) -> impl Future<Output = Result<Fetched, FetchFailure>> + Send;

    /// Hands on an exchange that was made to read this file of a site, and returns it.
    fn keep(&self, file: &str, fetched: Fetched) -> impl Future<Output = Fetched> + Send;

    /// Whether any server has ever answered.
    fn has_heard(&self) -> bool;

    /// Returns how often in a row the origin was in trouble.
    fn strikes(&self, origin: &str) -> u32;

    /// Delays the origin's next request by `asked`; without it by the back-off after this attempt.
    fn rest(&self, origin: &str, asked: Option<Duration>, attempt: u32);
}

/// Downloads the robots.txt of an origin, with retries.
///
/// A host that was in trouble before is asked once: its rests get longer, and whoever waits here has a place among the
/// fetches, which others need.
pub(super) async fn download_robots(transport: &impl RobotsTransport, options: &Options, origin: &str) -> Robots {
    let (row, failure) = download_row(transport, options, origin, ("/robots.txt", options.robots_max_bytes)).await;
    if failure.is_some() {
        return Robots::failed(row, failure);
    }
    let robots = Robots::new(origin, row, options);
    if robots.is_without_sense() {
        tracing::warn!(origin, "robots.txt has text, but no line that such a file has; nothing is forbidden by it");
    }
    robots
}

/// Downloads a file of an origin as robots.txt is downloaded: its path, and the bytes that are read of it.
pub(super) async fn download_row(
    transport: &impl RobotsTransport,
    options: &Options,
    origin: &str,
    file: (&str, usize),
) -> (RobotsRow, Option<FetchFailure>) {
    let mut attempt = transport.strikes(origin).saturating_add(1);
    loop {
        let answer = follow_redirects(transport, origin, file).await;
        let again = match &answer {
            Ok(fetched) => asks_to_come_again(fetched),
            Err(failure) => failure.retryable && attempt <= tries_before_answer(failure, transport.has_heard()),
        };
        if !again || attempt > options.retries {
            return row_of(answer);
        }
        let asked = answer.ok().and_then(|fetched| rest_asked(&fetched, SystemTime::now(), options.max_retry_after));
        transport.rest(origin, asked, attempt);
        attempt += 1;
    }
}

/// Each hop waits for its own origin's turn, and its address is checked like any other.
async fn follow_redirects(
    transport: &impl RobotsTransport,
    origin: &str,
    (path, max_body): (&str, usize),
) -> Result<Fetched, FetchFailure> {
    let names = Normalizer::new(NormalizeOptions { strip_params: Vec::new(), ..NormalizeOptions::default() });
    let no_url = |error| FetchFailure::lasting(FailureClass::Redirect, format!("{path}: {error}"));
    let file = names.absolute(&format!("{origin}{path}")).map_err(no_url)?;
    let mut url = file.clone();
    let mut request =
        RequestOptions { max_body, any_type: true, sitemap_bytes: None, unless: Validators::default(), spelling: None };
    let mut hops = 0;
    loop {
        let fetched = transport.send_politely(&url, &request).await?;
        let fetched = transport.keep(file.as_str(), fetched).await;
        if fetched.status == 206
            && let Some(Absent::Part(detail)) = absent_page(&fetched)
        {
            // The rules that are missing may be those that forbid.
            return Err(FetchFailure::passing(FailureClass::Partial, detail));
        }
        if (200..=299).contains(&fetched.status)
            && let Some(why) = fetched.broken_off
        {
            return Err(FetchFailure::passing(FailureClass::Partial, why));
        }
        let next = fetched.location().filter(|_| fetched.is_redirect());
        match next.map(|location| names.resolve_spelled(fetched.address_requested(), &location)) {
            // Nothing is compared here, so the server gets each spelling as it asked for it.
            Some(Ok(next)) if hops < MAX_REDIRECTS => {
                url = next.url;
                request.spelling = Some(next.spelling);
            }
            _ => return Ok(fetched),
        }
        hops += 1;
    }
}

fn row_of(answer: Result<Fetched, FetchFailure>) -> (RobotsRow, Option<FetchFailure>) {
    match answer {
        Ok(Fetched { started_at, status, body, .. }) => {
            // The time that the archive tells, too.
            (RobotsRow { fetched_at: started_at.unwrap_or_else(now_millis), status, body }, None)
        }
        Err(failure) => (RobotsRow { fetched_at: now_millis(), status: 0, body: Vec::new() }, Some(failure)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{Server, Then, options, url};
    use crate::{Fetcher, Options, RobotsAnswer};

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
    async fn each_exchange_is_handed_on_with_the_file_that_it_is_for() {
        let server = Server::new(|request| match path(request) {
            "/robots.txt" => text("302 Found", "Location: /elsewhere\r\n", ""),
            _ => text("200 OK", "", "User-agent: *\nContent-Usage: train-ai=n\n"),
        });
        let server = server.await;
        let fetcher = Fetcher::new(options()).unwrap();
        let kept = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let keeps = kept.clone();
        fetcher.keep_site_files(move |file, fetched| {
            keeps.lock().unwrap().push((file.to_owned(), fetched.url.clone(), fetched.status, fetched.started_at));
        });
        let (robots, page) = (fetcher.robots(&server.url("/")).await, server.url("/a"));
        fetcher.polite_get(&page).await.unwrap();
        let file = server.url("/robots.txt").as_str().to_owned();
        let kept = kept.lock().unwrap();
        assert!(kept.iter().all(|(of, ..)| *of == file), "{kept:?}");
        let urls: Vec<_> = kept.iter().map(|(_, url, status, _)| (url.as_url().path(), *status)).collect();
        assert_eq!(urls, [("/robots.txt", 302), ("/elsewhere", 200)]);
        assert_eq!(kept[1].3, Some(robots.row().fetched_at), "the time of the archive is that of the statements");
    }

    #[tokio::test]
    async fn a_redirect_to_a_private_address_is_not_followed() {
        let server = Server::new(|_| text("302 Found", "Location: http://127.0.0.2:1/robots.txt\r\n", "")).await;
        let robots = Fetcher::new(options()).unwrap().robots(&server.url("/")).await;
        assert_eq!(robots.allows(&server.url("/")), RobotsAnswer::Unreachable);
        assert_eq!(robots.failure().unwrap().class, FailureClass::PrivateAddress);
    }

    #[tokio::test]
    async fn a_server_in_trouble_is_asked_again_each_time() {
        let server = Server::new(|_| text("500 Oops", "Retry-After: 0\r\n", "")).await;
        let fetcher = Fetcher::new(options()).unwrap();
        for _ in 0..2 {
            let robots = fetcher.robots(&server.url("/")).await;
            assert_eq!(robots.allows(&server.url("/")), RobotsAnswer::Unreachable);
        }
        assert_eq!(server.paths().len(), 4, "once and two retries, then once a call: nothing is decided for good");
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
}
