//! Keys of seeds, scope, limits and URL normalization.

use super::{Key, Shape, key};
use crate::cli::config::value_enums::{EngineKind, ScopeKind, Sitemaps};

const INPUT: &str = "Input";
const SCOPE: &str = "Scope";
const ON_OFF: Shape = Shape::Choice("on|off");

/// Keys outside of any table.
pub const TOP: &[Key] = &[
    key!(seeds, Shape::List("URL"), "", "URLs to start from"),
    key!(seeds_file, Shape::List("FILE"), "", "Start from the URLs in FILE, one per line, # for comments; - is stdin")
        .flag("seeds")
        .heading(INPUT),
    key!(
        engine,
        Shape::Choice(EngineKind::WORDS),
        "frontier",
        "What selects the next URL: the built-in frontier, or the crate spider (not resumable)"
    )
    .flag("engine")
    .fixed()
    .heading(SCOPE),
    key!(random_seed, Shape::Value("N"), "0", "Seed of all random sampling")
        .flag("random-seed")
        .heading("Near-duplicates"),
    key!(fail_over, Shape::Value("PCT"), "", "Exit with code 3 if more than PCT percent of the pages fail")
        .flag("fail-over")
        .note("off")
        .heading("Output"),
];

/// The table `scope`.
pub const KEYS: &[Key] = &[
    key!(scope.depth, Shape::Value("N"), "5", "Follow links at most N steps away from the seeds")
        .flag("depth")
        .short('d')
        .heading(SCOPE),
    key!(scope.max_pages, Shape::Value("N"), "0", "Stop after N pages; 0: no limit").flag("max-pages").heading(SCOPE),
    key!(scope.max_pages_per_host, Shape::Value("N"), "10000", "Fetch at most N pages of one host; 0: no limit")
        .flag("max-pages-per-host")
        .heading(SCOPE),
    key!(scope.max_time, Shape::Value("DURATION"), "0", "Stop after this time, for example 10m; 0: no limit")
        .flag("max-time")
        .heading(SCOPE),
    key!(
        scope.kind,
        Shape::Choice(ScopeKind::WORDS),
        "host",
        "Stay on the seeds' host, domain or path prefix, or go anywhere"
    )
    .flag("scope")
    .fixed()
    .heading(SCOPE),
    key!(scope.include, Shape::List("REGEX"), "", "Crawl only URLs that match one of these (repeatable)")
        .flag("include")
        .heading(SCOPE),
    key!(
        scope.exclude,
        Shape::List("REGEX"),
        "",
        "Skip URLs that match one of these (repeatable); overrides --include"
    )
    .flag("exclude")
    .heading(SCOPE),
    key!(
        scope.sitemaps,
        Shape::Choice(Sitemaps::WORDS),
        "on",
        "Read the sitemaps listed in robots.txt; only: fetch what sitemaps list, follow no links"
    )
    .flag("sitemaps")
    .heading(SCOPE),
    key!(scope.trap_guard, ON_OFF, "on", "Skip endless paths and repeating URL patterns")
        .flag("trap-guard")
        .heading(SCOPE),
    key!(scope.soft_404, ON_OFF, "on", "Skip error pages that are sent with status 200")
        .flag("soft-404")
        .heading(SCOPE),
];

/// The table `normalise`.
pub const NORMALISE: &[Key] = &[
    key!(
        normalise.strip_params,
        Shape::CommaList("LIST"),
        "utm_*, gclid, fbclid, jsessionid, phpsessid",
        "Remove these query parameters from URLs; a trailing * is a wildcard"
    )
    .flag("strip-params")
    .fixed()
    .heading(SCOPE),
    key!(normalise.max_url_length, Shape::Value("N"), "2048", "Refuse URLs longer than N characters")
        .flag("max-url-length")
        .heading(SCOPE),
];
