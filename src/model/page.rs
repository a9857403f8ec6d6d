//! A page on its way: as fetched, then as rendered.

use std::net::SocketAddr;
use std::time::Duration;

use pagetext::{Header, PageSource};

use super::CanonicalUrl;

/// The answer to one request, whatever its status.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The URL that was asked.
    pub url: CanonicalUrl,
    /// The HTTP status.
    pub status: u16,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    pub version: &'static str,
    /// The reason phrase, if any.
    pub reason: String,
    /// The response's header lines as received, but for those that speak of a transfer that has
    /// been undone (content coding, transfer coding, length).
    pub headers: Vec<Header>,
    /// The request's header lines as sent.
    pub request_headers: Vec<Header>,
    /// The body without transfer and content coding, at most as long as the limit.
    pub body: Vec<u8>,
    /// Whether the body was cut at the limit.
    pub truncated: bool,
    /// The address that answered.
    pub address: Option<SocketAddr>,
    /// When the request was sent, milliseconds since 1970 UTC.
    pub started_at: i64,
    /// From the request's start to the end of the body.
    pub elapsed: Duration,
}

impl Fetched {
    /// Returns the page as its reader takes it.
    pub fn source(&self) -> PageSource<'_> {
        PageSource { url: &self.url, headers: &self.headers, body: &self.body, fetched_at: self.started_at }
    }

    /// Returns the first header line of that name (case does not matter), as text with other bytes replaced.
    pub fn header(&self, name: &str) -> Option<String> {
        self.source().header(name)
    }

    /// Returns all header lines of that name, as text with other bytes replaced.
    pub fn headers_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        self.source().headers_named(name)
    }

    /// Returns the media type of `Content-Type` in lower case, without parameters; empty if there is none.
    pub fn media_type(&self) -> String {
        self.source().media_type()
    }
}

impl<'a> From<&'a Fetched> for PageSource<'a> {
    fn from(page: &'a Fetched) -> Self {
        page.source()
    }
}
