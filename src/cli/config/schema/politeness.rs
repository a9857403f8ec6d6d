//! How servers are spared, and who says so.

use super::{Key, Shape, key};
use crate::cli::config::value_enums::{Noarchive, Obedience};

const POLITENESS: &str = "Politeness";

/// The tables `politeness` and `identity`.
pub const KEYS: &[Key] = &[
    key!(politeness.concurrency, Shape::Value("N"), "32", "At most N requests at a time, all hosts together")
        .flag("concurrency")
        .short('c')
        .heading(POLITENESS),
    key!(politeness.host_concurrency, Shape::Value("N"), "1", "At most N requests at a time per host and per address")
        .flag("host-concurrency")
        .heading(POLITENESS),
    key!(politeness.delay, Shape::Value("DURATION"), "1s", "Least gap between requests to a host, start to start")
        .flag("delay")
        .heading(POLITENESS),
    key!(politeness.ip_delay, Shape::Value("DURATION"), "500ms", "Least gap between requests to one IP address")
        .flag("ip-delay")
        .heading(POLITENESS),
    key!(
        politeness.max_crawl_delay,
        Shape::Value("DURATION"),
        "60s",
        "Skip hosts whose robots.txt asks for a longer Crawl-delay; 0 ignores it"
    )
    .flag("max-crawl-delay")
    .heading(POLITENESS),
    key!(politeness.ignore_robots, Shape::Switch("true"), "false", "Do not obey robots.txt (only for your own sites)")
        .flag("ignore-robots")
        .heading(POLITENESS),
    key!(politeness.nofollow, Shape::Choice(Obedience::WORDS), "obey", "What to do about links marked nofollow")
        .flag("nofollow")
        .heading(POLITENESS),
    key!(politeness.noarchive, Shape::Choice(Noarchive::WORDS), "obey", "What to do about pages marked noarchive")
        .flag("noarchive")
        .heading(POLITENESS),
    key!(identity.user_agent, Shape::Value("TEXT"), "", "The User-Agent to send")
        .flag("user-agent")
        .short('A')
        .note("ndcrawl/VERSION and the contact")
        .heading(POLITENESS),
    key!(
        identity.contact,
        Shape::Value("URL|MAIL"),
        "",
        "Where the owner of a site can reach you; sent with every request"
    )
    .flag("contact")
    .heading(POLITENESS),
    key!(identity.robots_agent, Shape::Value("TOKEN"), "ndcrawl", "The name to look for in robots.txt")
        .flag("robots-agent")
        .heading(POLITENESS),
];
