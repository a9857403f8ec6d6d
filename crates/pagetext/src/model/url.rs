//! Canonical URLs.
//!
//! Two spellings of one address must become one text, or the page is fetched twice. Two addresses must never become one,
//! or a page is lost. So only steps are taken that cannot change the server's answer:
//!
//! 1. The parser of the WHATWG URL standard: lower-case scheme and host, hosts in ASCII, no default port, no dot segments
//!    (also `%2e`), escapes where needed.
//! 2. RFC 3986, section 6.2.2: escapes in upper case, unreserved bytes unescaped.
//! 3. These parts are dropped:
//!
//! | dropped | why |
//! |---|---|
//! | fragment | never sent (RFC 9110, 7.1) |
//! | user name and password | not ours to use, and no part of the page's name |
//! | `?` with nothing behind it | an empty query (RFC 3986, 6.2.3 leaves it to the scheme) |
//! | one dot at the end of a host of several labels | the same name in the DNS (RFC 3986, 3.2.2) |
//! | [`NormalizeOptions::strip_params`] | session and campaign parameters, in query and path |
//!
//! Not safe, so not done: sorting the query, folding `//`, dropping `www.`, `index.html` or a trailing slash, http to
//! https, unescaping reserved bytes, lower-casing the path.
//!
//! Cost: one parse, and one more pass over path and query; linear in the length.

mod percent;
mod row;
mod strip;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use url::{ParseError, Url};

use super::Digest;
pub use row::shown_url;
use strip::StripList;

/// Returns an origin as people write it: without the default port of its scheme.
pub fn shown_origin(origin: &str) -> &str {
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).unwrap_or(origin)
}

/// An absolute http or https URL without fragment, in canonical spelling; or the name of a document without URL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalUrl(Url);

impl CanonicalUrl {
    /// Restores a text that came from [`CanonicalUrl::as_str`], without normalizing it again.
    ///
    /// URLs in a log keep their name even if the rules have changed since. Only the promises of every canonical URL are
    /// checked.
    pub fn from_canonical(text: &str) -> Result<Self, UrlError> {
        let url = Url::parse(text)?;
        match url.scheme() {
            row::SCHEME => row::check(&url)?,
            _ => check_scheme_and_host(&url)?,
        }
        if url.as_str() == text && url.fragment().is_none() { Ok(Self(url)) } else { Err(UrlError::NotCanonical) }
    }

    /// Returns the URL of an origin's root, from [`CanonicalUrl::origin`]: that names the port always, a URL only if it is not
    /// the default one.
    pub fn root_of(origin: &str) -> Result<Self, UrlError> {
        Self::from_canonical(Url::parse(&format!("{origin}/"))?.as_str())
    }

    /// Returns the URL as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the parsed URL.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// Returns the host's name or address as in the URL; IPv6 addresses in brackets.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Whether this address may be a spelling of the URL: it has the same scheme, host and port. Which parameters are
    /// dropped depends on the options, so more cannot be told without a [`Normalizer`].
    pub fn may_be_spelled(&self, spelling: &Url) -> bool {
        let host = spelling.host_str().unwrap_or_default();
        let port = spelling.port_or_known_default();
        spelling.scheme() == self.0.scheme()
            && port == self.0.port_or_known_default()
            && (host == self.host() || host.strip_suffix('.') == Some(self.host()))
    }

    /// Returns `scheme://host:port`, always with the port: the unit of robots.txt, delay and concurrency. A document
    /// without URL has `row://FILE`.
    pub fn origin(&self) -> String {
        if self.is_row() {
            return format!("{}://{}", row::SCHEME, self.host());
        }
        format!("{}://{}:{}", self.0.scheme(), self.host(), self.0.port_or_known_default().unwrap_or_default())
    }

    /// Returns a file name for this page: the plain characters of the host, and a digest of the whole URL.
    ///
    /// At most 98 bytes of `a-z 0-9 . - _`. Two URLs have two names, also on file systems that ignore case.
    pub fn file_name(&self) -> String {
        const HOST_BYTES: usize = 64;
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
        let name: String = self.host().trim_start_matches(['.', '-']).chars().take(HOST_BYTES).map(plain).collect();
        let name = if name.is_empty() { "page" } else { &name };
        format!("{name}-{}", Digest::of(self.as_str().as_bytes()))
    }

    /// Returns the registrable domain of the host; an address, and a name without public suffix, is its own.
    pub fn registrable_domain(&self) -> &str {
        let host = self.host();
        match self.domain() {
            Some(name) => psl::domain_str(name).unwrap_or(host),
            None => host,
        }
    }
}

impl fmt::Display for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A URL and the spelling in which somebody named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpelledUrl {
    /// The canonical URL.
    pub url: CanonicalUrl,
    /// The address as a request sends it: without fragment, user name and password, otherwise as it was named.
    pub spelling: Url,
}

/// Why a text is no URL to crawl.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It does not parse.
    #[error("not a URL: {0}")]
    Parse(#[from] url::ParseError),
    /// Neither http nor https.
    #[error("scheme '{0}' is not http or https")]
    Scheme(String),
    /// Longer than the limit.
    #[error("longer than {0} characters")]
    TooLong(usize),
    /// No host.
    #[error("no host")]
    NoHost,
    /// It was said to be canonical and is not.
    #[error("not in canonical form")]
    NotCanonical,
}

fn check_scheme_and_host(url: &Url) -> Result<(), UrlError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlError::Scheme(url.scheme().to_owned()));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(UrlError::NoHost);
    }
    Ok(())
}

