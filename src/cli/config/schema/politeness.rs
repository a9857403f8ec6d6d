//! Keys of politeness and of the crawler's identity.

use std::path::PathBuf;
use std::time::Duration;

use super::{Shape, table};
use crate::cli::config::http_values::{DirectoryUrl, HeaderText, ProductToken};
use crate::cli::config::units::Positive;
use crate::cli::config::value_enums::{Choice, Noarchive, Obedience};

table! {
    /// Limits that protect servers.
    #[derive(Default)]
    pub struct Politeness: politeness {
        /// Send at most N requests at a time in total
        pub concurrency: Positive = key(Shape::Value("N"), "32")
            .because("32 suit a small machine. More helps crawls of many hosts only, since each gets \
                --host-concurrency.")
            .example("-c 128")
            .flag("concurrency")
            .short('c'),
        /// Send at most N requests at a time per host and per IP address
        pub host_concurrency: Positive = key(Shape::Value("N"), "1")
            .because("One, so that a slow server is not asked for more meanwhile.")
            .example("--host-concurrency 2")
            .flag("host-concurrency"),
        /// Minimum time from one request to a host to the next
        pub delay: Duration = key(Shape::Value("DURATION"), "1s")
            .because("One request a second is what a small server bears. The time is from start to start.")
            .example("--delay 2s")
            .flag("delay"),
        /// Minimum time from one request to an IP address to the next
        pub ip_delay: Duration = key(Shape::Value("DURATION"), "500ms")
            .because("Many hosts share an address; twice a second is for all of them together.")
            .example("--ip-delay 1s")
            .flag("ip-delay"),
        /// Skip hosts whose robots.txt sets a longer Crawl-delay; 0: ignore Crawl-delay
        pub max_crawl_delay: Duration = key(Shape::Value("DURATION"), "60s")
            .because("At one page a minute, a site of 1,000 pages takes 17 hours. Hosts that ask for more are not \
                worth the wait for most crawls.")
            .example("--max-crawl-delay 5m")
            .flag("max-crawl-delay"),
        /// Leave a host that is in trouble for so long to the next run
        pub host_patience: Duration = key(Shape::Value("DURATION"), "2m")
            .because("Enough for the restart of a server. Meanwhile no URL uses up its tries. Waits that \
                Retry-After asks for do not count.")
            .example("--host-patience 30m")
            .flag("host-patience"),
        /// Ignore robots.txt (for your own sites only)
        pub ignore_robots: bool = key(Shape::Switch("true"), "false")
            .because("Off: robots.txt is what the owner of a site asks of crawlers.")
            .example("--ignore-robots")
            .flag("ignore-robots"),
        /// Ask each host once for tdmrep.json, ai.txt and the RSL licenses that it names
        pub preferences: bool = key(Shape::Switch("true"), "false")
            .because("Off: two more requests a host, and one a license. What robots.txt, headers and pages say of their use is recorded \
                anyway.")
            .example("--preferences")
            .flag("preferences"),
        /// How to treat links marked nofollow
        pub nofollow: Obedience = key(Shape::Choice(Obedience::WORDS), "obey")
            .because("obey, since the site asks crawlers not to follow these links.")
            .example("--nofollow ignore")
            .flag("nofollow"),
        /// How to treat pages marked noarchive
        pub noarchive: Noarchive = key(Shape::Choice(Noarchive::WORDS), "obey")
            .because("obey compares such a page and leaves its body out of the archive; record archives it together \
                with the directive.")
            .example("--noarchive record")
            .flag("noarchive"),
    }
}

table! {
    /// The identity of the crawler.
    #[derive(Default)]
    pub struct Identity: identity {
        /// User-Agent header to send
        pub user_agent: HeaderText = key(Shape::Value("TEXT"), "")
            .because("Name, version and contact tell a site owner who asks. TEXT replaces all of it.")
            .example("-A 'examplebot/1.0 (+https://bot.example/)'")
            .flag("user-agent")
            .short('A')
            .note("ndcrawl/VERSION and the contact"),
        /// Where site owners can reach you; sent with every request
        pub contact: HeaderText = key(Shape::Value("URL|MAIL"), "")
            .because("None is known; a crawl without one warns.")
            .example("--contact https://bot.example/about")
            .flag("contact"),
        /// Product token to look for in robots.txt
        pub robots_agent: ProductToken = key(Shape::Value("TOKEN"), "ndcrawl")
            .because("The program's name, which site owners use in their rules.")
            .example("--robots-agent examplebot")
            .flag("robots-agent"),
        /// Sign each request with the private key in this file (Ed25519, PKCS#8 or JWK), as Web Bot Auth
        pub sign_key: Option<PathBuf> = key(Shape::Value("KEY"), "")
            .because("None. Sites that know the key can tell your crawler from others that use its name.")
            .example("--sign key.pem")
            .flag("sign"),
        /// Where sites find the key of --sign: the https URL of its directory
        pub signature_agent: Option<DirectoryUrl> = key(Shape::Value("URL"), "")
            .because("None. 'ndcrawl jwks KEY' prints what to publish there.")
            .example("--signature-agent https://bot.example/.well-known/http-message-signatures-directory")
            .flag("signature-agent"),
    }
}
