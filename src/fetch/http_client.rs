//! The HTTP client: what of a connection and of a header it bears with.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::redirect;
use url::Url;

use super::connect::AttemptLimit;
use super::proxy::ProxyRules;
use super::resolver::PortView;
use super::{FetchError, Options};

/// Idle time after which a connection is closed. Common servers close after 5 s, and a request sent into a closing
/// connection is lost.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// Most header lines of a response. Some have hundreds of cookies; `max_header` limits their bytes.
const MOST_HEADER_LINES: usize = 1000;

/// Builds a client.
pub(super) fn build_client(
    options: &Options,
    proxies: &ProxyRules,
    view: PortView,
) -> Result<reqwest::Client, FetchError> {
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
