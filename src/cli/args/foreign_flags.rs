//! Flags of other crawlers, and what says the same here.

/// A flag of another program.
struct ForeignFlag {
    /// Its spellings, separated by spaces.
    spellings: &'static str,
    /// The program.
    of: &'static str,
    /// What to do instead.
    instead: &'static str,
}

const fn row(of: &'static str, spellings: &'static str, instead: &'static str) -> ForeignFlag {
    ForeignFlag { spellings, of, instead }
}

const RECURSIVE: &str = "a crawl always follows links; -d N says how far, -d 0 not at all";
const DEPTH: &str = "-d N says how many links away from the seeds";
const DELAY: &str = "--delay DURATION is the time between two requests to a host";
const NO_RATE: &str = "there is no limit of bytes per second; --delay and --host-concurrency slow a crawl down";
const EXCLUDE: &str = "--exclude REGEX skips URLs";
const INCLUDE: &str = "--include REGEX crawls only such URLs";
const DOMAINS: &str = "--scope domain stays on the domains of the seeds; --include REGEX names others";
const EVERYWHERE: &str = "--scope any leaves the hosts of the seeds; it needs --max-pages N";
const BELOW: &str = "--scope prefix stays below the folders of the seeds";
const SEEDS: &str = "--seeds FILE reads URLs, one per line";
const URL: &str = "leave the flag out: ndcrawl URL";
const OUT: &str = "-o DIR names the output folder; ndcrawl export writes the pages into one file";
const RESUME: &str = "the same command resumes a crawl";
const AGENT: &str = "-A TEXT sets the User-Agent header";
const COOKIE: &str = "--cookie-file FILE sends the cookies of a cookies.txt, -H 'Cookie: NAME=VALUE' a single one";
const LOGIN: &str = "send it as a header: -H 'Authorization: Basic BASE64'";
const REFERER: &str = "send it as a header: -H 'Referer: URL'";
const ROBOTS: &str = "robots.txt is obeyed; --ignore-robots is for sites of your own";
const TIMEOUT: &str = "--timeout DURATION aborts a request";
const RETRIES: &str = "--retries N repeats failed requests";
const REQUESTS: &str = "-c N is the number of requests at a time, --host-concurrency N that per host";
const PAGES: &str = "--max-pages N ends a crawl";
const TIME: &str = "--max-time DURATION ends a crawl";
const BODY: &str = "--max-body SIZE cuts larger bodies off";
const ONLY_GET: &str = "only GET requests are sent";
const REDIRECTS: &str = "redirects are followed; --max-redirects N says how many in a row";
const CERTIFICATES: &str = "-k accepts any certificate; --ca-file FILE trusts one issuer more";
const QUIET: &str = "-q shows errors only";
const VERBOSE: &str = "-v logs more, -vv everything";
const LOG: &str = "--log-file FILE appends the log to a file";
const NO_PROXY: &str = "-x none uses no proxy; -x URL names one";
const TYPES: &str = "--accept-type GLOB names media types, --include and --exclude parts of URLs";
const PAGES_ONLY: &str = "only pages are fetched, no images and styles; --accept-type GLOB adds media types";
const ARCHIVE: &str = "pages are stored in WARC files with their headers; ndcrawl export writes other formats";
const JSON: &str = "--json prints the summary as JSON; ndcrawl export --format jsonl writes the pages";
const RECRAWL: &str = "--recrawl crawls again and asks only for what has changed";
const BROWSER: &str = "--page-source browser runs scripts; --page-source auto only where a page is empty without";
const SITEMAPS: &str = "sitemaps that robots.txt names are read; --sitemaps only fetches nothing but what they list";
const ORDER: &str = "a crawl is breadth-first; --focus TOPIC fetches pages on a topic first";
const PARAMETERS: &str = "--strip-params LIST removes query parameters from URLs";
const HTTP_VERSION: &str = "HTTP/2 is used where servers have it; --http1 turns it off";
const EXPORT: &str = "ndcrawl export --format jsonl|parquet|warc writes the pages";
const SETTINGS: &str = "flags or ndcrawl.toml set things; ndcrawl config show lists them";
const ALWAYS: &str = "that is always so; leave the flag out";
const PLAN: &str = "--dry-run prints the plan and fetches nothing";
const NAMES: &str = "pages are stored in WARC files, so that names of files do not matter";
const CONFIG: &str = "a configuration file has more timeouts: ndcrawl config init writes one";

