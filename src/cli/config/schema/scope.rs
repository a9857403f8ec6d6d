//! Keys of seeds, scope, limits and URL normalization.

use std::time::Duration;

use regex::Regex;

use super::{Key, Shape, key, table};
use crate::cli::config::value_enums::{Choice, EngineKind, Sitemaps};
use crate::frontier::ScopeKind;

const ON_OFF: Shape = Shape::Choice("on|off");

/// Keys outside of any table.
pub const TOP: &[Key] = &[
    key!(seeds, Shape::List("URL"), "", "URLs to start from")
        .because("A crawl needs a start. Without a scheme, https is tried first, then http."),
    key!(seeds_file, Shape::List("FILE"), "", "Start from the URLs in FILE, one per line, # for comments; - is stdin")
        .because("No list, since most crawls begin with URLs on the command line.")
        .example("--seeds seeds.txt")
        .flag("seeds"),
    key!(
        engine,
        Shape::Choice(EngineKind::WORDS),
        "frontier",
        "What selects the next URL: the built-in frontier, or the crate spider (not resumable)"
    )
    .because("The frontier can resume a crawl and has all options; spider is a second opinion on the links.")
    .example("--engine spider")
    .flag("engine")
    .fixed(),
    key!(random_seed, Shape::Value("N"), "0", "Seed of all random sampling")
        .because("Always the same, so that a crawl can be repeated with the same samples.")
        .example("--random-seed 7")
        .flag("random-seed"),
    key!(fail_over, Shape::Value("PCT"), "", "Exit with code 3 if more than PCT percent of the pages fail")
        .because("Off, since some pages fail on nearly every site; the summary counts them.")
        .example("--fail-over 5")
        .flag("fail-over")
        .note("off"),
    key!(
        max_duplicate_rate,
        Shape::Value("PCT"),
        "",
        "Exit with code 9 if more than PCT percent of the pages compared are duplicates"
    )
    .because("Off. A gate for those who build a site: run it on the preview, and fail the build.")
    .example("--max-duplicate-rate 20")
    .flag("max-duplicate-rate")
    .note("off"),
];

table! {
    /// Which URLs are fetched, and how many.
    #[derive(Default)]
    pub struct Scope: scope {
        /// Follow links at most N steps away from the seeds
        pub depth: u16 = key(Shape::Value("N"), "5")
            .because("Five bounds the crawl of a site that you do not know. The shortest path counts.")
            .example("-d 2")
            .flag("depth")
            .short('d'),
        /// Stop after N pages; 0: no limit
        pub max_pages: Option<u64> = key(Shape::Value("N"), "0")
            .because("No limit in all, since each host has its own. The crawl goes on with a higher limit.")
            .example("--max-pages 200")
            .flag("max-pages"),
        /// Fetch at most N pages of one host; 0: no limit
        pub max_pages_per_host: Option<u64> = key(Shape::Value("N"), "10000")
            .because("10,000 pages take three hours at one page a second: time to notice a site without end.")
            .example("--max-pages-per-host 500")
            .flag("max-pages-per-host"),
        /// Stop after this time, for example 10m; 0: no limit
        pub max_time: Option<Duration> = key(Shape::Value("DURATION"), "0")
            .because("No limit: a crawl ends when its queue is empty. The same command resumes it.")
            .example("--max-time 30m")
            .flag("max-time"),
        /// Stay on the seeds' host, domain or path prefix, or go anywhere
        pub kind: ScopeKind = key(Shape::Choice(ScopeKind::WORDS), "host")
            .because("The seeds' hosts are what you have named. domain adds their subdomains and siblings; any \
                needs --max-pages.")
            .example("--scope prefix")
            .flag("scope")
            .fixed(),
        /// Crawl only URLs that match one of these (repeatable)
        pub include: Vec<Regex> = key(Shape::List("REGEX"), "")
            .because("All URLs in scope. Any part of the URL may match; seeds need not.")
            .example("--include '/docs/'")
            .flag("include"),
        /// Skip URLs that match one of these (repeatable); overrides --include
        pub exclude: Vec<Regex> = key(Shape::List("REGEX"), "")
            .because("None. Any part of the URL may match.")
            .example("--exclude '\\.pdf$' --exclude '[?&]print='")
            .flag("exclude"),
        /// Read the sitemaps listed in robots.txt; only: fetch what sitemaps list, follow no links
        pub sitemaps: Sitemaps = key(Shape::Choice(Sitemaps::WORDS), "on")
            .because("On, since they name pages to which no link leads. Off with -d 0 fetches the seeds alone.")
            .example("--sitemaps only")
            .flag("sitemaps"),
        /// With --recrawl: leave alone what a sitemap calls unchanged, where sitemaps have proved true
        pub trust_lastmod: bool = key(Shape::Switch("true"), "false")
            .because("Off: lastmod only says what comes first. A sample is requested all the same and tells what is missed.")
            .example("--trust-lastmod")
            .flag("trust-lastmod"),
        /// With --recrawl: take a page as it is archived if it was requested less than this time ago; 0: never
        pub recrawl_after: Duration = key(Shape::Value("DURATION"), "0")
            .because("Never, since a page may change at any time. Sitemaps are always read.")
            .example("--recrawl-after 7d")
            .flag("recrawl-after"),
        /// Skip endless paths and repeating URL patterns
        pub trap_guard: bool = key(ON_OFF, "on")
            .because("On, since calendars and counters have no end. Some URLs of a closed pattern are fetched all \
                the same, to notice a mistake.")
            .example("--trap-guard off")
            .flag("trap-guard"),
        /// Skip error pages that are sent with status 200
        pub soft_404: bool = key(ON_OFF, "on")
            .because("On, since such pages repeat each other. It costs one or two requests for each kind of page.")
            .example("--soft-404 off")
            .flag("soft-404"),
    }
}

table! {
    /// URL normalization.
    #[derive(Default)]
    pub struct Normalise: normalise {
        /// Remove these query parameters from URLs; a trailing * is a wildcard
        pub strip_params: Vec<String> = key(Shape::CommaList("LIST"), "utm_*, gclid, fbclid, jsessionid, phpsessid")
            .because("These name a visit or a campaign, and the page is the same without them. LIST replaces the \
                default.")
            .example("--strip-params 'utm_*,sid,ref'")
            .flag("strip-params")
            .fixed(),
        /// Refuse URLs longer than N characters
        pub max_url_length: usize = key(Shape::Value("N"), "2048")
            .because("The limit of the sitemap protocol.")
            .example("--max-url-length 4096")
            .flag("max-url-length"),
    }
}
