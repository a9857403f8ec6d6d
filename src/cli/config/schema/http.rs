//! Keys of HTTP and of the addresses that may be connected to.

use super::{Key, Shape, key};

const HTTP: &str = "HTTP";
const SECURITY: &str = "Security";

/// The tables `http` and `security`.
pub const KEYS: &[Key] = &[
    key!(
        http.headers,
        Shape::List("NAME: VALUE"),
        "",
        "Send this header field too, to the seeds' hosts only (repeatable)"
    )
    .flag("header")
    .short('H')
    .heading(HTTP),
    key!(http.header_everywhere, Shape::Switch("true"), "false", "Send the fields of --header to all hosts")
        .flag("header-everywhere")
        .heading(HTTP),
    key!(
        http.cookie_file,
        Shape::Value("FILE"),
        "",
        "Send the cookies of this file (Netscape format) to the hosts and paths that they are for"
    )
    .flag("cookie-file")
    .heading(HTTP),
    key!(
        http.proxy,
        Shape::Value("URL"),
        "env",
        "Proxy; none, or env: from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY"
    )
    .flag("proxy")
    .short('x')
    .heading(HTTP),
    key!(http.timeout, Shape::Value("DURATION"), "30s", "Abort a request after this time")
        .flag("timeout")
        .heading(HTTP),
    key!(http.connect_timeout, Shape::Value("DURATION"), "10s", "Abort a connection attempt after this time"),
    key!(http.header_timeout, Shape::Value("DURATION"), "15s", "Wait at most this long for the header of a response"),
    key!(http.idle_timeout, Shape::Value("DURATION"), "10s", "Wait at most this long for more bytes of a body"),
    key!(http.retries, Shape::Value("N"), "2", "Retry N times after a transient failure").flag("retries").heading(HTTP),
    key!(http.max_retry_after, Shape::Value("DURATION"), "5m", "Set hosts aside whose Retry-After is longer")
        .flag("max-retry-after")
        .heading(HTTP),
    key!(http.max_redirects, Shape::Value("N"), "10", "Follow at most N redirects in a row")
        .flag("max-redirects")
        .heading(HTTP),
    key!(http.max_body, Shape::Value("SIZE"), "10M", "Truncate bodies at this size, decompressed")
        .flag("max-body")
        .heading(HTTP),
    key!(http.max_header, Shape::Value("SIZE"), "64K", "Reject responses with a larger header")
        .flag("max-header")
        .heading(HTTP),
    key!(
        http.accept_types,
        Shape::CommaList("GLOB"),
        "text/html, application/xhtml+xml, text/plain, text/xml, application/xml, application/*+xml",
        "Download bodies of these media types only (repeatable)"
    )
    .flag("accept-type")
    .note("HTML, plain text and XML")
    .heading(HTTP),
    key!(http.insecure, Shape::Switch("true"), "false", "Accept any certificate; anyone can impersonate the server")
        .flag("insecure")
        .short('k')
        .heading(HTTP),
    key!(http.ca_file, Shape::Value("FILE"), "", "Trust the issuers whose certificates are in this file, too")
        .flag("ca-file")
        .heading(HTTP),
    key!(http.http1_only, Shape::Switch("true"), "false", "Use HTTP/1.1 only").flag("http1").heading(HTTP),
    key!(
        http.resolve,
        Shape::CommaList("HOST[:PORT]:ADDR"),
        "",
        "Use this address for a host instead of a DNS lookup (repeatable)"
    )
    .flag("resolve")
    .heading(HTTP),
    key!(security.allow_nets, Shape::CommaList("CIDR"), "", "Allow connections to this private network (repeatable)")
        .flag("allow-net")
        .heading(SECURITY),
    key!(
        security.allow_private,
        Shape::Switch("true"),
        "false",
        "Allow connections to all private and loopback networks"
    )
    .flag("allow-private")
    .heading(SECURITY),
];
