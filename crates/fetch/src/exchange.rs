//! One request and its response, within limits of time and size.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Response, Version};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::body_end::{BodyEnd, Framing, is_document_over};
use super::classify::{Http2, classify, is_end_of_file, is_unprocessed, is_violation};
use super::content_coding::{CodingError, Codings, Label};
use super::headers::{as_received, as_sent, size};
use super::request::RequestOptions;
use super::{FetchFailure, Options, accepts};
use ndcrawl_model::{CanonicalUrl, FailureClass, Fetched, MediaType};

/// How long the body of a redirect or an error is waited for.
const REMARK_PATIENCE: Duration = Duration::from_secs(1);

/// A request in flight.
pub(super) struct Exchange<'a> {
    options: &'a Options,
    url: &'a CanonicalUrl,
    /// The spelling to request, if it is not the canonical one.
    spelling: Option<&'a Url>,
    headers: HeaderMap,
    started: Instant,
    started_at: i64,
}

/// A request without a whole response.
pub(super) struct Unanswered {
    pub(super) failure: FetchFailure,
    /// Whether it failed before the connection was made.
    pub(super) connecting: bool,
    /// Whether the server has not seen it, although the connection was made.
    pub(super) unprocessed: bool,
    /// What it says of the server's HTTP/2.
    pub(super) http2: Http2,
}

impl Unanswered {
    fn after_connecting(failure: FetchFailure) -> Self {
        Self { failure, connecting: false, unprocessed: false, http2: Http2::Sound }
    }

    fn of_body(error: &reqwest::Error) -> Self {
        Self { http2: Http2::judge(error), ..Self::after_connecting(classify(error, false)) }
    }
}

