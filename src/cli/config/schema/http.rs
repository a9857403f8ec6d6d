//! How requests are made, and to which addresses.

use super::{Key, Shape, key};

const HTTP: &str = "HTTP";
const SECURITY: &str = "Security";

/// The tables `http` and `security`.
pub const KEYS: &[Key] = &[
    key!(http.headers, Shape::List("NAME: VALUE"), "", "Send this header line too, to the seeds' hosts (repeatable)")
        .flag("header")
        .short('H')
        .heading(HTTP),
    key!(http.header_everywhere, Shape::Switch("true"), "false", "Send the lines of --header to all hosts")
        .flag("header-everywhere")
        .heading(HTTP),
    key!(http.proxy, Shape::Value("URL"), "env", "Proxy; none, or env: as HTTP_PROXY and its kin say")
        .flag("proxy")
        .short('x')
        .heading(HTTP),
    key!(http.timeout, Shape::Value("DURATION"), "30s", "Give up a request after this time")
        .flag("timeout")
        .heading(HTTP),
    key!(http.connect_timeout, Shape::Value("DURATION"), "10s", "Give up a connection attempt after this time"),
    key!(http.header_timeout, Shape::Value("DURATION"), "15s", "Wait at most this long for the head of an answer"),
    key!(http.idle_timeout, Shape::Value("DURATION"), "10s", "Wait at most this long for the next bytes of a body"),
    key!(http.retries, Shape::Value("N"), "2", "Try again N times after a passing failure")
        .flag("retries")
        .heading(HTTP),
    key!(http.max_retry_after, Shape::Value("DURATION"), "5m", "Park hosts whose Retry-After asks for longer")
        .flag("max-retry-after")
        .heading(HTTP),
    key!(http.max_redirects, Shape::Value("N"), "10", "Follow at most N redirects in a row")
        .flag("max-redirects")
        .heading(HTTP),
    key!(http.max_body, Shape::Value("SIZE"), "10M", "Cut bodies after this size, decompressed")
        .flag("max-body")
        .heading(HTTP),
    key!(http.max_header, Shape::Value("SIZE"), "64K", "Refuse answers with a larger head")
        .flag("max-header")
        .heading(HTTP),
    key!(
        http.accept_types,
        Shape::CommaList("GLOB"),
        "text/html, application/xhtml+xml, text/plain, text/xml, application/xml, application/*+xml",
        "Read bodies of these media types only (repeatable)"
    )
    .flag("accept-type")
    .note("HTML, plain text and XML")
    .heading(HTTP),
    key!(http.insecure, Shape::Switch("true"), "false", "Accept any certificate; anybody can pose as the server")
        .flag("insecure")
        .short('k')
        .heading(HTTP),
    key!(http.http1_only, Shape::Switch("true"), "false", "Speak HTTP/1.1 only").flag("http1").heading(HTTP),
    key!(
        http.resolve,
        Shape::CommaList("HOST[:PORT]:ADDR"),
        "",
        "Use this address for a host instead of asking the name service (repeatable)"
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
