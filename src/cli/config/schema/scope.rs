//! Keys of scope, limits and URL normalization.

use std::time::Duration;

use regex::Regex;

use super::key::table;
use crate::cli::config::value_enums::{Choice, Sitemaps};
use crate::frontier::ScopeKind;

table! {
    /// Which URLs are fetched, and how many.
    pub struct Scope in [scope] of Crawl {
        /// Follow links at most N steps away from the seeds
        ///
        /// Five bounds the crawl of a site that you do not know. The shortest path counts.
        /// Example: -d 2
        pub depth: u16 = value("N", "5").flag("depth").short('d'),
        /// Stop after N pages; 0: no limit
        ///
        /// No limit in all, since each host has its own. The crawl goes on with a higher limit.
        /// Example: --max-pages 200
        pub max_pages: Option<u64> = value("N", "0").flag("max-pages"),
        /// Fetch at most N pages of one host; 0: no limit
        ///
        /// 10,000 pages take three hours at one page a second: time to notice a site without end.
        /// Example: --max-pages-per-host 500
        pub max_pages_per_host: Option<u64> = value("N", "10000").flag("max-pages-per-host"),
        /// Stop after this time, for example 10m; 0: no limit
        ///
        /// No limit: a crawl ends when its queue is empty. The same command resumes it.
        /// Example: --max-time 30m
        pub max_time: Option<Duration> = value("DURATION", "0").flag("max-time").of_machine(),
        /// Stay on the seeds' host, domain or path prefix, or go anywhere
        ///
        /// The seeds' hosts are what you have named. domain adds their subdomains and siblings; any needs --max-pages.
        /// Example: --scope prefix
        pub kind: ScopeKind = choice(ScopeKind::WORDS, "host").flag("scope").fixed(),
        /// Crawl only URLs that match one of these (repeatable)
        ///
        /// All URLs in scope. Any part of the URL may match; seeds need not.
        /// Example: --include '/docs/'
        pub include: Vec<Regex> = list("REGEX").flag("include"),
        /// Skip URLs that match one of these (repeatable); overrides --include
        ///
        /// None. Any part of the URL may match.
        /// Example: --exclude '\.pdf$' --exclude '[?&]print='
        pub exclude: Vec<Regex> = list("REGEX").flag("exclude"),
        /// Read the sitemaps listed in robots.txt; only: fetch what sitemaps list, follow no links
        ///
        /// On, since they name pages to which no link leads. Off with -d 0 fetches the seeds alone.
        /// Example: --sitemaps only
        pub sitemaps: Sitemaps = choice(Sitemaps::WORDS, "on").flag("sitemaps"),
        /// With --recrawl: leave alone what a sitemap calls unchanged, where sitemaps have proved true
        ///
        /// Off: lastmod only says what comes first. A sample is requested all the same and tells what is missed.
        /// Example: --trust-lastmod
        pub trust_lastmod: bool = switch(false).flag("trust-lastmod"),
        /// With --recrawl: take a page as it is archived if it was requested less than this time ago; 0: never
        ///
        /// Never, since a page may change at any time. Sitemaps are always read.
        /// Example: --recrawl-after 7d
        pub recrawl_after: Duration = value("DURATION", "0").flag("recrawl-after"),
        /// Skip endless paths and repeating URL patterns
        ///
        /// On, since calendars and counters have no end. Some URLs of a closed pattern are fetched all the same, to
        /// notice a mistake.
        /// Example: --trap-guard off
        pub trap_guard: bool = choice("on|off", "on").flag("trap-guard"),
        /// Skip error pages that are sent with status 200
        ///
        /// On, since such pages repeat each other. It costs one or two requests for each kind of page.
        /// Example: --soft-404 off
        pub soft_404: bool = choice("on|off", "on").flag("soft-404"),
    }
}

table! {
    /// URL normalization.
    pub struct Normalise in [normalise] of Crawl {
        /// Remove these query parameters from URLs; a trailing * is a wildcard
        ///
        /// These name a visit or a campaign, and the page is the same without them. LIST replaces the default.
        /// Example: --strip-params 'utm_*,sid,ref'
        pub strip_params: Vec<String> = comma_list("LIST", "utm_*, gclid, fbclid, jsessionid, phpsessid")
            .flag("strip-params").fixed(),
        /// Refuse URLs longer than N characters
        ///
        /// The limit of the sitemap protocol.
        /// Example: --max-url-length 4096
        pub max_url_length: usize = value("N", "2048").flag("max-url-length"),
    }
}
