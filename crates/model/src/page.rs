//! A fetched page.

use std::net::SocketAddr;
use std::time::Duration;

use neardup::model::{Digest, PageId};
use pagetext::{Header, PageSource};
use url::Url;

use super::CanonicalUrl;

/// The header line, in the archive, that says where the document of a page with scripts comes from.
pub const PAGE_SOURCE: &str = "x-ndcrawl-page-source";

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
    /// Whether the body was cut: at the limit, or because the transfer broke off.
    pub truncated: bool,
    /// Why the transfer of the body ended too early, if it did. Another try may get all of it.
    pub broken_off: Option<String>,
    /// The address of the server. `None` behind a proxy.
    pub address: Option<SocketAddr>,
    /// When the request was sent, milliseconds since 1970 UTC. `None` if a file does not tell.
    pub started_at: Option<i64>,
    /// Time from the start of the request to the end of the body.
    pub elapsed: Duration,
}

/// Returns the digest under which a truncated body is compared. Two such bodies may differ in what is missing, so each
/// page has its own.
pub fn digest_of_part(body: Digest, page: PageId) -> Digest {
    Digest::of(&[&body.0[..], &page.0.to_le_bytes()].concat())
}

impl Fetched {
    /// Returns a page that no request has brought, such as one from a file, as if a server had sent it.
    pub fn of_file(url: CanonicalUrl, content_type: &str, body: Vec<u8>) -> Self {
        Self {
            url,
            spelling: None,
            status: 200,
            version: "HTTP/1.1",
            reason: "OK".to_owned(),
            headers: vec![("Content-Type".to_owned(), content_type.as_bytes().to_vec())],
            request_headers: Vec::new(),
            body,
            truncated: false,
            broken_off: None,
            address: None,
            started_at: None,
            elapsed: Duration::ZERO,
        }
    }

    /// Whether the status sends the client to `Location` (RFC 9110, section 15.4): also a choice of several (300), if the
    /// server prefers one.
    pub fn is_redirect(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308) || (self.status == 300 && self.location().is_some())
    }

    /// Returns the address that was requested.
    pub fn address_requested(&self) -> &Url {
        self.spelling.as_ref().unwrap_or_else(|| self.url.as_url())
    }

    /// Returns the page as its reader takes it.
    pub fn source(&self) -> PageSource<'_> {
        let is_browsers = |(name, value): &Header| name.eq_ignore_ascii_case(PAGE_SOURCE) && value == b"browser";
        PageSource {
            fetched_at: self.started_at,
            scripts_ran: self.headers.iter().any(is_browsers),
            ..PageSource::new(&self.url, &self.body).with_headers(&self.headers)
        }
    }

    /// Returns the first header line of that name (case does not matter), as text with other bytes replaced.
    pub fn header(&self, name: &str) -> Option<String> {
        self.source().header(name)
    }

    /// Returns all header lines of that name, as text with other bytes replaced.
    pub fn headers_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        self.source().headers_named(name)
    }

    /// Returns the target of a redirect as the server spells it: the first `Location` that is not empty.
    ///
    /// Bytes beyond ASCII are percent-encoded one by one. They have no encoding of their own (RFC 9110, section 5.5),
    /// and the server knows what it meant.
    pub fn location(&self) -> Option<String> {
        let lines = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("location"));
        let value = lines.map(|(_, value)| value.trim_ascii()).find(|value| !value.is_empty())?;
        let mut target = String::with_capacity(value.len());
        for &byte in value {
            match byte.is_ascii() {
                true => target.push(char::from(byte)),
                false => target.push_str(&format!("%{byte:02X}")),
            }
        }
        Some(target)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Normalizer;

    fn redirect(locations: &[&[u8]]) -> Fetched {
        Fetched {
            url: Normalizer::default().absolute("http://a.test/b/").unwrap(),
            spelling: None,
            status: 302,
            version: "HTTP/1.1",
            reason: String::new(),
            headers: locations.iter().map(|value| ("Location".to_owned(), value.to_vec())).collect(),
            request_headers: Vec::new(),
            body: Vec::new(),
            truncated: false,
            broken_off: None,
            address: None,
            started_at: None,
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn bytes_of_a_location_are_kept() {
        for (location, expected) in [
            (&b"/caf\xe9"[..], "http://a.test/caf%E9"),
            (b"/caf\xc3\xa9", "http://a.test/caf%C3%A9"),
            (b"c?q=\x93\xfa\x96\x7b&r=\xff", "http://a.test/b/c?q=%93%FA%96{&r=%FF"),
            (b"http://b\xc3\xbccher.test/\xe9", "http://xn--bcher-kva.test/%E9"),
            (b"/%e9\xe9 x", "http://a.test/%E9%E9%20x"),
        ] {
            let answer = redirect(&[location]);
            let target = Normalizer::default().resolve(answer.url.as_url(), &answer.location().unwrap()).unwrap();
            assert_eq!(target.as_str(), expected, "{}", location.escape_ascii());
        }
        assert_eq!(redirect(&[b"/x#\xe9"]).location().as_deref(), Some("/x#%E9"));
    }

    #[test]
    fn an_empty_location_is_none() {
        assert_eq!(redirect(&[]).location(), None);
        assert_eq!(redirect(&[b" "]).location(), None);
        assert_eq!(redirect(&[b"", b"/1", b"/2"]).location().as_deref(), Some("/1"));
    }
}
