//! Request headers, and the headers kept in the record.

use std::sync::Arc;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, COOKIE, FROM, HOST, HeaderMap, HeaderName, HeaderValue,
    TRANSFER_ENCODING, USER_AGENT,
};
use url::Url;

use super::options::MARKDOWN;
use super::{Cookies, FetchError, Options};
use ndcrawl_model::Header;

/// Content codings that are undone.
const CODINGS: &str = "gzip, deflate, br, zstd";

/// The request headers of one crawl.
pub(super) struct RequestHeaders {
    everywhere: HeaderMap,
    cookies: Option<Arc<Cookies>>,
    further: HeaderMap,
    further_origins: Option<Vec<String>>,
}

impl RequestHeaders {
    /// Builds and checks the headers from the options.
    pub(super) fn new(options: &Options) -> Result<Self, FetchError> {
        let mut everywhere = HeaderMap::new();
        everywhere.insert(USER_AGENT, value("User-Agent", &options.user_agent)?);
        everywhere.insert(ACCEPT, value("Accept", &accept(&options.accept_types, options.prefer_markdown))?);
        everywhere.insert(ACCEPT_ENCODING, HeaderValue::from_static(CODINGS));
        if let Some(from) = &options.from {
            everywhere.insert(FROM, value("From", from)?);
        }
        let mut further = HeaderMap::new();
        for (name, text) in &options.headers {
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| FetchError::Header(name.clone()))?;
            // The client sets these from the URL and the message.
            if key == HOST || key == CONTENT_LENGTH || key == TRANSFER_ENCODING {
                return Err(FetchError::Header(name.clone()));
            }
            further.append(key, value(name, text)?);
        }
        let further_origins = options.header_origins.clone();
        Ok(Self { everywhere, cookies: options.cookies.clone(), further, further_origins })
    }

    /// Returns the headers of a request for this URL, without `Host`.
    pub(super) fn for_url(&self, url: &Url) -> HeaderMap {
        let mut headers = self.everywhere.clone();
        if let Some(cookies) = self.cookies.as_ref().and_then(|cookies| cookies.for_url(url)) {
            headers.insert(COOKIE, cookies);
        }
        // Other users may have servers at other ports of the host, and http is read by all on the way.
        if self.further_origins.as_ref().is_none_or(|origins| origins.contains(&origin_of(url))) {
            for name in self.further.keys() {
                headers.remove(name);
                for value in self.further.get_all(name) {
                    headers.append(name, value.clone());
                }
            }
        }
        headers
    }
}

/// Returns the origin of an address, as [`CanonicalUrl::origin`](ndcrawl_model::CanonicalUrl::origin).
fn origin_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    format!("{}://{host}:{}", url.scheme(), url.port_or_known_default().unwrap_or_default())
}

/// Replaces a secret in the record.
pub const MASK: &str = "***";

/// A header whose name contains one of these holds a secret.
const SECRET_NAMES: [&str; 6] = ["auth", "cookie", "token", "secret", "key", "password"];

/// Whether a request header holds a secret.
pub fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Returns the request headers for the record, with the `Host` that the client adds. Masks secrets, because others
/// may read the record.
pub(super) fn as_sent(url: &Url, headers: &HeaderMap) -> Vec<Header> {
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let masked = lines(headers).map(|(name, value)| match is_secret_header(&name) {
        true => (name, MASK.as_bytes().to_vec()),
        false => (name, value),
    });
    std::iter::once(("host".to_owned(), host.into_bytes())).chain(masked).collect()
}

/// Returns the response headers for the record, without `Content-Encoding`, `Content-Length` and
/// `Transfer-Encoding`: the body is kept decoded, not as transferred.
pub(super) fn as_received(headers: &HeaderMap) -> Vec<Header> {
    let of_transfer = [CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING];
    lines(headers).filter(|(name, _)| !of_transfer.iter().any(|other| other.as_str() == name)).collect()
}

