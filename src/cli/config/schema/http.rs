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
        "Send this header field too, to the seeds' scheme, host and port only (repeatable)"
    )
    .because("None. Values that look like secrets are masked in all that is written.")
    .example("-H 'Cookie: session=1'")
    .flag("header")
    .short('H')
    .heading(HTTP),
    key!(http.header_everywhere, Shape::Switch("true"), "false", "Send the fields of --header to all hosts")
        .because("Off, so that no other site sees your cookies.")
        .example("-H 'Accept-Language: de' --header-everywhere")
        .flag("header-everywhere")
        .heading(HTTP),
    key!(
        http.cookie_file,
        Shape::Value("FILE"),
        "",
        "Send the cookies of this file (Netscape format) to the hosts and paths that they are for"
    )
    .because(
        "None. curl -c and browser extensions write such files. Cookies that servers set meanwhile are \
            not kept.",
    )
    .example("--cookie-file cookies.txt")
    .flag("cookie-file")
    .heading(HTTP),
    key!(
        http.proxy,
        Shape::Value("URL"),
        "env",
        "Proxy; none, or env: from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY"
    )
    .because("The variables that other programs obey, too.")
    .example("-x http://127.0.0.1:3128")
    .flag("proxy")
    .short('x')
    .heading(HTTP),
    key!(http.timeout, Shape::Value("DURATION"), "30s", "Abort a request after this time")
        .because("30 s are long for a page, and short for a server that hangs.")
        .example("--timeout 10s")
        .flag("timeout")
        .heading(HTTP),
    key!(http.connect_timeout, Shape::Value("DURATION"), "10s", "Abort a connection attempt after this time")
        .because("A server that can be reached answers within a second or two. Follows --timeout if that is given."),
    key!(http.header_timeout, Shape::Value("DURATION"), "30s", "Wait at most this long for the header of a response")
        .because(
            "As --timeout: pages that are made on request may take their time. Follows --timeout if that is given.",
        ),
    key!(http.idle_timeout, Shape::Value("DURATION"), "10s", "Wait at most this long for more bytes of a body")
        .because("A body of which nothing comes for so long does not come. Follows --timeout if that is given."),
    key!(http.retries, Shape::Value("N"), "2", "Retry N times after a transient failure")
        .because("A failure that passes is over by then. Trouble of the whole host uses up none, see --host-patience.")
        .example("--retries 5")
        .flag("retries")
        .heading(HTTP),
    key!(http.max_retry_after, Shape::Value("DURATION"), "5m", "Set hosts aside whose Retry-After is longer")
        .because("Five minutes fit into a run. The next run goes on with a host that was set aside.")
        .example("--max-retry-after 1h")
        .flag("max-retry-after")
        .heading(HTTP),
    key!(http.max_redirects, Shape::Value("N"), "10", "Follow at most N redirects in a row")
        .because("Longer chains are loops as a rule.")
        .example("--max-redirects 5")
        .flag("max-redirects")
        .heading(HTTP),
    key!(http.max_body, Shape::Value("SIZE"), "10M", "Truncate bodies at this size, decompressed")
        .because("10 MiB are more text than a book has.")
        .example("--max-body 50M")
        .flag("max-body")
        .heading(HTTP),
    key!(http.max_header, Shape::Value("SIZE"), "64K", "Reject responses with a larger header")
        .because("Headers have a few KiB; the rest is room for cookies.")
        .example("--max-header 128K")
        .flag("max-header")
        .heading(HTTP),
    key!(
        http.accept_types,
        Shape::CommaList("GLOB"),
        "text/html, application/xhtml+xml, text/plain, text/xml, application/xml, application/*+xml",
        "Download bodies of these media types only (repeatable)"
    )
    .because("What has text to compare. Bodies of other types are not downloaded.")
    .example("--accept-type text/html")
    .flag("accept-type")
    .note("HTML, plain text and XML")
    .heading(HTTP),
    key!(http.insecure, Shape::Switch("true"), "false", "Accept any certificate; anyone can impersonate the server")
        .because("Off: without certificates, anyone on the way can write the pages.")
        .example("-k")
        .flag("insecure")
        .short('k')
        .heading(HTTP),
    key!(http.ca_file, Shape::Value("FILE"), "", "Trust the issuers whose certificates are in this file, too")
        .because("The issuers that the system trusts are enough for public sites. PEM or DER.")
        .example("--ca-file issuers.pem")
        .flag("ca-file")
        .heading(HTTP),
    key!(http.http1_only, Shape::Switch("true"), "false", "Use HTTP/1.1 only")
        .because("Off: the server chooses. It helps where a server's HTTP/2 is broken.")
        .example("--http1")
        .flag("http1")
        .heading(HTTP),
    key!(
        http.resolve,
        Shape::CommaList("HOST[:PORT]:ADDR"),
        "",
        "Use this address for a host instead of a DNS lookup (repeatable)"
    )
    .because("The DNS knows. It helps with a server that is not public yet.")
    .example("--resolve www.example.org:203.0.113.7")
    .flag("resolve")
    .heading(HTTP),
    key!(security.allow_nets, Shape::CommaList("CIDR"), "", "Allow connections to this private network (repeatable)")
        .because("None, since a link on any page could lead into your own network.")
        .example("--allow-net 127.0.0.1")
        .flag("allow-net")
        .heading(SECURITY),
    key!(
        security.allow_private,
        Shape::Switch("true"),
        "false",
        "Allow connections to all private and loopback networks"
    )
    .because("Off, since a link on any page could lead into your own network.")
    .example("--allow-private")
    .flag("allow-private")
    .heading(SECURITY),
];
