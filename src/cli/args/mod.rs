//! *What did the user type?* Commands and flags, as clap parses them.
//!
//! Flags that set a key are generated from the table in [`schema`](crate::cli::config::schema), see [`flags`]. Types here
//! import nothing of the other modules but `config`.

mod common;
mod config;
mod crawl;
mod dedup;
mod eval;
pub mod flags;
mod folder;
mod foreign_flags;
mod help;
pub mod usage;
mod value_enums;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

pub use common::{ConfigSource, Verbosity};
pub use config::{ConfigCommand, ShowArguments};
pub use crawl::{CrawlArguments, RunFlags};
pub use dedup::DedupArguments;
pub use eval::EvalArguments;
pub use folder::{
    ClustersArguments, DemoArguments, ExplainArguments, ExportArguments, ManArguments, ReindexArguments,
    ReportArguments, RulesArguments, StatusArguments, VerifyArguments,
};
pub use value_enums::{CheckKind, CountBy, ExportFormat, NoarchiveChoice, Representative, SameUrlChoice, TextKind};

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "ndcrawl",
    version,
    long_version = help::LONG_VERSION,
    about = help::ABOUT,
    after_help = help::AFTER_HELP,
    after_long_help = help::AFTER_LONG_HELP,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    max_term_width = 80,
    override_usage = help::USAGE
)]
pub struct Arguments {
    /// The command; without one, `crawl`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The arguments of `crawl`.
    #[command(flatten)]
    pub crawl: CrawlArguments,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Crawl websites; the word crawl may be left out
    #[command(args_override_self = true, after_long_help = help::AFTER_LONG_HELP)]
    Crawl(Box<CrawlArguments>),
    /// Show the status of a crawl, running or ended
    Status(StatusArguments),
    /// List clusters of duplicates and the page to keep of each
    Clusters(ClustersArguments),
    /// Deduplicate pages from WARC, Parquet, JSONL or folders
    Dedup(Box<DedupArguments>),
    /// Export pages as Parquet, JSONL or WARC, or duplicate rates as CSV
    #[command(after_long_help = help::AFTER_EXPORT_HELP)]
    Export(ExportArguments),
    /// Explain the outcome of a URL, or compare two pages term by term
    #[command(after_long_help = help::AFTER_EXPLAIN)]
    Explain(ExplainArguments),
    /// List, export or disable the rules that predict duplicate URLs
    Rules(RulesArguments),
    /// Write a report on a crawl: one web page with plots and tables
    #[command(after_long_help = help::AFTER_REPORT)]
    Report(ReportArguments),
    /// Crawl a small built-in site on this machine, without internet
    Demo(DemoArguments),
    /// Check the integrity of an output folder
    Verify(VerifyArguments),
    /// Rebuild the store of a crawl from pages.jsonl and the WARC files
    Reindex(ReindexArguments),
    /// Evaluate detectors on labeled pages: precision, recall, cost
    Eval(Box<EvalArguments>),
    /// Query the parsers and rules of a crawl with JSON lines
    #[command(after_long_help = help::AFTER_CHECK_HELP)]
    Check {
        /// What to query
        kind: CheckKind,
    },
    /// Show the settings in force, or write a configuration file
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man(ManArguments),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::config::schema;

    /// Flags of one run, and flags of configuration files; they set no key.
    const WITHOUT_KEY: [&str; 11] =
        ["recrawl", "resume", "fresh", "force", "add", "dry-run", "json", "config", "no-config", "help", "version"];
    /// Flags that set `log.level` together.
    const OF_LOG_LEVEL: [&str; 2] = ["quiet", "verbose"];

    fn parse(arguments: &[&str]) -> Arguments {
        Arguments::try_parse_from(["ndcrawl"].iter().chain(arguments)).unwrap()
    }

