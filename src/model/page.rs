//! A fetched page.

use std::net::SocketAddr;
use std::time::Duration;

use pagetext::{Header, PageSource};
use url::Url;

use super::CanonicalUrl;

/// The response to one request, whatever its status.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The requested URL.
    pub url: CanonicalUrl,
    /// The spelling that was requested, if the server has redirected the URL to another spelling of itself.
    pub spelling: Option<Url>,
    /// The HTTP status.
    pub status: u16,
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    pub version: &'static str,
    /// The reason phrase, if any.
    pub reason: String,
    /// The response headers as received, without those of the decoded transfer (content coding, transfer coding,
    /// length).
    pub headers: Vec<Header>,
    /// The request headers as sent, with secrets masked.
    pub request_headers: Vec<Header>,
    /// The decoded body, cut at the limit.
    pub body: Vec<u8>,
    /// Whether the body was cut at the limit.
    pub truncated: bool,
    /// The address of the server. `None` behind a proxy.
    pub address: Option<SocketAddr>,
    /// When the request was sent, milliseconds since 1970 UTC. `None` if a file does not tell.
    pub started_at: Option<i64>,
    /// Time from the start of the request to the end of the body.
    pub elapsed: Duration,
}

impl Fetched {
    /// Returns the address that was requested.
    pub fn address_requested(&self) -> &Url {
        self.spelling.as_ref().unwrap_or_else(|| self.url.as_url())
    }

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
