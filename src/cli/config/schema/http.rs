//! Keys of HTTP and of the addresses that may be connected to.

use std::path::PathBuf;
use std::time::Duration;

use super::key::table;
use crate::cli::config::http_values::{HeaderLine, Proxy};
use crate::cli::config::units::Size;
use crate::fetch::ResolveOverride;

table! {
    /// HTTP requests and limits of responses.
    pub struct Http in [http] of Machine {
        /// Send this header field too, to the seeds' scheme, host and port only (repeatable)
        ///
        /// None. Values that look like secrets are masked in all that is written.
        /// Example: -H 'Cookie: session=1'
        pub headers: Vec<HeaderLine> = list("NAME: VALUE").flag("header").short('H'),
        /// Send the fields of --header to all hosts
        ///
        /// Off, so that no other site sees your cookies.
        /// Example: -H 'Accept-Language: de' --header-everywhere
        pub header_everywhere: bool = switch(false).flag("header-everywhere"),
        /// Send the cookies of this file (Netscape format) to the hosts and paths that they are for
        ///
        /// None. curl -c and browser extensions write such files. Cookies that servers set meanwhile are not kept.
        /// Example: --cookie-file cookies.txt
        pub cookie_file: Option<PathBuf> = value("FILE", "").flag("cookie-file"),
        /// Proxy; none, or env: from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY
        ///
        /// The variables that other programs obey, too.
        /// Example: -x http://127.0.0.1:3128
        pub proxy: Proxy = value("URL", "env").flag("proxy").short('x'),
        /// Abort a request after this time
        ///
        /// 30 s are long for a page, and short for a server that hangs.
        /// Example: --timeout 10s
        pub timeout: Duration = value("DURATION", "30s").flag("timeout"),
        /// Abort a connection attempt after this time
        ///
        /// A server that can be reached answers within a second or two. Follows --timeout if that is given.
        pub connect_timeout: Duration = value("DURATION", "10s"),
        /// Wait at most this long for the header of a response
        ///
        /// As --timeout: pages that are made on request may take their time. Follows --timeout if that is given.
        pub header_timeout: Duration = value("DURATION", "30s"),
        /// Wait at most this long for more bytes of a body
        ///
        /// A body of which nothing comes for so long does not come. Follows --timeout if that is given.
        pub idle_timeout: Duration = value("DURATION", "10s"),
        /// Retry N times after a transient failure
        ///
        /// A failure that passes is over by then. Trouble of the whole host uses up none, see --host-patience.
        /// Example: --retries 5
        pub retries: u32 = value("N", "2").flag("retries"),
        /// Set hosts aside whose Retry-After is longer
        ///
        /// Five minutes fit into a run. The next run goes on with a host that was set aside.
        /// Example: --max-retry-after 1h
        pub max_retry_after: Duration = value("DURATION", "5m").flag("max-retry-after"),
        /// Follow at most N redirects in a row
        ///
        /// Longer chains are loops as a rule.
        /// Example: --max-redirects 5
        pub max_redirects: u8 = value("N", "10").flag("max-redirects").of_crawl(),
        /// Truncate bodies at this size, decompressed
        ///
        /// 10 MiB are more text than a book has.
        /// Example: --max-body 50M
        pub max_body: Size = value("SIZE", "10M").flag("max-body").of_crawl(),
        /// Reject responses with a larger header
        ///
        /// Headers have a few KiB; the rest is room for cookies.
        /// Example: --max-header 128K
        pub max_header: Size = value("SIZE", "64K").flag("max-header"),
        /// Download bodies of these media types only (repeatable)
        ///
        /// What has text to compare. Bodies of other types are not downloaded.
        /// Example: --accept-type text/html
        pub accept_types: Vec<String> = comma_list("GLOB", "text/html, application/xhtml+xml, text/plain, text/markdown, text/xml, application/xml, application/*+xml")
            .flag("accept-type").note("HTML, plain text, Markdown and XML").of_crawl(),
        /// Ask servers for Markdown before HTML
        ///
        /// Off: pages as people see them. What offers Markdown sends the text without its surroundings.
        /// Example: --markdown
        pub markdown: bool = switch(false).flag("markdown").of_crawl(),
        /// Accept any certificate; anyone can impersonate the server
        ///
        /// Off: without certificates, anyone on the way can write the pages.
        /// Example: -k
        pub insecure: bool = switch(false).flag("insecure").short('k'),
        /// Trust the issuers whose certificates are in this file, too
        ///
        /// The issuers that the system trusts are enough for public sites. PEM or DER.
        /// Example: --ca-file issuers.pem
        pub ca_file: Option<PathBuf> = value("FILE", "").flag("ca-file"),
        /// Use HTTP/1.1 only
        ///
        /// Off: the server chooses. It helps where a server's HTTP/2 is broken.
        /// Example: --http1
        pub http1_only: bool = switch(false).flag("http1"),
        /// Use this address for a host instead of a DNS lookup (repeatable)
        ///
        /// The DNS knows. It helps with a server that is not public yet.
        /// Example: --resolve www.example.org:203.0.113.7
        pub resolve: Vec<ResolveOverride> = comma_list("HOST[:PORT]:ADDR", "").flag("resolve"),
    }
}

table! {
    /// Addresses that may be connected to.
    pub struct Security in [security] of Machine {
        /// Allow connections to this private network (repeatable)
        ///
        /// None, since a link on any page could lead into your own network.
        /// Example: --allow-net 127.0.0.1
        pub allow_nets: Vec<ipnet::IpNet> = comma_list("CIDR", "").flag("allow-net"),
        /// Allow connections to all private and loopback networks
        ///
        /// Off, since a link on any page could lead into your own network.
        /// Example: --allow-private
        pub allow_private: bool = switch(false).flag("allow-private"),
    }
}