impl<'a> Exchange<'a> {
    /// Creates a request. Its time limits start now.
    pub(super) fn new(
        options: &'a Options,
        url: &'a CanonicalUrl,
        spelling: Option<&'a Url>,
        headers: HeaderMap,
    ) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { options, url, spelling, headers, started: Instant::now(), started_at: since_1970.as_millis() as i64 }
    }

    /// Sends the request and waits for the response's header.
    pub(super) async fn send(&mut self, client: &reqwest::Client) -> Result<Response, Unanswered> {
        self.sign();
        let mut url = self.address().clone();
        // The client would send a user name in the URL as an Authorization header.
        // Neither call can fail on a URL with a host.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        let request = client.get(url).headers(self.headers.clone()).send();
        let limit = self.options.header_timeout.min(self.options.timeout);
        let in_time = timeout_at(self.started + limit, request).await;
        let answer = in_time.map_err(|_| Unanswered::after_connecting(timeout("no header", limit)))?;
        let response = answer.map_err(|error| Unanswered {
            failure: classify(&error, self.url.as_url().scheme() == "https"),
            connecting: error.is_connect(),
            unprocessed: is_unprocessed(&error),
            http2: Http2::judge(&error),
        })?;
        match size(response.headers()) {
            size if size > self.options.max_header => {
                let detail = format!("the response header has {size} bytes, the limit is {}", self.options.max_header);
                Err(Unanswered::after_connecting(FetchFailure::lasting(FailureClass::TooLarge, detail)))
            }
            _ => Ok(response),
        }
    }

    /// Sends the request over a connection that mends the response's header.
    pub(super) async fn send_mended(&mut self, address: SocketAddr) -> Result<Response, Unanswered> {
        self.sign();
        let limit = self.options.header_timeout.min(self.options.timeout);
        let sending = super::lenient::send(address, self.address(), &self.headers);
        let in_time = timeout_at(Instant::now() + limit, sending).await;
        let answer = in_time.map_err(|_| Unanswered::after_connecting(timeout("no header", limit)))?;
        answer.map_err(|error| {
            Unanswered::after_connecting(FetchFailure::lasting(
                FailureClass::Protocol,
                format!("the response is not HTTP: {error}"),
            ))
        })
    }

    /// Signs the request as it is now: an attempt may be long after the one before.
    fn sign(&mut self) {
        if let Some(signer) = &self.options.signer {
            signer.sign(self.spelling.unwrap_or_else(|| self.url.as_url()), &mut self.headers);
        }
    }

    /// Reads the body up to the limit. A response that is not read to its end closes its connection.
    ///
    /// Status and header count whatever becomes of the body. What came of a body that breaks off is kept.
    pub(super) async fn receive(
        self,
        mut response: Response,
        request: &RequestOptions,
        proxied: bool,
    ) -> Result<Fetched, Unanswered> {
        let mut fetched = self.fetched(&response, proxied);
        if !response.status().is_success() {
            self.read_remark(&mut response, request.max_body, &mut fetched).await;
        } else if let Some(most) = self.most_bytes(&response, request, &fetched) {
            self.read_decoded(&mut response, most, &mut fetched).await?;
        }
        fetched.elapsed = self.started.elapsed();
        Ok(fetched)
    }

    /// Returns how much of the body of a page is read; `None` if nobody wants its type.
    fn most_bytes(&self, response: &Response, request: &RequestOptions, fetched: &Fetched) -> Option<usize> {
        let may_be_sitemap = || request.any_type || may_be_sitemap(self.address(), &fetched.media_type());
        let sitemap_bytes = request.sitemap_bytes.filter(|_| may_be_sitemap());
        let is_wanted = request.any_type || sitemap_bytes.is_some() || self.is_accepted(response);
        is_wanted.then(|| sitemap_bytes.unwrap_or(request.max_body))
    }

    fn address(&self) -> &Url {
        self.spelling.unwrap_or_else(|| self.url.as_url())
    }

    fn is_accepted(&self, response: &Response) -> bool {
        let lines = response.headers().get_all(CONTENT_TYPE).iter();
        let declared = MediaType::of_lines(lines.map(|value| value.as_bytes()));
        accepts(&self.options.accept_types, declared.as_ref().map_or("", |declared| &declared.essence))
    }

    /// Reads what a redirect or an error says beside its status. Of little use, so nobody waits for it long.
    async fn read_remark(&self, response: &mut Response, max_body: usize, fetched: &mut Fetched) {
        let codings = codings(response);
        let reading = self.read_body(response, codings.most_encoded(max_body), &mut fetched.body);
        let end = tokio::time::timeout(REMARK_PATIENCE, reading).await;
        fetched.truncated = !matches!(end, Ok(Ok(BodyEnd::Whole)));
        if let Ok(decoded) = codings.undo(std::mem::take(&mut fetched.body), max_body, Label::Fresh) {
            fetched.body = decoded.body;
            fetched.truncated |= decoded.is_cut;
        }
    }

    /// Reads the body and undoes its codings. Keeps at most `max_body` bytes.
    async fn read_decoded(
        &self,
        response: &mut Response,
        max_body: usize,
        fetched: &mut Fetched,
    ) -> Result<(), Unanswered> {
        let codings = codings(response);
        let end = self.read_body(response, codings.most_encoded(max_body), &mut fetched.body).await?;
        fetched.truncated = end != BodyEnd::Whole;
        if let BodyEnd::BrokenOff(why) = end {
            fetched.broken_off = Some(why);
        }
        if codings.are_none() {
            return Ok(());
        }
        let decoded = codings.undo(std::mem::take(&mut fetched.body), max_body, Label::Fresh);
        let decoded = decoded.map_err(|error| Unanswered::after_connecting(undecoded(&error)))?;
        fetched.body = decoded.body;
        if decoded.is_incomplete {
            fetched.broken_off.get_or_insert_with(|| "the encoded body ends too early".to_owned());
        } else if fetched.broken_off.is_some() && !codings.are_all_unread() {
            // A coded body tells itself whether it is whole, whatever its length was said to be.
            (fetched.truncated, fetched.broken_off) = (false, None);
        }
        fetched.truncated |= decoded.is_cut;
        Ok(())
    }

    /// Reads the body up to `max_body` bytes. An end that is too early is a failure if nothing has come before.
    async fn read_body(
        &self,
        response: &mut Response,
        max_body: usize,
        body: &mut Vec<u8>,
    ) -> Result<BodyEnd, Unanswered> {
        let framing = Framing::of(response);
        let end = self.started + self.options.timeout;
        loop {
            let idle = Instant::now() + framing.patience(body).min(self.options.idle_timeout);
            let chunk = match timeout_at(idle.min(end), response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => return Ok(BodyEnd::Whole),
                Ok(Err(error)) => return self.end_of_error(&error, framing, body),
                Err(_) if idle >= end => {
                    return Err(Unanswered::after_connecting(timeout("no whole body", self.options.timeout)));
                }
                Err(_) if framing.ends_with_connection() && !body.is_empty() => {
                    return Ok(if is_document_over(body) { BodyEnd::Whole } else { BodyEnd::Cut });
                }
                Err(_) => {
                    let silence = timeout("no further bytes of the body", self.options.idle_timeout);
                    return broken_off(silence, body).map_err(Unanswered::after_connecting);
                }
            };
            let room = max_body - body.len();
            if chunk.len() > room {
                body.extend_from_slice(&chunk[..room]);
                return Ok(BodyEnd::Cut);
            }
            body.extend_from_slice(&chunk);
        }
    }

    /// Returns how a body ends whose transfer has failed.
    fn end_of_error(&self, error: &reqwest::Error, framing: Framing, body: &[u8]) -> Result<BodyEnd, Unanswered> {
        if framing.ends_with_connection() && is_end_of_file(error) {
            return Ok(BodyEnd::Whole);
        }
        let unanswered = Unanswered::of_body(error);
        if unanswered.http2 != Http2::Sound || is_violation(error) {
            return Err(unanswered);
        }
        broken_off(unanswered.failure, body).map_err(Unanswered::after_connecting)
    }

    fn fetched(&self, response: &Response, proxied: bool) -> Fetched {
        Fetched {
            url: self.url.clone(),
            spelling: self.spelling.cloned(),
            status: response.status().as_u16(),
            version: version(response.version()),
            reason: reason(response),
            headers: as_received(response.headers()),
            request_headers: as_sent(self.address(), &self.headers),
            body: Vec::new(),
            truncated: false,
            broken_off: None,
            address: response.remote_addr().filter(|_| !proxied),
            started_at: Some(self.started_at),
            elapsed: Duration::ZERO,
        }
    }
}