const BEARER: &str = "send it as a header: -H 'Authorization: Bearer TOKEN'";
const ADDRESS: &str = "--resolve HOST:ADDR names the address of a host; the system chooses the interface";
const FRESH: &str = "--fresh --force begins again";
const FRAGMENTS: &str = "a URL counts without its fragment";
const NO_DIGEST: &str = "only a header that stays the same can be sent: -H 'Authorization: VALUE'";
const NO_CACHE: &str = "there is no cache; leave the flag out";
const LINES: &str = "pages.jsonl has each URL with its outcome and reason";
const PRIVATE: &str = "private addresses are refused; --allow-net CIDR allows some";
const ROOM: &str = "--min-free SIZE ends a crawl while the disk has room; --max-pages N limits pages";
const SCOPE: &str = "--scope host|domain|prefix|any says where a crawl may go";
const TLS: &str = "TLS 1.2 and 1.3 are spoken; leave the flag out";
const WHOLE: &str = "whole pages are fetched; --max-body SIZE cuts larger ones off";

/// Flags that do not exist here, or mean something else. Words of a spelling are joined by hyphens.
const FLAGS: &[ForeignFlag] = &[
    row("wget", "-r --recursive", RECURSIVE),
    row("wget", "-m --mirror", RECURSIVE),
    row("wget", "-l --level", DEPTH),
    row("wget", "-w --wait --random-wait --waitretry", DELAY),
    row("wget", "--limit-rate", NO_RATE),
    row("wget", "-R --reject --reject-regex --exclude-domains --exclude-directories -X", EXCLUDE),
    row("wget", "--accept", TYPES),
    row("wget", "--accept-regex -I --include-directories", INCLUDE),
    row("wget", "-D --domains", DOMAINS),
    row("wget", "--span-hosts", EVERYWHERE),
    row("wget", "-np --no-parent", BELOW),
    row("wget", "-i --input-file", SEEDS),
    row("wget", "-O --output-document", "pages are not printed; ndcrawl export --format jsonl -o - prints them"),
    row("wget", "-P --directory-prefix", OUT),
    row("wget", "--continue -nc --no-clobber", RESUME),
    row("wget", "-N --timestamping", RECRAWL),
    row("wget", "--tries --retry-connrefused", RETRIES),
    row("wget", "-T --read-timeout --dns-timeout --connect-timeout", TIMEOUT),
    row("wget", "-Q --quota", PAGES),
    row("wget", "-U", AGENT),
    row("wget", "-e --execute", ROBOTS),
    row("wget", "--no-check-certificate --ca-certificate", CERTIFICATES),
    row("wget", "--load-cookies --save-cookies --no-cookies --keep-session-cookies", COOKIE),
    row("wget", "--user --password --http-user --http-password", LOGIN),
    row("wget", "--referer", REFERER),
    row("wget", "--post-data --post-file --method --body-data", ONLY_GET),
    row("wget", "--max-redirect", REDIRECTS),
    row("wget", "--no-proxy", NO_PROXY),
    row("wget", "-p --page-requisites", PAGES_ONLY),
    row("wget", "--convert-links -E --adjust-extension --warc-file --save-headers", ARCHIVE),
    row(
        "wget",
        "-nd --no-directories -nH --no-host-directories --cut-dirs --force-directories --restrict-file-names",
        NAMES,
    ),
    row("wget", "-a --append-output --output-file", LOG),
    row("wget", "-nv --no-verbose", QUIET),
    row("wget", "-S --server-response", VERBOSE),
    row("wget", "--spider", PLAN),
    row("curl", "-L --location", REDIRECTS),
    row("curl", "--max-redirs", REDIRECTS),
    row("curl", "-m --connect-timeout", TIMEOUT),
    row("curl", "-s --silent", QUIET),
    row("curl", "-u --user", LOGIN),
    row("curl", "-b --cookie --cookie-jar", COOKIE),
    row("curl", "-e --referer", REFERER),
    row("curl", "--data --data-raw --data-binary --form -F --json-data --request -X --head -I --upload-file", ONLY_GET),
    row("curl", "--cacert", CERTIFICATES),
    row("curl", "--compressed", ALWAYS),
    row("curl", "--retry --retry-delay", RETRIES),
    row("curl", "--limit-rate", NO_RATE),
    row("curl", "--http1.1 --http1.0 --http2 --http3", HTTP_VERSION),
    row("curl", "--noproxy --socks5 --socks4 --proxy-user", NO_PROXY),
    row("curl", "--max-filesize", BODY),
    row("curl", "-Z --parallel --parallel-max", REQUESTS),
    row("curl", "-D --dump-header -i", ARCHIVE),
    row("curl", "-w --write-out", JSON),
    row("curl", "-O --remote-name --output --output-dir --create-dirs", OUT),
    row("curl", "-f", "--fail-over PCT sets the exit code by the share of failures"),
    row("curl", "--url", URL),
    row("Scrapy", "-s --set -a", SETTINGS),
    row("Scrapy", "-O --overwrite-output --output-format", EXPORT),
    row("Scrapy", "-L --loglevel", VERBOSE),
    row("Scrapy", "--logfile", LOG),
    row("Scrapy", "--nolog", QUIET),
    row("katana", "-u -list", "a URL needs no flag; --seeds FILE reads a list"),
    row("katana", "-jc -js-crawl -jsl -jsluice -hl -headless -sc -system-chrome -xhr -xhr-extraction", BROWSER),
    row("katana", "-ct -crawl-duration", TIME),
    row("katana", "-kf -known-files", SITEMAPS),
    row("katana", "-mrs -max-response-size", BODY),
    row("katana", "-timeout", TIMEOUT),
    row("katana", "-retry", RETRIES),
    row("katana", "-proxy", NO_PROXY),
    row("katana", "-headers", "-H 'NAME: VALUE' sends a header"),
    row("katana", "-config", "--config FILE has two dashes here"),
    row("katana", "-s -strategy", ORDER),
    row("katana", "-iqp -ignore-query-params", PARAMETERS),
    row("katana", "-dr -disable-redirects", "--max-redirects 0 follows none"),
    row("katana", "-cs -crawl-scope -mr -match-regex", INCLUDE),
    row("katana", "-cos -crawl-out-scope -fr -filter-regex -exclude", EXCLUDE),
    row("katana", "-fs -field-scope", DOMAINS),
    row("katana", "-ns -no-scope", EVERYWHERE),
    row("katana", "-ef -extension-filter -em -extension-match", TYPES),
    row("katana", "-c -concurrency -p -parallelism", REQUESTS),
    row("katana", "-rd -delay -rl -rate-limit -rlm -rate-limit-minute", DELAY),
    row("katana", "-resume", RESUME),
    row("katana", "-output -sr -store-response -srd -store-response-dir", OUT),
    row("katana", "-j -jsonl", JSON),
    row("katana", "-silent", QUIET),
    row("katana", "-verbose -debug", VERBOSE),
    row("httrack", "--mirror --get --mirrorlinks", RECURSIVE),
    row("httrack", "--ext-depth", EVERYWHERE),
    row("httrack", "--path", OUT),
    row("httrack", "--sockets", REQUESTS),
    row("httrack", "--connection-per-second", DELAY),
    row("httrack", "--max-rate", NO_RATE),
    row("httrack", "--max-size --max-files", BODY),
    row("httrack", "-E", TIME),
    row("httrack", "--robots", ROBOTS),
    row("httrack", "--near --accept-language", PAGES_ONLY),
    row("httrack", "--stay-on-same-dir --can-go-down", BELOW),
    row("httrack", "--stay-on-same-domain --stay-on-same-tld --stay-on-same-address", DOMAINS),
    row("httrack", "--go-everywhere", EVERYWHERE),
    row("httrack", "--update", RECRAWL),
    row("httrack", "--clean --purge-old", FRESH),
    row("httrack", "-F", AGENT),
    row("httrack", "--http-10", HTTP_VERSION),
    row("httrack", "--structure", NAMES),
    row("httrack", "--test", PLAN),
    row("httrack", "--priority", ORDER),
    row("httrack", "--keep-alive", ALWAYS),
    row("wget", "-4 -6 --inet4-only --inet6-only --prefer-family --bind-address", ADDRESS),
    row("wget", "-K --backup-converted", ARCHIVE),
    row("wget", "--content-disposition --trust-server-names", NAMES),
    row("wget", "--no-cache --no-hsts", NO_CACHE),
    row("wget", "--delete-after", "--no-warc keeps no pages"),
    row("wget", "--rejected-log", LINES),
    row("wget", "--relative", INCLUDE),
    row("wget", "--follow-tags --ignore-tags", "links of all elements are followed; --exclude REGEX skips URLs"),
    row("wget", "--https-only", "--include '^https:' crawls only such URLs"),
    row("wget", "--base", "seeds are whole URLs; ndcrawl dedup has such a flag"),
    row("wget", "--compression", ALWAYS),
    row("curl", "-4 -6 --ipv4 --ipv6 --interface --doh-url --dns-servers", ADDRESS),
    row("curl", "--oauth2-bearer", BEARER),
    row("curl", "--basic -n --netrc", LOGIN),
    row("curl", "--negotiate --digest --ntlm", NO_DIGEST),
    row("curl", "--cert --key", "client certificates are not supported"),
    row("curl", "--range", WHOLE),
    row("curl", "-G -g --globoff", ALWAYS),
    row("curl", "--fail", "--fail-over PCT sets the exit code by the share of failures"),
    row("curl", "--trace --trace-ascii", VERBOSE),
    row("curl", "--location-trusted", "--header-everywhere sends the fields of --header to all hosts"),
    row("curl", "--speed-limit --speed-time", CONFIG),
    row("curl", "--keepalive-time --no-keepalive", ALWAYS),
    row("curl", "--tlsv1.2 --tlsv1.3 --tls-max --ciphers", TLS),
    row("curl", "-K", "--config FILE has our settings"),
    row("Scrapy", "--overwrite", FRESH),
    row("katana", "-field -f -store-field", EXPORT),
    row("katana", "-no-color", "--color never"),
    row("lychee", "--max-concurrency", REQUESTS),
    row("lychee", "--exclude-all-private --exclude-private --exclude-loopback --exclude-link-local", PRIVATE),
    row("lychee", "--exclude-path", EXCLUDE),
    row("lychee", "--cache --max-cache-age", RECRAWL),
    row("lychee", "--dump", LINES),
    row("lychee", "--github-token", BEARER),
    row("lychee", "--basic-auth", LOGIN),
    row("lychee", "--no-progress", "--progress none"),
    row("lychee", "--extensions", TYPES),
    row("lychee", "--retry-wait-time --max-retries", RETRIES),
    row("lychee", "--host-request-interval", DELAY),
    row("lychee", "--include-fragments", FRAGMENTS),
    row("lychee", "--require-https", "--include '^https:' crawls only such URLs"),
    row("lychee", "--base-url", "seeds are whole URLs; ndcrawl dedup has such a flag"),
    row("browsertrix", "--collection", OUT),
    row("browsertrix", "--generate-wacz", "ndcrawl export --format wacz writes one"),
    row("browsertrix", "--combine-warc", "ndcrawl export --format warc writes one file"),
    row("browsertrix", "--text", EXPORT),
    row("browsertrix", "--page-limit --max-page-limit", PAGES),
    row("browsertrix", "--time-limit", TIME),
    row("browsertrix", "--size-limit --disk-utilization", ROOM),
    row("browsertrix", "--scope-type", SCOPE),
    row(
        "browsertrix",
        "--headless --behaviors --wait-until --net-idle-wait --mobile-device --block-rules --block-ads --screenshot",
        BROWSER,
    ),
    row("browsertrix", "--seed-file", SEEDS),
    row("browsertrix", "--extra-hops", EVERYWHERE),
    row("browsertrix", "--save-state", RESUME),
    row("browsertrix", "--use-robots", ROBOTS),
    row("browsertrix", "--page-extra-delay", DELAY),
    row("browsertrix", "--rollover-size", "--warc-size SIZE"),
    row("browsertrix", "--lang", "send it as a header: -H 'Accept-Language: de'"),
    row("browsertrix", "--logging", VERBOSE),
    row("browsertrix", "--stats-filename", JSON),
    row("browsertrix", "--max-page-retries", RETRIES),
    row("browsertrix", "--dedup-policy", "duplicates are always found; -t F says how similar they are"),
    row("browsertrix", "--sitemap-from-date", SITEMAPS),
    row("browsertrix", "--allow-hash", FRAGMENTS),
    row("browsertrix", "--user-agent-suffix", AGENT),
    row("linkchecker", "--recursion-level", DEPTH),
    row("linkchecker", "--check-extern", EVERYWHERE),
    row("linkchecker", "--ignore-url --no-follow-url", EXCLUDE),
    row("linkchecker", "--file-output", EXPORT),
    row("linkchecker", "--cookiefile", COOKIE),
    row("linkchecker", "--no-status --no-warnings", QUIET),
    row("linkchecker", "--no-robots", ROBOTS),
    row("linkchecker", "--stdin", "--seeds - reads URLs from stdin"),
    row("linkchecker", "--complete", VERBOSE),
    row("linkchecker", "--pause --maxrequestspersecond", DELAY),
    row("linkchecker", "--anchors", FRAGMENTS),
    row("linkchecker", "--maxrunseconds", TIME),
    row("heritrix", "--web-port --web-bind-hosts --web-admin", "--dashboard ADDR serves a live page"),
    row("heritrix", "--checkpoint", RESUME),
    row("heritrix", "--max-toe-threads", REQUESTS),
    row("heritrix", "--crawl-scope", SCOPE),
    row("heritrix", "--jobs-dir", OUT),
    row("other crawlers", "--limit", PAGES),
    row("other crawlers", "--rate --rate-limit", DELAY),
    row("other crawlers", "--threads --jobs --parallelism", REQUESTS),
    row("other crawlers", "--verbosity --debug --log-level", VERBOSE),
    row("other crawlers", "--filter-regex --ignore --skip", EXCLUDE),
    row("other crawlers", "--input --list --urls --url-file", SEEDS),
    row("other crawlers", "--cookies", COOKIE),
    row("other crawlers", "--sitemap --use-sitemap --useSitemap --follow-sitemaps", SITEMAPS),
    row("other crawlers", "--idle-timeout --header-timeout", CONFIG),
];

