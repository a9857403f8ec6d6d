//! Keys of politeness and of the crawler's identity.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::key::table;
use crate::cli::config::http_values::{DirectoryUrl, HeaderText, ProductToken};
use crate::cli::config::value_enums::{Choice, Noarchive, Obedience};

table! {
    /// Limits that protect servers.
    pub struct Politeness in [politeness] of Crawl {
        /// Send at most N requests at a time in total
        ///
        /// 32 suit a small machine. More helps crawls of many hosts only, since each gets --host-concurrency.
        /// Example: -c 128
        pub concurrency: NonZeroUsize = value("N", "32").flag("concurrency").short('c').of_machine(),
        /// Send at most N requests at a time per host and per IP address
        ///
        /// One, so that a slow server is not asked for more meanwhile.
        /// Example: --host-concurrency 2
        pub host_concurrency: NonZeroUsize = value("N", "1").flag("host-concurrency"),
        /// Minimum time from one request to a host to the next
        ///
        /// One request a second is what a small server bears. The time is from start to start.
        /// Example: --delay 2s
        pub delay: Duration = value("DURATION", "1s").flag("delay"),
        /// Minimum time from one request to an IP address to the next
        ///
        /// Many hosts share an address; twice a second is for all of them together.
        /// Example: --ip-delay 1s
        pub ip_delay: Duration = value("DURATION", "500ms").flag("ip-delay"),
        /// Skip hosts whose robots.txt sets a longer Crawl-delay; 0: ignore Crawl-delay
        ///
        /// At one page a minute, a site of 1,000 pages takes 17 hours. Hosts that ask for more are not worth the wait
        /// for most crawls.
        /// Example: --max-crawl-delay 5m
        pub max_crawl_delay: Duration = value("DURATION", "60s").flag("max-crawl-delay"),
        /// Leave a host that is in trouble for so long to the next run
        ///
        /// Enough for the restart of a server. Meanwhile no URL uses up its tries. Waits that Retry-After asks for do
        /// not count.
        /// Example: --host-patience 30m
        pub host_patience: Duration = value("DURATION", "2m").flag("host-patience"),
        /// Ignore robots.txt (for your own sites only)
        ///
        /// Off: robots.txt is what the owner of a site asks of crawlers.
        /// Example: --ignore-robots
        pub ignore_robots: bool = switch(false).flag("ignore-robots"),
        /// Ask each host once for tdmrep.json, ai.txt and the RSL licenses that it names
        ///
        /// Off: two more requests a host, and one a license. What robots.txt, headers and pages say of their use is
        /// recorded anyway.
        /// Example: --preferences
        pub preferences: bool = switch(false).flag("preferences"),
        /// How to treat links marked nofollow
        ///
        /// obey, since the site asks crawlers not to follow these links.
        /// Example: --nofollow ignore
        pub nofollow: Obedience = choice(Obedience::WORDS, "obey").flag("nofollow"),
        /// How to treat pages marked noarchive
        ///
        /// obey compares such a page and leaves its body out of the archive; record archives it together with the
        /// directive.
        /// Example: --noarchive record
        pub noarchive: Noarchive = choice(Noarchive::WORDS, "obey").flag("noarchive"),
    }
}

table! {
    /// The identity of the crawler.
    pub struct Identity in [identity] of Machine {
        /// User-Agent header to send
        ///
        /// Name, version and contact tell a site owner who asks. TEXT replaces all of it.
        /// Example: -A 'examplebot/1.0 (+https://bot.example/)'
        pub user_agent: HeaderText = value("TEXT", "").flag("user-agent").short('A')
            .note("ndcrawl/VERSION and the contact"),
        /// Where site owners can reach you; sent with every request
        ///
        /// None is known; a crawl without one warns.
        /// Example: --contact https://bot.example/about
        pub contact: HeaderText = value("URL|MAIL", "").flag("contact"),
        /// Product token to look for in robots.txt
        ///
        /// The program's name, which site owners use in their rules.
        /// Example: --robots-agent examplebot
        pub robots_agent: ProductToken = value("TOKEN", "ndcrawl").flag("robots-agent").of_crawl(),
        /// Sign each request with the private key in this file (Ed25519, PKCS#8 or JWK), as Web Bot Auth
        ///
        /// None. Sites that know the key can tell your crawler from others that use its name.
        /// Example: --sign key.pem
        pub sign_key: Option<PathBuf> = value("KEY", "").flag("sign"),
        /// Where sites find the key of --sign: the https URL of its directory
        ///
        /// None. 'ndcrawl jwks KEY' prints what to publish there.
        /// Example: --signature-agent https://bot.example/.well-known/http-message-signatures-directory
        pub signature_agent: Option<DirectoryUrl> = value("URL", "").flag("signature-agent"),
    }
}