    fn flags(command: &clap::Command) -> BTreeSet<String> {
        command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned).collect()
    }

    fn given(arguments: &[&str]) -> Vec<(&'static str, Vec<String>, String)> {
        let given = parse(arguments).crawl.given();
        given.into_iter().map(|given| (given.key.name, given.texts, given.source.to_string())).collect()
    }

    #[test]
    fn the_command_tree_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_flag_of_crawl_has_a_key_and_every_keys_flag_is_there() {
        let mut command = Arguments::command();
        command.build();
        let with_key: BTreeSet<String> = schema::all().filter_map(|key| key.flag).map(str::to_owned).collect();
        let others = WITHOUT_KEY.iter().chain(&OF_LOG_LEVEL).map(|flag| (*flag).to_owned());
        let expected: BTreeSet<String> = with_key.iter().cloned().chain(others).collect();
        assert_eq!(flags(&command), expected);
        let crawl = command.find_subcommand("crawl").unwrap();
        // A subcommand has no version.
        assert_eq!(flags(crawl), &expected - &BTreeSet::from(["version".to_owned()]));
    }

    #[test]
    fn every_flag_is_documented_and_stands_under_a_heading() {
        for argument in Arguments::command().get_arguments() {
            let name = argument.get_id();
            assert!(argument.get_help().is_some(), "{name}");
            assert!(argument.get_help_heading().is_some(), "{name}");
        }
    }

    #[test]
    fn every_flag_is_in_help_and_manual() {
        let mut command = Arguments::command();
        let help = command.render_long_help().to_string();
        let mut manual = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut manual).unwrap();
        let manual = String::from_utf8(manual).unwrap().replace('\\', "");
        for flag in flags(&command) {
            assert!(help.contains(&format!("--{flag}")), "{flag} in help");
            assert!(manual.contains(&format!("--{flag}")), "{flag} in manual");
        }
    }

    #[test]
    fn every_help_fits_80_columns() {
        let mut command = Arguments::command();
        command.build();
        let helps = |command: &mut clap::Command| [command.render_help(), command.render_long_help()];
        let mut texts = helps(&mut command).to_vec();
        texts.extend(command.get_subcommands_mut().flat_map(helps));
        for line in texts.iter().flat_map(|text| text.to_string().lines().map(str::to_owned).collect::<Vec<_>>()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn the_word_crawl_may_be_left_out() {
        let with = match parse(&["crawl", "--seeds", "s.txt", "-d", "2", "http://a/"]).command {
            Some(Command::Crawl(crawl)) => crawl.given(),
            other => panic!("{other:?}"),
        };
        let without = parse(&["--seeds", "s.txt", "-d", "2", "http://a/"]).crawl.given();
        assert_eq!(format!("{with:?}"), format!("{without:?}"));
        assert_eq!(without.len(), 3);
    }

    #[test]
    fn flags_give_texts_for_keys() {
        assert_eq!(given(&[]), []);
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            given(&["--no-warc", "--exclude", "a", "--exclude", "b", "-vv", "--depth", "-1", "u.example"]),
            [
                ("scope.depth", texts(&["-1"]), "--depth".to_owned()),
                ("scope.exclude", texts(&["a", "b"]), "--exclude".to_owned()),
                ("out.warc", texts(&["false"]), "--no-warc".to_owned()),
                ("seeds", texts(&["u.example"]), "URL".to_owned()),
                ("log.level", texts(&["trace"]), "-vv".to_owned()),
            ]
        );
    }

    #[test]
    fn the_last_of_repeated_flags_counts() {
        assert_eq!(given(&["--delay", "1s", "--delay", "2s"])[0].1, ["2s"]);
        assert_eq!(given(&["-k", "-k"])[0].1, ["true"]);
    }

    #[test]
    fn the_version_begins_with_name_and_number() {
        let version = Arguments::command().render_version();
        assert_eq!(version, format!("ndcrawl {}\n", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn the_short_help_has_a_line_for_each_flag() {
        let help = Arguments::command().term_width(80).render_help().to_string();
        insta::assert_snapshot!(help, @r"
        A polite web crawler that stores each page once and detects near-duplicates

        Usage: ndcrawl [crawl] [OPTIONS] [URL]...
               ndcrawl <COMMAND>

        Commands:
          crawl        Crawl websites; the word crawl may be left out
          status       Show the status of a crawl, running or ended
          clusters     List clusters of duplicates and the page to keep of each
          dedup        Deduplicate pages from WARC, Parquet, JSONL or folders
          export       Export pages as Parquet, JSONL or WARC, or duplicate rates as CSV
          explain      Explain the outcome of a URL, or compare two pages term by term
          rules        List, export or disable the rules that predict duplicate URLs
          report       Write a report on a crawl: one web page with plots and tables
          demo         Crawl a small built-in site on this machine, without internet
          verify       Check the integrity of an output folder
          reindex      Rebuild the store of a crawl from pages.jsonl and the WARC files
          eval         Evaluate detectors on labeled pages: precision, recall, cost
          check        Query the parsers and rules of a crawl with JSON lines
          config       Show the settings in force, or write a configuration file
          completions  Print a completion script for a shell
          man          Print the manual page
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        Input:
              --seeds <FILE>   Start from the URLs in FILE, one per line, # for
                               comments; - is stdin
              --config <FILE>  Read FILE too, besides ./ndcrawl.toml and the user's file
              --no-config      Read no configuration file
          [URL]...             Start from these URLs

        Scope:
          -d, --depth <N>
                  Follow links at most N steps away from the seeds [default: 5]
              --max-pages <N>
                  Stop after N pages; 0: no limit [default: 0]
              --max-pages-per-host <N>
                  Fetch at most N pages of one host; 0: no limit [default: 10000]
              --max-time <DURATION>
                  Stop after this time, for example 10m; 0: no limit [default: 0]
              --scope <host|domain|prefix|any>
                  Stay on the seeds' host, domain or path prefix, or go anywhere
                  [default: host]
              --include <REGEX>
                  Crawl only URLs that match one of these (repeatable)
              --exclude <REGEX>
                  Skip URLs that match one of these (repeatable); overrides --include
              --sitemaps <on|off>
                  Read the sitemaps listed in robots.txt [default: on]
              --trap-guard <on|off>
                  Skip endless paths and repeating URL patterns [default: on]
              --soft-404 <on|off>
                  Skip error pages that are sent with status 200 [default: on]
              --focus <TOPIC>
                  Fetch pages on TOPIC first: words, @FILE, or the URL of an example
                  page (repeatable)
              --focus-min <F>
                  Keep only pages of at least this relevance to the topic, from 0 to 1
                  [default: all]
              --strip-params <LIST>
                  Remove these query parameters from URLs; a trailing * is a wildcard
                  [default: utm_*, gclid, fbclid, jsessionid, phpsessid]
              --max-url-length <N>
                  Refuse URLs longer than N characters [default: 2048]
              --engine <frontier|spider>
                  What selects the next URL: the built-in frontier, or the crate spider
                  (not resumable) [default: frontier]

        Politeness:
          -c, --concurrency <N>
                  Send at most N requests at a time in total [default: 32]
              --host-concurrency <N>
                  Send at most N requests at a time per host and per IP address
                  [default: 1]
              --delay <DURATION>
                  Minimum time from one request to a host to the next [default: 1s]
              --ip-delay <DURATION>
                  Minimum time from one request to an IP address to the next [default:
                  500ms]
              --max-crawl-delay <DURATION>
                  Skip hosts whose robots.txt sets a longer Crawl-delay; 0: ignore
                  Crawl-delay [default: 60s]
              --ignore-robots
                  Ignore robots.txt (for your own sites only)
              --nofollow <obey|ignore>
                  How to treat links marked nofollow [default: obey]
              --noarchive <obey|ignore|record>
                  How to treat pages marked noarchive [default: obey]
          -A, --user-agent <TEXT>
                  User-Agent header to send [default: ndcrawl/VERSION and the contact]
              --contact <URL|MAIL>
                  Where site owners can reach you; sent with every request
              --robots-agent <TOKEN>
                  Product token to look for in robots.txt [default: ndcrawl]

        HTTP:
          -H, --header <NAME: VALUE>
                  Send this header field too, to the seeds' hosts only (repeatable)
              --header-everywhere
                  Send the fields of --header to all hosts
          -x, --proxy <URL>
                  Proxy; none, or env: from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY
                  [default: env]
              --timeout <DURATION>
                  Abort a request after this time [default: 30s]
              --retries <N>
                  Retry N times after a transient failure [default: 2]
              --max-retry-after <DURATION>
                  Set hosts aside whose Retry-After is longer [default: 5m]
              --max-redirects <N>
                  Follow at most N redirects in a row [default: 10]
              --max-body <SIZE>
                  Truncate bodies at this size, decompressed [default: 10M]
              --max-header <SIZE>
                  Reject responses with a larger header [default: 64K]
              --accept-type <GLOB>
                  Download bodies of these media types only (repeatable) [default: HTML,
                  plain text and XML]
          -k, --insecure
                  Accept any certificate; anyone can impersonate the server
              --ca-file <FILE>
                  Trust the issuers whose certificates are in this file, too
              --http1
                  Use HTTP/1.1 only
              --resolve <HOST[:PORT]:ADDR>
                  Use this address for a host instead of a DNS lookup (repeatable)
              --page-source <MODE>
                  static: as sent; browser: rendered by Chromium; auto: rendered if
                  nearly empty as sent [default: static]

        Security:
              --allow-net <CIDR>  Allow connections to this private network (repeatable)
              --allow-private     Allow connections to all private and loopback networks

        Near-duplicates:
              --parser <fast|dom>
                  HTML parser; dom builds a tree of each page: slower, with the same
                  result [default: fast]
              --detector <NAME>
                  How pages are compared: mwo, dd, fuzzy, extended-tdw, provenance;
                  none: exact copies only [default: mwo]
          -t, --threshold <F>
                  A page is a near-duplicate if its similarity to a stored page is at
                  least F [default: mwo: 0.68, with --second-check none 0.8; dd: 0.8;
                  fuzzy, provenance: 0.5; extended-tdw: 0.9]
              --second-check <template|none>
                  mwo: also compare the running text, without the template of the host;
                  none: weights only [default: template]
              --threshold2 <F>
                  mwo, second check: the share of running text that two long pages must
                  have in common [default: 0.35]
              --filter <exact|paper>
                  How candidates are found; exact misses none, paper uses the published
                  cut [default: exact]
              --matching <any|best>
                  Which of several similar pages a verdict names; any: the first one
                  found [default: any]
              --min-terms <N>
                  Pages with fewer than N terms are duplicates only if byte-identical
                  [default: 20]
              --field-weights <LIST>
                  Weight of a term by the field it stands in, two decimals; other fields
                  keep their weight [default: url=2, heading=2, title=2,
                  anchor-same-site=1, anchor-other-site=0.5, keywords=3, description=3,
                  body=1]
              --memory <SIZE>
                  Memory of the index; beyond it, slower and still exact; auto: a
                  quarter of the machine's [default: auto]
              --against <DIR>
                  Also compare with the pages of the earlier crawl in this folder
                  (repeatable)
              --store-below <F>
                  dd: do not store pages more similar than F either [default: the
                  threshold]
              --query <TEXT>
                  fuzzy: compare only sentences that contain words of this query
              --keep-duplicates
                  Archive the bodies of duplicates too
              --keep-text <on|off>
                  Archive the text of near-duplicates, so that the report shows what
                  differs [default: on]
              --duplicate-links <POLICY>
                  Links on duplicates: skip, unmatched (not on the original), follow,
                  defer (last), sample:P (a share) [default: skip]
              --predicted <skip|fetch>
                  URLs that a learned rule predicts to be duplicates: skip all but a
                  sample, or fetch all [default: skip]
              --rules <FILE>
                  Start with the proven rules of this rules.jsonl (repeatable)
              --random-seed <N>
                  Seed of all random sampling [default: 0]

        Output:
          -o, --out <DIR>         Output folder; an unfinished crawl in it is resumed
                                  [default: ./ndcrawl-out]
              --no-warc           Do not archive pages as WARC files
              --warc-size <SIZE>  Start a new WARC file at this size [default: 1G]
              --format <LIST>     What to write when the crawl ends: html: the report;
                                  none: nothing [default: html]
              --min-free <SIZE>   Stop when less disk space is free; the crawl can be
                                  resumed [default: 500M]
              --fail-over <PCT>   Exit with code 3 if more than PCT percent of the pages
                                  fail [default: off]
              --resume            Resume an unfinished crawl; fail if there is none
              --recrawl           Crawl again after a finished crawl, with conditional
                                  requests
              --fresh             Start a new crawl; fail if the output folder is not
                                  empty
              --force             With --fresh: delete the crawl in the output folder
                                  first
              --add               Add these seeds to the crawl in the output folder,
                                  whose seeds are others
              --dry-run           Print the plan and exit; fetch and write nothing
              --json              Print the summary (or the plan) as one JSON object

        Dashboard:
              --dashboard <ADDR>  Serve a live page, /metrics and /status.json at ADDR,
                                  for example 9100 [default: off]
              --dashboard-public  Serve the dashboard to other machines; it has no
                                  password

        Logging:
              --log-format <text|json>
                  Format of log lines [default: text]
              --log-file <FILE>
                  Also append the log to FILE [default: none]
              --progress <auto|plain|json|none>
                  How to show progress; auto: a bar on a terminal, else lines [default:
                  auto]
              --color <auto|always|never>
                  When to use color; auto: on a terminal, unless NO_COLOR is set
                  [default: auto]
          -q, --quiet
                  Log errors only and show no progress
          -v, --verbose...
                  Log more; -vv logs everything

        Durations: 500ms, 2s, 1m, 1h (a bare number is seconds). Sizes: 64K, 10M, 1G.
        --help prints more, with examples.
        ");
    }
}