/// Settings of Scrapy, as `-s NAME=VALUE` sets them.
const SCRAPY_SETTINGS: &[(&str, &str)] = &[
    ("AUTOTHROTTLE_ENABLED", "a host that is slow or fails is asked less often, always"),
    ("CLOSESPIDER_PAGECOUNT", PAGES),
    ("CLOSESPIDER_TIMEOUT", TIME),
    ("CONCURRENT_REQUESTS", REQUESTS),
    ("CONCURRENT_REQUESTS_PER_DOMAIN", REQUESTS),
    ("COOKIES_ENABLED", COOKIE),
    ("DEPTH_LIMIT", DEPTH),
    ("DOWNLOAD_DELAY", DELAY),
    ("DOWNLOAD_MAXSIZE", BODY),
    ("DOWNLOAD_TIMEOUT", TIMEOUT),
    ("FEEDS", EXPORT),
    ("JOBDIR", RESUME),
    ("LOG_FILE", LOG),
    ("LOG_LEVEL", VERBOSE),
    ("REDIRECT_MAX_TIMES", REDIRECTS),
    ("RETRY_TIMES", RETRIES),
    ("ROBOTSTXT_OBEY", ROBOTS),
    ("USER_AGENT", AGENT),
];

/// Most programs named in one hint.
const MOST: usize = 2;

