//! Help texts that do not belong to one flag. All fit 80 columns.

/// What the program is, in one line.
pub const ABOUT: &str = "A polite web crawler that stores each page once and detects near-duplicates";

/// The usage line.
pub const USAGE: &str = "ndcrawl [crawl] [OPTIONS] [URL]...\n       ndcrawl <COMMAND>";

/// What `--version` prints after the name: `0.1.0`, or what the build passes as
/// `NDCRAWL_VERSION_TEXT`, such as `0.1.0 (commit 2345c51)`.
pub const LONG_VERSION: &str = match option_env!("NDCRAWL_VERSION_TEXT") {
    Some(text) => text,
    None => env!("CARGO_PKG_VERSION"),
};

/// The end of the short help.
pub const AFTER_HELP: &str = "\
Durations: 500ms, 2s, 1m, 1h (a bare number is seconds). Sizes: 64K, 10M, 1G.
--help prints more, with examples.";

/// The end of the long help.
pub const AFTER_LONG_HELP: &str = "\
Examples:
  Crawl the sites in a list of seeds into ./ndcrawl-out; repeat to resume:
    ndcrawl --seeds seeds.txt

  Crawl the first 200 pages below a URL, three links deep:
    ndcrawl https://doc.rust-lang.org/book/ --scope prefix -d 3 \\
      --max-pages 200 -o book

  Show the plan and the settings without fetching anything:
    ndcrawl --seeds seeds.txt --delay 2s --dry-run

  Try it without internet:
    ndcrawl demo

Units:
  Durations are 500ms, 2s, 1m or 1h; a bare number is seconds.
  Sizes are 64K, 10M or 1G, powers of 1024.

Settings:
  Every flag that sets something is also a key in ndcrawl.toml and an
  environment variable NDCRAWL_TABLE_KEY. Highest precedence first:
    1. flags
    2. environment variables
    3. the file given with --config
    4. ./ndcrawl.toml
    5. ndcrawl/config.toml in the user's configuration folder
  'ndcrawl config show' lists all settings and their sources.
  'ndcrawl config init' writes a commented file.

Exit codes:
  0         finished, or stopped by a limit of the user
  1         no seed could be fetched, no input of dedup gave a page,
            or verify found a problem
  2         usage or configuration error
  3         more failures than --fail-over allows
  4         store or export corrupt
  5         nothing to resume, or output folder not empty
  6         output folder in use by another run
  7         disk full, or less free than --min-free; can be resumed
  8         dedup: an input gave no page or broke off; others were read
  9         more duplicates than --max-duplicate-rate allows
  70        internal error
  130, 143  stopped by SIGINT, SIGTERM or `cluster stop`; can be resumed";

/// The end of the long help of `export`.
pub const AFTER_EXPORT_HELP: &str = "\
Examples:
  Stored pages with their text, for pyarrow, duckdb, pandas or datasets:
    ndcrawl export ndcrawl-out --format parquet -o pages.parquet

  The same as compressed JSON lines, English pages of two hosts only:
    ndcrawl export ndcrawl-out --format jsonl --lang en \\
      --host a.example,b.example -o pages.jsonl.zst

  A WARC file with its index, for warcio, fastwarc or pywb:
    ndcrawl export ndcrawl-out --format warc -o pages.warc.gz

  Every compared page, with the page it duplicates, to another program:
    ndcrawl export ndcrawl-out --format jsonl \\
      --outcome stored,near-duplicate,exact-duplicate -o - | jq .score

  The duplicate rate of each host:
    ndcrawl export ndcrawl-out --format csv -o -

Stored pages:
  A stored page represents its duplicates: the default outcome 'stored' exports
  one page per cluster. The column 'cluster' of a duplicate is that of its
  stored page. Only stored pages have a text, unless the crawl ran with
  --keep-duplicates.

Text:
  One line per block: heading, paragraph, list item, table cell. The title is
  a column of its own. Scripts are left out, and so are nav, aside, footer and
  search elements, unless the page has little other text.

Files:
  Without -o, the export goes to parquet/ or export/ in DIR. A file is named
  FILE.open until it is complete.";

/// The end of the help of `explain`.
pub const AFTER_EXPLAIN: &str = "\
Examples:
  Why was this page skipped or stored?
    ndcrawl explain ndcrawl-out https://example.com/a.html

  What do two compared pages, duplicates or not, have in common?
    ndcrawl explain ndcrawl-out https://example.com/a.html \\
      https://example.com/b.html --all

Output:
  The chain of links leads from a seed to the URL. The decision is repeated with
  what was known when it was made. A page is a near-duplicate if its weighted
  overlap ('score') reaches the threshold and, unless the crawl ran with
  --detector-option second_check=none, if it says for itself what the stored
  page says for itself. A page's own words are those in no run of four words
  that documents of five subjects have. At most a quarter of them may be
  missing from the stored page ('adds'), and two fifths the other way round
  ('lacks').

  In the comparison of two pages, the weight of a term is its share of the page:
  its count in each field times the weight of the field, divided by the weight
  of the page. The smaller of the two shares counts; their sum is the score.
  A star marks a term that the other page does not have.

The crawl must not be running, because it locks the store.";

/// The end of the help of `report`.
pub const AFTER_REPORT: &str = "\
Examples:
  Write ndcrawl-out/report.html (as a crawl does, unless --no-report):
    ndcrawl report ndcrawl-out

  Write the report elsewhere, with the threshold curve of a large crawl:
    ndcrawl report ndcrawl-out -o report.html --curve-pages 1000000

The report is one page, with pages of all clusters and a CSV of each table in a
folder beside it (report_files). It loads nothing from elsewhere; its script
sorts and filters tables. The threshold curve repeats the decisions on the pages
in the order of the crawl. It costs nine decisions per page. So the report of an
ending crawl takes the first eighth of the pages (250 to 5,000), and beyond 250
pages every other threshold; and it compares the text of the 100 largest
clusters. Nothing is fetched, and nothing else in the folder changes.";

/// The end of the long help of `check`.
pub const AFTER_CHECK_HELP: &str = "\
Each line of stdin is a JSON object. One JSON object per line on stdout answers
it at once, from the functions of a crawl with default settings. Nothing is
fetched. An invalid query is answered with {\"error\": WHY}. Binary values are
passed as NAME_b64, in Base64.

  KIND         query                            answer
  robots       robots, url, agent [status]      allowed, crawl_delay_s,
                                                sitemaps
  url          input [base, normalise]          url
  html         html or data_b64, page_url       links, nofollow, base,
               [content_type, headers, agent]   refresh, robots, canonical,
                                                encoding, title, language, text
  sitemap      body, url                        pages, sitemaps
  addr         ip, or url                       public (null: a name), why
  meta         headers, metas, agent [now]      directives
  retry-after  value, now [max: 3600 seconds]   seconds (null: not a time)
  trap         url                              reject, why
  name         url                              file
  escape       text                             html, terminal, csv

Examples:
  Does robots.txt allow this page?
    echo '{\"robots\":\"User-agent: *\\nDisallow: /a\",\"url\":\"http://h.test/a\"}' |
      ndcrawl check robots

  What is the canonical form of this link?
    echo '{\"input\":\"../b#top\",\"base\":\"http://h.test/a/\"}' |
      ndcrawl check url

  Is this address public?
    echo '{\"url\":\"http://0x7f.1/\"}' | ndcrawl check addr";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_fits_80_columns() {
        for text in [AFTER_HELP, AFTER_LONG_HELP, AFTER_EXPORT_HELP, AFTER_EXPLAIN, AFTER_REPORT, AFTER_CHECK_HELP] {
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}
