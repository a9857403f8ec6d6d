//! Options of the fetcher, and the defaults.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;

use super::{Cookies, RequestSigner, SharedStarts};

/// Options of a [`Fetcher`](super::Fetcher). The defaults are those of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// The `User-Agent` of every request (RFC 9110, section 10.1.5).
    pub user_agent: String,
    /// A mail address for `From` (RFC 9110, section 10.1.2).
    pub from: Option<String>,
    /// The product token that is matched in robots.txt (RFC 9309, section 2.2.1).
    pub robots_agent: String,
    /// Additional request headers. They replace those of the crawler, except `Host`.
    pub headers: Vec<(String, String)>,
    /// The origins (`scheme://host:port`) to which [`headers`](Self::headers) are sent; `None` is every one.
    pub header_origins: Option<Vec<String>>,
    /// Cookies for the hosts and paths that they name. A `Cookie` in [`headers`](Self::headers) replaces them.
    pub cookies: Option<Arc<Cookies>>,
    /// Signs each request, if it is set.
    pub signer: Option<Arc<RequestSigner>>,
    /// The proxy of all requests. `None` asks the environment (`HTTP_PROXY`, `HTTPS_PROXY`,
    /// `ALL_PROXY`, `NO_PROXY`); an empty text is no proxy, whatever the environment says.
    pub proxy: Option<String>,
    /// Time limit from the start of a request to the end of its body.
    pub timeout: Duration,
    /// Time limit for a connection, TLS included.
    pub connect_timeout: Duration,
    /// Time limit from the start of a request to the end of the response header.
    pub header_timeout: Duration,
    /// Time limit between two chunks of a body.
    pub idle_timeout: Duration,
    /// Retries after a transient failure.
    pub retries: u32,
    /// How long a host may be in trouble until it is given up for this run.
    pub host_patience: Duration,
    /// A longer `Retry-After` is cut to this.
    pub max_retry_after: Duration,
    /// Most bytes of a body, after decompression.
    pub max_body: usize,
    /// Most bytes of a response header.
    pub max_header: usize,
    /// Media types whose bodies are read. `*` matches any run of characters.
    pub accept_types: Vec<String>,
    /// Whether servers are asked for Markdown before HTML.
    pub prefer_markdown: bool,
    /// Whether certificates are not checked.
    pub insecure: bool,
    /// A file with certificates of issuers that are trusted in addition to those of the system.
    pub ca_file: Option<PathBuf>,
    /// Whether HTTP/2 is not offered.
    pub http1_only: bool,
    /// Addresses that replace DNS answers. The address filter checks them too.
    pub resolve: Vec<ResolveOverride>,
    /// Networks that are allowed although not public.
    pub allow_nets: Vec<IpNet>,
    /// Whether all networks are allowed.
    pub allow_private: bool,
    /// Politeness delay per origin, start to start.
    pub delay: Duration,
    /// Politeness delay per IP address, start to start.
    pub ip_delay: Duration,
    /// If several processes share the crawl: who keeps their requests to one IP address apart.
    pub shared_starts: Option<Arc<dyn SharedStarts>>,
    /// Most requests in flight to an origin, and to an IP address. At least 1.
    pub host_concurrency: usize,
    /// The longest `Crawl-delay` that is obeyed. Zero ignores it.
    pub max_crawl_delay: Duration,
    /// Whether robots.txt is neither downloaded nor obeyed.
    pub ignore_robots: bool,
    /// Whether each origin is asked once for its other files that speak of the use of pages.
    pub preferences: bool,
    /// Bytes of robots.txt that are read (RFC 9309, section 2.5: at least 500 KiB).
    pub robots_max_bytes: usize,
    /// Time to live of robots.txt (RFC 9309, section 2.4: at most a day).
    pub robots_ttl: Duration,
}

/// An address that replaces the DNS answer of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolveOverride {
    /// The host name; `*` is every name.
    pub host: String,
    /// The port to which it applies. `None` is every port.
    pub port: Option<u16>,
    /// The address.
    pub address: IpAddr,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            user_agent: concat!("ndcrawl/", env!("CARGO_PKG_VERSION")).into(),
            from: None,
            robots_agent: "ndcrawl".into(),
            headers: Vec::new(),
            header_origins: None,
            cookies: None,
            signer: None,
            proxy: None,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(10),
            retries: 2,
            host_patience: Duration::from_secs(2 * 60),
            max_retry_after: Duration::from_secs(5 * 60),
            max_body: 10 * 1024 * 1024,
            max_header: 64 * 1024,
            accept_types: default_accept_types(),
            prefer_markdown: false,
            insecure: false,
            ca_file: None,
            http1_only: false,
            resolve: Vec::new(),
            allow_nets: Vec::new(),
            allow_private: false,
            delay: Duration::from_secs(1),
            ip_delay: Duration::from_millis(500),
            shared_starts: None,
            host_concurrency: 1,
            max_crawl_delay: Duration::from_secs(60),
            ignore_robots: false,
            preferences: false,
            robots_max_bytes: 512 * 1024,
            robots_ttl: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// The media type of Markdown.
pub const MARKDOWN: &str = "text/markdown";

fn default_accept_types() -> Vec<String> {
    const XML: [&str; 3] = ["text/xml", "application/xml", "application/*+xml"];
    let pages = ["text/html", "application/xhtml+xml", "text/plain", MARKDOWN];
    pages.into_iter().chain(XML).map(str::to_owned).collect()
}

/// Whether a media type matches one of the globs, ignoring case. An empty media type is accepted.
pub fn accepts(globs: &[String], media_type: &str) -> bool {
    let media_type = media_type.trim().to_ascii_lowercase();
    media_type.is_empty() || globs.iter().any(|glob| glob_matches(&glob.to_ascii_lowercase(), &media_type))
}

fn glob_matches(glob: &str, text: &str) -> bool {
    let Some((head, rest)) = glob.split_once('*') else {
        return glob == text;
    };
    let Some(text) = text.strip_prefix(head) else {
        return false;
    };
    (0..=text.len()).filter_map(|start| text.get(start..)).any(|tail| glob_matches(rest, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_xml_of_any_kind_are_accepted_and_pictures_are_not() {
        let globs = Options::default().accept_types;
        for wanted in ["text/html", "TEXT/HTML", "application/rss+xml", "application/xml", ""] {
            assert!(accepts(&globs, wanted), "{wanted}");
        }
        for unwanted in ["image/png", "application/json", "application/xmlx", "text/htm", "+xml"] {
            assert!(!accepts(&globs, unwanted), "{unwanted}");
        }
        assert!(accepts(&["*".to_owned()], "image/png"));
        assert!(accepts(&["*/*".to_owned()], "image/png"));
    }

    #[test]
    fn the_default_user_agent_names_the_product_alone() {
        let agent = Options::default().user_agent;
        assert!(agent.starts_with("ndcrawl/") && !agent.contains(' '), "{agent}");
    }
}