/// Returns what to use instead of a flag of another program, as typed: `--wait`, `--level=3`, `-np`, `-depth`.
///
/// `value` is the word behind it.
pub fn instead_of(typed: &str, value: Option<&str>) -> Option<String> {
    let flag = typed.split('=').next().unwrap_or(typed);
    if matches!(flag, "-s" | "--set")
        && let Some((name, _)) = value.and_then(|value| value.split_once('='))
        && let Some((_, instead)) = SCRAPY_SETTINGS.iter().find(|(known, _)| *known == name)
    {
        return Some(format!("{name} of Scrapy: {instead}"));
    }
    let hyphened = with_hyphens(flag);
    let has = |row: &&ForeignFlag| row.spellings.split(' ').any(|spelling| spelling == flag || spelling == hyphened);
    let mut answers: Vec<(String, &str)> = Vec::new();
    for row in FLAGS.iter().filter(has) {
        if let Some((of, _)) = answers.iter_mut().find(|(_, instead)| *instead == row.instead) {
            *of = format!("{of} and {}", row.of);
        } else if answers.len() < MOST {
            answers.push((row.of.to_owned(), row.instead));
        }
    }
    let answers: Vec<String> = answers.into_iter().map(|(of, instead)| format!("{flag} of {of}: {instead}")).collect();
    (!answers.is_empty()).then(|| answers.join("; "))
}

