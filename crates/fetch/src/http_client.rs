//! The HTTP clients: what of a connection and of a header they bear with, and which of them asks an origin.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::redirect;
use url::Url;

use super::connect::AttemptLimit;
use super::proxy::ProxyRules;
use super::resolver::{PortView, Resolver};
use super::{FetchError, Options};
use ndcrawl_model::CanonicalUrl;

/// Idle time after which a connection is closed. Common servers close after 5 s, and a request sent into a closing
/// connection is lost.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// Most header lines of a response. Some have hundreds of cookies; `max_header` limits their bytes.
const MOST_HEADER_LINES: usize = 1000;

/// The clients of a fetcher.
pub(super) struct HttpClients {
    usual: PortClients,
    /// Those that speak HTTP/1.1 only; `None` if all do.
    http1: Option<PortClients>,
    /// Origins whose HTTP/2 does not work.
    http1_origins: Mutex<HashSet<String>>,
    /// Origins whose header is mended.
    mended_origins: Mutex<HashSet<String>>,
}

impl HttpClients {
    pub(super) fn new(options: &Options, proxies: &ProxyRules, resolver: &Arc<Resolver>) -> Result<Self, FetchError> {
        let http1 = Options { http1_only: true, ..options.clone() };
        let http1 = (!options.http1_only).then(|| PortClients::new(&http1, proxies, resolver)).transpose()?;
        Ok(Self {
            usual: PortClients::new(options, proxies, resolver)?,
            http1,
            http1_origins: Mutex::default(),
            mended_origins: Mutex::default(),
        })
    }

    /// Returns the client for a URL, and whether it may speak HTTP/2.
    pub(super) fn of(&self, url: &CanonicalUrl) -> (&reqwest::Client, bool) {
        let port = port(url.as_url());
        match &self.http1 {
            Some(http1) if self.http1_origins().contains(&url.origin()) => (http1.of(port), false),
            other => (self.usual.of(port), other.is_some()),
        }
    }

    /// Speaks HTTP/1.1 with the origin from now on.
    pub(super) fn give_up_http2(&self, url: &CanonicalUrl) {
        if self.http1_origins().insert(url.origin()) {
            tracing::debug!(origin = url.origin(), "HTTP/2 of the origin does not work; using HTTP/1.1");
        }
    }

    /// Whether the header of the origin is mended.
    pub(super) fn is_mended(&self, url: &CanonicalUrl) -> bool {
        self.mended_origins.lock().unwrap_or_else(PoisonError::into_inner).contains(&url.origin())
    }

    /// Mends the header of the origin from now on.
    pub(super) fn mend(&self, url: &CanonicalUrl) {
        self.mended_origins.lock().unwrap_or_else(PoisonError::into_inner).insert(url.origin());
    }

    fn http1_origins(&self) -> MutexGuard<'_, HashSet<String>> {
        self.http1_origins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client for each port that a resolve override names, and one for all others.
struct PortClients {
    usual: reqwest::Client,
    by_port: HashMap<u16, reqwest::Client>,
}

impl PortClients {
    fn new(options: &Options, proxies: &ProxyRules, resolver: &Arc<Resolver>) -> Result<Self, FetchError> {
        let client = |port| build_client(options, proxies, PortView { resolver: resolver.clone(), port });
        let by_port = resolver.special_ports().into_iter().map(|port| Ok((port, client(Some(port))?)));
        Ok(Self { by_port: by_port.collect::<Result<_, FetchError>>()?, usual: client(None)? })
    }

    fn of(&self, port: u16) -> &reqwest::Client {
        self.by_port.get(&port).unwrap_or(&self.usual)
    }
}

fn build_client(options: &Options, proxies: &ProxyRules, view: PortView) -> Result<reqwest::Client, FetchError> {
    let proxies = proxies.clone();
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .proxy(reqwest::Proxy::custom(move |url| proxies.for_url(url).cloned()))
        .dns_resolver(view)
        .connect_timeout(options.connect_timeout)
        .connector_layer(AttemptLimit)
        .pool_idle_timeout(POOL_IDLE)
        .pool_max_idle_per_host(options.host_concurrency.max(1))
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        // What servers get wrong in a header and browsers read (RFC 9112, sections 5.1 and 5.2): one bad line is left
        // out or repaired, the page is read.
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_max_headers(MOST_HEADER_LINES)
        .http2_max_header_list_size(u32::try_from(options.max_header).unwrap_or(u32::MAX))
        .tls_danger_accept_invalid_certs(options.insecure);
    if let Some(path) = &options.ca_file {
        builder = builder.tls_certs_merge(certificates(path)?);
    }
    if options.http1_only {
        builder = builder.http1_only();
    }
    builder.build().map_err(FetchError::Client)
}

/// Reads the certificates of a file: several in PEM, or one in DER.
fn certificates(path: &Path) -> Result<Vec<reqwest::Certificate>, FetchError> {
    let failed = |why: String| FetchError::CaFile { path: path.to_owned(), why };
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let certificates = match bytes.first() {
        Some(0x30) => reqwest::Certificate::from_der(&bytes).map(|certificate| vec![certificate]),
        _ => reqwest::Certificate::from_pem_bundle(&bytes),
    };
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err(failed("it holds no certificate in PEM or DER".to_owned())),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Returns the port of a URL.
pub(super) fn port(url: &Url) -> u16 {
    url.port_or_known_default().unwrap_or_default()
}

/// Our local address of the connection. It identifies the connection.
pub(super) fn connection(response: &reqwest::Response) -> Option<SocketAddr> {
    response.extensions().get::<HttpInfo>().map(HttpInfo::local_addr)
}
