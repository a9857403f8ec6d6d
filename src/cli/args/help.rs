//! The words of the help that do not belong to one flag.

/// What the program is, in one line.
pub const ABOUT: &str =
    "A polite web crawler that keeps each page once and names the page every near-duplicate repeats";

/// How the program is called.
pub const USAGE: &str = "ndcrawl [crawl] [OPTIONS] [URL]...\n       ndcrawl <COMMAND>";

/// What `--version` prints after the name: `0.1.0`, or what the build passes as
/// `NDCRAWL_VERSION_TEXT`, such as `0.1.0 (commit 2345c51)`.
pub const LONG_VERSION: &str = match option_env!("NDCRAWL_VERSION_TEXT") {
    Some(text) => text,
    None => env!("CARGO_PKG_VERSION"),
};

/// What stands under the short help.
pub const AFTER_HELP: &str = "\
Durations: 500ms, 2s, 1m, 1h (a bare number is seconds). Sizes: 64K, 10M, 1G.
--help tells more, with examples.";

/// What stands under the long help.
pub const AFTER_LONG_HELP: &str = "\
Examples:
  Crawl the sites of a list of seeds, politely, into ./ndcrawl-out; again to resume:
    ndcrawl --seeds seeds.txt

  The first 200 pages below one address, three links deep, into a folder of its own:
    ndcrawl https://doc.rust-lang.org/book/ --scope prefix -d 3 --max-pages 200 -o book

  See what would be done, and with which settings, without fetching anything:
    ndcrawl --seeds seeds.txt --delay 2s --dry-run

  Try it without internet:
    ndcrawl demo

Units:
  Durations are 500ms, 2s, 1m or 1h; a bare number is seconds. Sizes are 64K, 10M or 1G, powers of
  1024.

Settings:
  Every flag that sets something is a key in ndcrawl.toml and a variable NDCRAWL_TABLE_KEY too.
  A flag wins over a variable, a variable over --config FILE, that over ./ndcrawl.toml, that over
  ndcrawl/config.toml in the user's configuration folder. 'ndcrawl config show' lists them all,
  'ndcrawl config init' writes a commented file.

Exit codes:
  0  finished, or stopped by a limit that was set
  1  nothing could be fetched from any seed; or verify found a fault
  2  usage or configuration error
  3  more failures than --fail-over allows
  4  store or export corrupt
  5  nothing to resume, or the folder is not empty
  6  folder in use by another run
  7  disk full, or less free than --min-free; can be resumed
  70 internal error
  130, 143  stopped by SIGINT, SIGTERM; can be resumed";

/// What stands under the long help of `export`.
pub const AFTER_EXPORT_HELP: &str = "\
Examples:
  The stored pages, each once, with their text, for pyarrow, duckdb, pandas or datasets:
    ndcrawl export ndcrawl-out --format parquet -o pages.parquet

  The same as compressed lines, only the English pages of two hosts:
    ndcrawl export ndcrawl-out --format jsonl --lang en --host a.example,b.example -o pages.jsonl.zst

  A WARC file with an index beside it, for warcio, fastwarc or pywb:
    ndcrawl export ndcrawl-out --format warc -o pages.warc.gz

  Every page that was compared, with the page it repeats, to another program:
    ndcrawl export ndcrawl-out --format jsonl --outcome stored,near-duplicate,exact-duplicate -o - | jq .score

  How much of each host is repetition:
    ndcrawl export ndcrawl-out --format csv -o -

Stored pages:
  A stored page stands for all that repeat it: 'stored', the default, is one page a cluster. Rows of
  all outcomes have the same 'cluster' as the stored page that they repeat. Only stored pages have a
  text, unless the crawl was told to --keep-duplicates.

Text:
  A block a line: headings, paragraphs, list items, cells. Left out: the title (it has a column of
  its own), scripts, and what stands in nav, aside, footer and search, unless little else is there.

Files:
  Without -o, an export goes to parquet/ or export/ in DIR. A file is called FILE.open until it is
  whole.";

/// What stands under the help of `explain`.
pub const AFTER_EXPLAIN: &str = "\
Examples:
  Why was this page left out, or kept?
    ndcrawl explain ndcrawl-out https://example.com/a.html

  What do these two have in common? Any two pages that were compared, duplicates too:
    ndcrawl explain ndcrawl-out https://example.com/a.html https://example.com/b.html --all

Reading it:
  The chain of links leads from a seed to the URL. The decision is looked at again with what was known
  when it was made: a page is a near-duplicate if it reaches the threshold by weight ('score') and,
  unless --weights paper was given, as much of its running text is the same ('text') as is needed for
  a page of that length ('needed').

  In the table of two pages a term's weight is its share of the page: how often it stands in each
  part, times the part's weight, divided by the weight of the page. The smaller of the two shares
  counts; their sum is the score. A star marks a term that the other page does not have.

The crawl must not be running: a running one has the store.";

/// What stands under the help of `report`.
pub const AFTER_REPORT: &str = "\
Examples:
  Write ndcrawl-out/report.html (a crawl does so when it ends, unless --format none):
    ndcrawl report ndcrawl-out

  A report elsewhere, with the curve of thresholds over all pages of a large crawl:
    ndcrawl report ndcrawl-out -o report.html --curve-pages 1000000

The file is whole in itself: no script, nothing loaded from anywhere. The rate of duplicates at other
thresholds is found by deciding the pages of the log anew, in the order of their arrival; that costs
nine decisions a page, so at the end of a crawl only the first 5,000 are decided. Nothing is fetched,
and nothing else in the folder is changed.";

/// What stands under the long help of `check`.
pub const AFTER_CHECK_HELP: &str = "\
Each line of stdin is a JSON object and is answered at once by one on stdout, by the same functions
that a crawl goes by and with its default settings; nothing is fetched. What is no question gets
{\"error\": WHY}, and the next line is read. Bytes that are no text go under NAME_b64, in Base64.

  KIND         asked with                                     answered with
  robots       robots, url, agent [status]                    allowed, crawl_delay_s, sitemaps
  url          input [base, normalise]                        url
  html         html or data_b64, page_url                     links, nofollow, base, refresh, robots,
               [content_type, headers, agent]                 canonical, encoding, title, language, text
  sitemap      body, url                                      pages, sitemaps
  addr         ip, or url                                     public (null: a name), why
  meta         headers, metas, agent [now]                    directives
  retry-after  value, now [max, in seconds: 3600]             seconds (null: not a time)
  trap         url                                            reject, why
  name         url                                            file
  escape       text                                           html, terminal, csv

Examples:
  May we ask for this page?
    echo '{\"robots\":\"User-agent: *\\nDisallow: /a\",\"url\":\"http://h.test/a\"}' | ndcrawl check robots

  As what page does this link count?
    echo '{\"input\":\"../b?utm_source=x#top\",\"base\":\"http://h.test/a/\",\"normalise\":true}' | ndcrawl check url

  Where would this address lead?
    echo '{\"url\":\"http://0x7f.1/\"}' | ndcrawl check addr";
