//! URLs, normalised once.

use std::fmt;

use url::Url;

/// An absolute http or https URL without fragment, in the one spelling by which it is known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalUrl(Url);

impl CanonicalUrl {
    /// The URL as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The parsed URL.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// The host's name or address as it stands in the URL; IPv6 addresses in brackets.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// `scheme://host:port`, the port always given: the unit of robots.txt, gap and concurrency.
    pub fn origin(&self) -> String {
        format!("{}://{}:{}", self.0.scheme(), self.host(), self.0.port_or_known_default().unwrap_or_default())
    }

    /// The registrable domain of the host; an address, and a name without public suffix, is its own.
    pub fn registrable_domain(&self) -> &str {
        let host = self.host();
        match self.0.domain() {
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
}

/// How URLs are normalised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormaliseOptions {
    /// Query and path parameters that are dropped; `*` at the end matches any rest. Case does not
    /// matter.
    pub strip_params: Vec<String>,
    /// Longer URLs are refused.
    pub max_url_length: usize,
}

impl Default for NormaliseOptions {
    fn default() -> Self {
        Self {
            strip_params: ["utm_*", "gclid", "fbclid", "jsessionid", "phpsessid"].map(str::to_owned).to_vec(),
            max_url_length: 2048,
        }
    }
}

/// Brings URLs into their canonical spelling.
#[derive(Clone, Debug, Default)]
pub struct Normaliser {
    options: NormaliseOptions,
}

impl Normaliser {
    /// A normaliser with these options.
    pub fn new(options: NormaliseOptions) -> Self {
        Self { options }
    }

    /// Normalises an absolute URL.
    pub fn absolute(&self, text: &str) -> Result<CanonicalUrl, UrlError> {
        self.canonical(Url::parse(text)?)
    }

    /// Resolves a reference against a base (RFC 3986, section 5, as WHATWG has it) and normalises it.
    pub fn resolve(&self, base: &Url, reference: &str) -> Result<CanonicalUrl, UrlError> {
        self.canonical(base.join(reference)?)
    }

    fn canonical(&self, mut url: Url) -> Result<CanonicalUrl, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().to_owned()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(UrlError::NoHost);
        }
        url.set_fragment(None);
        if url.as_str().len() > self.options.max_url_length {
            return Err(UrlError::TooLong(self.options.max_url_length));
        }
        Ok(CanonicalUrl(url))
    }
}
