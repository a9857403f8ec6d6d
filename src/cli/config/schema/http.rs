//! Keys of HTTP and of the addresses that may be connected to.

use std::path::PathBuf;
use std::time::Duration;

use super::{Shape, table};
use crate::cli::config::http_values::{HeaderLine, Proxy, Resolve};
use crate::cli::config::units::Size;

table! {
    /// HTTP requests and limits of responses.
    #[derive(Default)]
    pub struct Http: http {
        /// Send this header field too, to the seeds' scheme, host and port only (repeatable)
        pub headers: Vec<HeaderLine> = key(Shape::List("NAME: VALUE"), "")
            .because("None. Values that look like secrets are masked in all that is written.")
            .example("-H 'Cookie: session=1'")
            .flag("header")
            .short('H'),
        /// Send the fields of --header to all hosts
        pub header_everywhere: bool = key(Shape::Switch("true"), "false")
            .because("Off, so that no other site sees your cookies.")
            .example("-H 'Accept-Language: de' --header-everywhere")
            .flag("header-everywhere"),
        /// Send the cookies of this file (Netscape format) to the hosts and paths that they are for
        pub cookie_file: Option<PathBuf> = key(Shape::Value("FILE"), "")
            .because("None. curl -c and browser extensions write such files. Cookies that servers set meanwhile are \
                not kept.")
            .example("--cookie-file cookies.txt")
            .flag("cookie-file"),
        /// Proxy; none, or env: from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY
        pub proxy: Proxy = key(Shape::Value("URL"), "env")
            .because("The variables that other programs obey, too.")
            .example("-x http://127.0.0.1:3128")
            .flag("proxy")
            .short('x'),
        /// Abort a request after this time
        pub timeout: Duration = key(Shape::Value("DURATION"), "30s")
            .because("30 s are long for a page, and short for a server that hangs.")
            .example("--timeout 10s")
            .flag("timeout"),
        /// Abort a connection attempt after this time
        pub connect_timeout: Duration = key(Shape::Value("DURATION"), "10s")
            .because("A server that can be reached answers within a second or two. Follows --timeout if that is \
                given."),
        /// Wait at most this long for the header of a response
        pub header_timeout: Duration = key(Shape::Value("DURATION"), "30s")
            .because("As --timeout: pages that are made on request may take their time. Follows --timeout if that \
                is given."),
        /// Wait at most this long for more bytes of a body
        pub idle_timeout: Duration = key(Shape::Value("DURATION"), "10s")
            .because("A body of which nothing comes for so long does not come. Follows --timeout if that is given."),
        /// Retry N times after a transient failure
        pub retries: u32 = key(Shape::Value("N"), "2")
            .because("A failure that passes is over by then. Trouble of the whole host uses up none, see \
                --host-patience.")
            .example("--retries 5")
            .flag("retries"),
        /// Set hosts aside whose Retry-After is longer
        pub max_retry_after: Duration = key(Shape::Value("DURATION"), "5m")
            .because("Five minutes fit into a run. The next run goes on with a host that was set aside.")
            .example("--max-retry-after 1h")
            .flag("max-retry-after"),
        /// Follow at most N redirects in a row
        pub max_redirects: u8 = key(Shape::Value("N"), "10")
            .because("Longer chains are loops as a rule.")
            .example("--max-redirects 5")
            .flag("max-redirects"),
        /// Truncate bodies at this size, decompressed
        pub max_body: Size = key(Shape::Value("SIZE"), "10M")
            .because("10 MiB are more text than a book has.")
            .example("--max-body 50M")
            .flag("max-body"),
        /// Reject responses with a larger header
        pub max_header: Size = key(Shape::Value("SIZE"), "64K")
            .because("Headers have a few KiB; the rest is room for cookies.")
            .example("--max-header 128K")
            .flag("max-header"),
        /// Download bodies of these media types only (repeatable)
        pub accept_types: Vec<String> = key(Shape::CommaList("GLOB"), "text/html, application/xhtml+xml, text/plain, text/markdown, text/xml, application/xml, application/*+xml")
            .because("What has text to compare. Bodies of other types are not downloaded.")
            .example("--accept-type text/html")
            .flag("accept-type")
            .note("HTML, plain text, Markdown and XML"),
        /// Ask servers for Markdown before HTML
        pub markdown: bool = key(Shape::Switch("true"), "false")
            .because("Off: pages as people see them. What offers Markdown sends the text without its surroundings.")
            .example("--markdown")
            .flag("markdown"),
        /// Accept any certificate; anyone can impersonate the server
        pub insecure: bool = key(Shape::Switch("true"), "false")
            .because("Off: without certificates, anyone on the way can write the pages.")
            .example("-k")
            .flag("insecure")
            .short('k'),
        /// Trust the issuers whose certificates are in this file, too
        pub ca_file: Option<PathBuf> = key(Shape::Value("FILE"), "")
            .because("The issuers that the system trusts are enough for public sites. PEM or DER.")
            .example("--ca-file issuers.pem")
            .flag("ca-file"),
        /// Use HTTP/1.1 only
        pub http1_only: bool = key(Shape::Switch("true"), "false")
            .because("Off: the server chooses. It helps where a server's HTTP/2 is broken.")
            .example("--http1")
            .flag("http1"),
        /// Use this address for a host instead of a DNS lookup (repeatable)
        pub resolve: Vec<Resolve> = key(Shape::CommaList("HOST[:PORT]:ADDR"), "")
            .because("The DNS knows. It helps with a server that is not public yet.")
            .example("--resolve www.example.org:203.0.113.7")
            .flag("resolve"),
    }
}

table! {
    /// Addresses that may be connected to.
    #[derive(Default)]
    pub struct Security: security {
        /// Allow connections to this private network (repeatable)
        pub allow_nets: Vec<ipnet::IpNet> = key(Shape::CommaList("CIDR"), "")
            .because("None, since a link on any page could lead into your own network.")
            .example("--allow-net 127.0.0.1")
            .flag("allow-net"),
        /// Allow connections to all private and loopback networks
        pub allow_private: bool = key(Shape::Switch("true"), "false")
            .because("Off, since a link on any page could lead into your own network.")
            .example("--allow-private")
            .flag("allow-private"),
    }
}