fn codings(response: &Response) -> Codings {
    Codings::of(response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes())))
}

/// What came of a body that ends too early; the failure itself if nothing came.
fn broken_off(failure: FetchFailure, body: &[u8]) -> Result<BodyEnd, FetchFailure> {
    if body.is_empty() { Err(failure) } else { Ok(BodyEnd::BrokenOff(failure.to_string())) }
}

/// Whether an answer of this type may be a sitemap: XML, a plain list, or one of these compressed.
fn may_be_sitemap(address: &Url, media_type: &str) -> bool {
    match media_type {
        "text/xml" | "application/xml" | "text/plain" | "application/gzip" | "application/x-gzip" => true,
        "application/octet-stream" | "binary/octet-stream" => address.path().ends_with(".gz"),
        other => other.ends_with("+xml") && other != "application/xhtml+xml",
    }
}

/// The failure of a body whose codings cannot be undone. One that ended too early may be whole the next time.
fn undecoded(error: &CodingError) -> FetchFailure {
    match error {
        CodingError::Incomplete(_) => FetchFailure::passing(FailureClass::Decode, error.to_string()),
        _ => FetchFailure::lasting(FailureClass::Decode, error.to_string()),
    }
}

fn timeout(what: &str, limit: Duration) -> FetchFailure {
    FetchFailure::passing(FailureClass::Timeout, format!("{what} within {limit:?}"))
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}

/// The reason phrase as sent. HTTP/2 has none.
fn reason(response: &Response) -> String {
    match response.extensions().get::<hyper::ext::ReasonPhrase>() {
        Some(phrase) => String::from_utf8_lossy(phrase.as_bytes()).into_owned(),
        None if response.version() == Version::HTTP_2 => String::new(),
        None => response.status().canonical_reason().unwrap_or_default().to_owned(),
    }
}
