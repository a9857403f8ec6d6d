//! Keys of politeness and of the crawler's identity.

use super::{Key, Shape, key};
use crate::cli::config::value_enums::{Noarchive, Obedience};

const POLITENESS: &str = "Politeness";

/// The tables `politeness` and `identity`.
pub const KEYS: &[Key] = &[
    key!(politeness.concurrency, Shape::Value("N"), "32", "Send at most N requests at a time in total")
        .flag("concurrency")
        .short('c')
        .heading(POLITENESS),
    key!(
        politeness.host_concurrency,
        Shape::Value("N"),
        "1",
        "Send at most N requests at a time per host and per IP address"
    )
    .flag("host-concurrency")
    .heading(POLITENESS),
    key!(politeness.delay, Shape::Value("DURATION"), "1s", "Minimum time from one request to a host to the next")
        .flag("delay")
        .heading(POLITENESS),
    key!(
        politeness.ip_delay,
        Shape::Value("DURATION"),
        "500ms",
        "Minimum time from one request to an IP address to the next"
    )
    .flag("ip-delay")
    .heading(POLITENESS),
    key!(
        politeness.max_crawl_delay,
        Shape::Value("DURATION"),
        "60s",
        "Skip hosts whose robots.txt sets a longer Crawl-delay; 0: ignore Crawl-delay"
    )
    .flag("max-crawl-delay")
    .heading(POLITENESS),
    key!(politeness.ignore_robots, Shape::Switch("true"), "false", "Ignore robots.txt (for your own sites only)")
        .flag("ignore-robots")
        .heading(POLITENESS),
    key!(politeness.nofollow, Shape::Choice(Obedience::WORDS), "obey", "How to treat links marked nofollow")
        .flag("nofollow")
        .heading(POLITENESS),
    key!(politeness.noarchive, Shape::Choice(Noarchive::WORDS), "obey", "How to treat pages marked noarchive")
        .flag("noarchive")
        .heading(POLITENESS),
    key!(identity.user_agent, Shape::Value("TEXT"), "", "User-Agent header to send")
        .flag("user-agent")
        .short('A')
        .note("ndcrawl/VERSION and the contact")
        .heading(POLITENESS),
    key!(identity.contact, Shape::Value("URL|MAIL"), "", "Where site owners can reach you; sent with every request")
        .flag("contact")
        .heading(POLITENESS),
    key!(identity.robots_agent, Shape::Value("TOKEN"), "ndcrawl", "Product token to look for in robots.txt")
        .flag("robots-agent")
        .heading(POLITENESS),
];