/// Bytes of a header: names, values, and four bytes per line for `: ` and CRLF.
pub(super) fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum()
}

fn lines(headers: &HeaderMap) -> impl Iterator<Item = Header> {
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
}

/// Builds `Accept` from the accepted types, plus `*/*` at low preference. A server with other types then sends one,
/// instead of a 406. As browsers do, it prefers HTML, or else Markdown if that is wanted: a server that has several forms
/// may send any that are equal (RFC 9110, section 12.5.1).
fn accept(types: &[String], prefers_markdown: bool) -> String {
    let is_page = |name: &str| matches!(name, "text/html" | "application/xhtml+xml");
    let has_page = types.iter().any(|name| is_page(name));
    // Inside a subtype `*` means nothing to a server. Some servers send Markdown to whoever names it, with whatever weight.
    let is_named = |name: &str| !name.contains('*') && (name != MARKDOWN || !has_page);
    let named = types.iter().filter(|name| is_named(name));
    let weighed = named.map(|name| match has_page && (prefers_markdown || !is_page(name)) {
        true => format!("{name};q=0.9"),
        false => name.clone(),
    });
    let first = (prefers_markdown && has_page).then(|| MARKDOWN.to_owned());
    first.into_iter().chain(weighed).chain(["*/*;q=0.1".to_owned()]).collect::<Vec<_>>().join(", ")
}

fn value(name: &str, text: &str) -> Result<HeaderValue, FetchError> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| FetchError::Header(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(options: &Options, url: &str) -> Vec<String> {
        let url = Url::parse(url).unwrap();
        let lines = as_sent(&url, &RequestHeaders::new(options).unwrap().for_url(&url));
        lines.into_iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(&value))).collect()
    }

    #[test]
    fn markdown_is_named_if_it_is_preferred_or_no_page_is_wanted() {
        let types = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let all = types(&["text/html", MARKDOWN, "text/plain", "application/*+xml"]);
        assert_eq!(accept(&all, false), "text/html, text/plain;q=0.9, */*;q=0.1");
        assert_eq!(accept(&all, true), "text/markdown, text/html;q=0.9, text/plain;q=0.9, */*;q=0.1");
        assert_eq!(accept(&types(&[MARKDOWN]), false), "text/markdown, */*;q=0.1");
        assert_eq!(accept(&types(&[MARKDOWN]), true), "text/markdown, */*;q=0.1");
    }

    #[test]
    fn further_headers_replace_ours_and_go_to_the_named_origins_only() {
        let options = Options {
            headers: vec![("Authorization".into(), "Basic x".into()), ("accept".into(), "text/html".into())],
            header_origins: Some(vec!["http://seed.test:81".into()]),
            ..Options::default()
        };
        let seed = sent(&options, "http://seed.test:81/");
        let request = RequestHeaders::new(&options).unwrap().for_url(&Url::parse("http://seed.test:81/").unwrap());
        assert_eq!(request["authorization"], "Basic x");
        assert_eq!(seed[0], "host: seed.test:81");
        assert!(seed.contains(&"authorization: ***".to_owned()), "what is kept is read by others");
        assert_eq!(seed.iter().filter(|line| line.starts_with("accept:")).collect::<Vec<_>>(), ["accept: text/html"]);
        for other in ["http://other.test/", "http://seed.test/", "http://seed.test:82/", "https://seed.test:81/"] {
            assert!(!sent(&options, other).iter().any(|line| line.contains("authorization")), "{other}");
        }
    }

    #[test]
    fn a_header_that_could_split_the_request_is_refused() {
        for (name, text) in [("X", "a\r\nY: b"), ("X Y", "a"), ("X", "a\0"), ("Host", "b.test"), ("", "a")] {
            let options = Options { headers: vec![(name.into(), text.into())], ..Options::default() };
            assert!(matches!(RequestHeaders::new(&options), Err(FetchError::Header(_))), "{name}");
        }
    }
}