/// Returns a long flag in our spelling: `--userAgent` and `--user_agent` as `--user-agent`.
pub fn with_hyphens(flag: &str) -> String {
    let Some(name) = flag.strip_prefix("--") else { return flag.to_owned() };
    let mut hyphened = "--".to_owned();
    let mut is_after_small = false;
    for character in name.chars() {
        if character.is_ascii_uppercase() && is_after_small {
            hyphened.push('-');
        }
        is_after_small = character.is_ascii_lowercase();
        hyphened.push(if character == '_' { '-' } else { character.to_ascii_lowercase() });
    }
    hyphened
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Arguments;

    /// The flags of `crawl`, with their hyphens.
    fn own_flags() -> BTreeSet<String> {
        let command = Arguments::command();
        let flags = command.get_arguments().flat_map(|argument| {
            let long = argument.get_long().map(|long| format!("--{long}"));
            long.into_iter().chain(argument.get_short().map(|short| format!("-{short}")))
        });
        flags.collect()
    }

    #[test]
    fn what_is_named_instead_exists() {
        let own = own_flags();
        let answers = FLAGS.iter().map(|row| row.instead).chain(SCRAPY_SETTINGS.iter().map(|(_, instead)| *instead));
        let mut count = 0;
        for answer in answers {
            let words = answer.split([' ', ';', ',', '\'']).filter(|word| word.len() > 1 && word.starts_with('-'));
            for word in words {
                count += 1;
                assert!(own.contains(word) || word == "-vv", "{word} in '{answer}'");
            }
        }
        assert!(count > 100, "{count}");
    }

    #[test]
    fn capitals_and_underscores_are_hyphens() {
        let words = ["--userAgent", "--user_agent", "--generateWACZ", "--depth", "-A"].map(with_hyphens);
        assert_eq!(words, ["--user-agent", "--user-agent", "--generate-wacz", "--depth", "-A"]);
    }

    #[test]
    fn no_long_flag_of_ours_is_called_foreign() {
        let own = own_flags();
        let spellings = FLAGS.iter().flat_map(|row| row.spellings.split(' '));
        let both: Vec<&str> = spellings.filter(|flag| flag.starts_with("--") && own.contains(*flag)).collect();
        assert!(both.is_empty(), "{both:?}");
    }
}