/// How URLs are normalized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalizeOptions {
    /// Query and path parameters that are dropped; a `*` at the end matches any rest. Case does not matter.
    pub strip_params: Vec<String>,
    /// Characters of the longest URL that is accepted.
    pub max_url_length: usize,
}

impl Default for NormalizeOptions {
    fn default() -> Self {
        Self {
            strip_params: ["utm_*", "gclid", "fbclid", "jsessionid", "phpsessid"].map(str::to_owned).to_vec(),
            max_url_length: 2048,
        }
    }
}

/// Brings URLs into canonical spelling. Idempotent: a canonical URL stays as it is.
#[derive(Clone, Debug)]
pub struct Normalizer {
    strip: StripList,
    max_url_length: usize,
}

impl Default for Normalizer {
    fn default() -> Self {
        Self::new(NormalizeOptions::default())
    }
}

impl Normalizer {
    /// Creates a normalizer with these options.
    pub fn new(options: NormalizeOptions) -> Self {
        Self { strip: StripList::new(&options.strip_params), max_url_length: options.max_url_length }
    }

    /// Normalizes an absolute URL.
    pub fn absolute(&self, text: &str) -> Result<CanonicalUrl, UrlError> {
        self.canonical(Url::parse(text)?)
    }

    /// Resolves a reference against a base (RFC 3986, section 5, in the WHATWG version) and normalizes it.
    pub fn resolve(&self, base: &Url, reference: &str) -> Result<CanonicalUrl, UrlError> {
        self.canonical(read_reference(Some(base), reference)?)
    }

    /// [`resolve`](Self::resolve) that also returns the spelling of the reference.
    pub fn resolve_spelled(&self, base: &Url, reference: &str) -> Result<SpelledUrl, UrlError> {
        let mut spelling = read_reference(Some(base), reference)?;
        spelling.set_fragment(None);
        drop_credentials(&mut spelling);
        Ok(SpelledUrl { url: self.canonical(spelling.clone())?, spelling })
    }

    /// Returns the crawlable absolute URLs, each once.
    pub fn all<'a>(&self, texts: impl Iterator<Item = &'a str>) -> Vec<CanonicalUrl> {
        let mut seen = HashSet::new();
        let urls = texts.filter_map(|text| self.absolute(text).ok());
        urls.filter(|url| seen.insert(url.clone())).collect()
    }

    /// Returns the crawlable absolute URLs on the host of `page`, each once: a site speaks for itself only.
    pub fn on_host<'a>(&self, page: &CanonicalUrl, texts: impl Iterator<Item = &'a str>) -> Vec<CanonicalUrl> {
        let mut urls = self.all(texts);
        urls.retain(|url| url.host() == page.host());
        urls
    }

    fn canonical(&self, mut url: Url) -> Result<CanonicalUrl, UrlError> {
        check_scheme_and_host(&url)?;
        url.set_fragment(None);
        drop_credentials(&mut url);
        drop_root_dot(&mut url)?;
        self.normalise_path(&mut url);
        self.normalise_query(&mut url);
        self.check_length(&url)?;
        Ok(CanonicalUrl(url))
    }

    /// Returns an error if the URL is longer than the limit.
    pub fn check_length(&self, url: &Url) -> Result<(), UrlError> {
        match url.as_str().len() > self.max_url_length {
            true => Err(UrlError::TooLong(self.max_url_length)),
            false => Ok(()),
        }
    }

    fn normalise_path(&self, url: &mut Url) {
        let path = self.strip.path(percent::normalise(url.path()));
        if path != url.path() {
            // Unescaping may have revealed dot segments.
            let path = path.into_owned();
            url.set_path(&path);
        }
    }

    fn normalise_query(&self, url: &mut Url) {
        let Some(old) = url.query() else { return };
        let query = self.strip.query(percent::normalise(old));
        if query.is_empty() {
            url.set_query(None);
        } else if query != old {
            let query = query.into_owned();
            url.set_query(Some(&query));
        }
    }
}

/// Parses a URL, or a reference against a base, by the WHATWG URL standard, without normalizing it.
///
/// # Errors
/// If it is no URL.
pub fn read_reference(base: Option<&Url>, reference: &str) -> Result<Url, ParseError> {
    match base {
        None => Url::parse(reference),
        Some(base) if matches!(base.scheme(), "http" | "https" | "ws" | "wss" | "ftp") => {
            base.join(&fold_leading_slashes(reference))
        }
        Some(base) => base.join(reference),
    }
}

/// Folds the slashes before a host to two (WHATWG URL, "special authority ignore slashes state"), which the parser does
/// not do for references.
fn fold_leading_slashes(reference: &str) -> Cow<'_, str> {
    let is_ignored = |c: char| c <= ' ';
    let trimmed = reference.trim_start_matches(is_ignored);
    let rest = trimmed.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let slashes = trimmed[..trimmed.len() - rest.len()].matches(['/', '\\']).count();
    if slashes > 2 { Cow::Owned(format!("//{rest}")) } else { Cow::Borrowed(reference) }
}

/// The setters refuse only URLs without host, which do not occur here.
fn drop_credentials(url: &mut Url) {
    if !url.username().is_empty() {
        let _ = url.set_username("");
    }
    if url.password().is_some() {
        let _ = url.set_password(None);
    }
}

/// A name of one label keeps its dot, which says that no search list applies.
fn drop_root_dot(url: &mut Url) -> Result<(), UrlError> {
    let name = url.domain().and_then(|name| name.strip_suffix('.'));
    match name.filter(|name| name.contains('.') && !name.ends_with('.')).map(str::to_owned) {
        Some(name) => Ok(url.set_host(Some(&name))?),
        None => Ok(()),
    }
}
