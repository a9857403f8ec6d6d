//! Keys of politeness and of the crawler's identity.

use super::{Key, Shape, key};
use crate::cli::config::value_enums::{Noarchive, Obedience};

const POLITENESS: &str = "Politeness";

/// The tables `politeness` and `identity`.
pub const KEYS: &[Key] = &[
    key!(politeness.concurrency, Shape::Value("N"), "32", "Send at most N requests at a time in total")
        .because(
            "32 suit a small machine. More helps crawls of many hosts only, since each gets \
            --host-concurrency.",
        )
        .example("-c 128")
        .flag("concurrency")
        .short('c')
        .heading(POLITENESS),
    key!(
        politeness.host_concurrency,
        Shape::Value("N"),
        "1",
        "Send at most N requests at a time per host and per IP address"
    )
    .because("One, so that a slow server is not asked for more meanwhile.")
    .example("--host-concurrency 2")
    .flag("host-concurrency")
    .heading(POLITENESS),
    key!(politeness.delay, Shape::Value("DURATION"), "1s", "Minimum time from one request to a host to the next")
        .because("One request a second is what a small server bears. The time is from start to start.")
        .example("--delay 2s")
        .flag("delay")
        .heading(POLITENESS),
    key!(
        politeness.ip_delay,
        Shape::Value("DURATION"),
        "500ms",
        "Minimum time from one request to an IP address to the next"
    )
    .because("Many hosts share an address; twice a second is for all of them together.")
    .example("--ip-delay 1s")
    .flag("ip-delay")
    .heading(POLITENESS),
    key!(
        politeness.max_crawl_delay,
        Shape::Value("DURATION"),
        "60s",
        "Skip hosts whose robots.txt sets a longer Crawl-delay; 0: ignore Crawl-delay"
    )
    .because(
        "At one page a minute, a site of 1,000 pages takes 17 hours. Hosts that ask for more are not \
            worth the wait for most crawls.",
    )
    .example("--max-crawl-delay 5m")
    .flag("max-crawl-delay")
    .heading(POLITENESS),
    key!(
        politeness.host_patience,
        Shape::Value("DURATION"),
        "2m",
        "Leave a host that is in trouble for so long to the next run"
    )
    .because(
        "Enough for the restart of a server. Meanwhile no URL uses up its tries. Waits that Retry-After asks for do not count.",
    )
    .example("--host-patience 30m")
    .flag("host-patience")
    .heading(POLITENESS),
    key!(politeness.ignore_robots, Shape::Switch("true"), "false", "Ignore robots.txt (for your own sites only)")
        .because("Off: robots.txt is what the owner of a site asks of crawlers.")
        .example("--ignore-robots")
        .flag("ignore-robots")
        .heading(POLITENESS),
    key!(politeness.nofollow, Shape::Choice(Obedience::WORDS), "obey", "How to treat links marked nofollow")
        .because("obey, since the site asks crawlers not to follow these links.")
        .example("--nofollow ignore")
        .flag("nofollow")
        .heading(POLITENESS),
    key!(politeness.noarchive, Shape::Choice(Noarchive::WORDS), "obey", "How to treat pages marked noarchive")
        .because(
            "obey compares such a page and leaves its body out of the archive; record archives it together \
            with the directive.",
        )
        .example("--noarchive record")
        .flag("noarchive")
        .heading(POLITENESS),
    key!(identity.user_agent, Shape::Value("TEXT"), "", "User-Agent header to send")
        .because("Name, version and contact tell a site owner who asks. TEXT replaces all of it.")
        .example("-A 'examplebot/1.0 (+https://bot.example/)'")
        .flag("user-agent")
        .short('A')
        .note("ndcrawl/VERSION and the contact")
        .heading(POLITENESS),
    key!(identity.contact, Shape::Value("URL|MAIL"), "", "Where site owners can reach you; sent with every request")
        .because("None is known; a crawl without one warns.")
        .example("--contact https://bot.example/about")
        .flag("contact")
        .heading(POLITENESS),
    key!(identity.robots_agent, Shape::Value("TOKEN"), "ndcrawl", "Product token to look for in robots.txt")
        .because("The program's name, which site owners use in their rules.")
        .example("--robots-agent examplebot")
        .flag("robots-agent")
        .heading(POLITENESS),
];
