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
    ClustersArguments, DemoArguments, ExplainArguments, ExportArguments, ReindexArguments, ReportArguments,
    RulesArguments, StatusArguments, VerifyArguments,
};
pub use value_enums::{CheckKind, CountBy, ExportFormat, NoarchiveChoice, Representative};

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
    Man,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::config::schema;

    /// Flags that say what to do now, or where settings come from; they set nothing.
    const WITHOUT_KEY: [&str; 10] =
        ["recrawl", "resume", "fresh", "force", "dry-run", "json", "config", "no-config", "help", "version"];
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
        // A subcommand has no version of its own.
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
        A polite web crawler that keeps each page once and names the page every near-duplicate repeats

        Usage: ndcrawl [crawl] [OPTIONS] [URL]...
               ndcrawl <COMMAND>

        Commands:
          crawl        Crawl; the word may be left out
          status       Tell how a crawl stands, while it runs or after
          clusters     Show which pages repeat which, and which of them should stay
          dedup        Judge pages that exist already, in WARC, Parquet, JSONL or folders, as a crawl would
          export       Write what a crawl kept as Parquet, JSONL or WARC, or its duplicate rates as CSV
          explain      Tell why a URL has its outcome, or what two pages have in common, term by term
          rules        List the rules by which a crawl foretells duplicates, export them, switch them off
          report       Write a report on a crawl: one web page with plots and tables
          demo         Crawl a small site of its own on this machine, without internet
          verify       Check that an output folder is whole
          reindex      Make the store of a crawl anew, from its lines and its archive
          eval         Measure detectors on labelled pages: precision and recall, clusters missed, cost
          check        Ask the parsers and rules of a crawl: JSON lines in, JSON lines out
          config       Show the settings in force, or write a configuration file
          completions  Write a completion script for a shell to stdout
          man          Write the manual page to stdout
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        Input:
              --seeds <FILE>   Start from the URLs in FILE, one a line, # comments; - is stdin
              --config <FILE>  Read settings from FILE, besides ndcrawl.toml here and the user's
              --no-config      Read no configuration file
          [URL]...             Start from these URLs

        Scope:
          -d, --depth <N>                       Follow links at most N steps away from the seeds [default:
                                                5]
              --max-pages <N>                   Stop after N pages; 0: no limit [default: 0]
              --max-pages-per-host <N>          Take at most N pages from one host; 0: no limit [default:
                                                10000]
              --max-time <DURATION>             Stop after this time, such as 10m; 0: no limit [default: 0]
              --scope <host|domain|prefix|any>  Stay on the seeds' host, domain or path [default: host]
              --include <REGEX>                 Crawl only URLs that match one of these (repeatable)
              --exclude <REGEX>                 Leave out URLs that match one of these; wins over --include
              --sitemaps <on|off>               Use the sitemaps that robots.txt names [default: on]
              --trap-guard <on|off>             Leave out endless paths and repeating patterns [default: on]
              --soft-404 <on|off>               Leave out pages that answer 200 and mean 404 [default: on]
              --focus <TOPIC>                   Fetch first what is about TOPIC: words, @FILE, or the URL of
                                                an example page (repeatable)
              --focus-min <F>                   Keep only pages of at least this relevance to the topic, in
                                                [0, 1] [default: all]
              --strip-params <LIST>             Drop these parameters from URLs; * at the end matches any
                                                rest [default: utm_*, gclid, fbclid, jsessionid, phpsessid]
              --max-url-length <N>              Refuse URLs longer than N characters [default: 2048]
              --engine <frontier|spider>        What finds the next URL: our own frontier, or the crate
                                                spider (cannot be resumed) [default: frontier]

        Politeness:
          -c, --concurrency <N>                 At most N requests at a time, all hosts together [default:
                                                32]
              --host-concurrency <N>            At most N requests at a time per host and per address
                                                [default: 1]
              --delay <DURATION>                Least gap between requests to a host, start to start
                                                [default: 1s]
              --ip-delay <DURATION>             Least gap between requests to one IP address [default:
                                                500ms]
              --max-crawl-delay <DURATION>      Skip hosts whose robots.txt asks for a longer Crawl-delay; 0
                                                ignores it [default: 60s]
              --ignore-robots                   Do not obey robots.txt (only for your own sites)
              --nofollow <obey|ignore>          What to do about links marked nofollow [default: obey]
              --noarchive <obey|ignore|record>  What to do about pages marked noarchive [default: obey]
          -A, --user-agent <TEXT>               The User-Agent to send [default: ndcrawl/VERSION and the
                                                contact]
              --contact <URL|MAIL>              Where the owner of a site can reach you; sent with every
                                                request
              --robots-agent <TOKEN>            The name to look for in robots.txt [default: ndcrawl]

        HTTP:
          -H, --header <NAME: VALUE>        Send this header line too, to the seeds' hosts (repeatable)
              --header-everywhere           Send the lines of --header to all hosts
          -x, --proxy <URL>                 Proxy; none, or env: as HTTP_PROXY and its kin say [default:
                                            env]
              --timeout <DURATION>          Give up a request after this time [default: 30s]
              --retries <N>                 Try again N times after a passing failure [default: 2]
              --max-retry-after <DURATION>  Park hosts whose Retry-After asks for longer [default: 5m]
              --max-redirects <N>           Follow at most N redirects in a row [default: 10]
              --max-body <SIZE>             Cut bodies after this size, decompressed [default: 10M]
              --max-header <SIZE>           Refuse answers with a larger head [default: 64K]
              --accept-type <GLOB>          Read bodies of these media types only (repeatable) [default:
                                            HTML, plain text and XML]
          -k, --insecure                    Accept any certificate; anybody can pose as the server
              --http1                       Speak HTTP/1.1 only
              --resolve <HOST[:PORT]:ADDR>  Use this address for a host instead of asking the name service
                                            (repeatable)
              --page-source <MODE>          Read pages as sent: static; as scripts draw them in Chromium:
                                            browser; if need be: auto [default: static]

        Security:
              --allow-net <CIDR>  Allow connections to this private network (repeatable)
              --allow-private     Allow connections to all private and loopback networks

        Near-duplicates:
              --parser <fast|dom>         How HTML is read; dom builds a tree of each page, which is slower
                                          and finds the same [default: fast]
              --detector <NAME>           How pages are compared: mwo, dd, fuzzy, extended-tdw, provenance;
                                          none: exact copies only [default: mwo]
          -t, --threshold <F>             A page at least this similar to a stored one is a near-duplicate
                                          [default: mwo: 0.68, with --second-check none 0.8; dd: 0.8; fuzzy,
                                          provenance: 0.5; extended-tdw: 0.9]
              --weights <host|paper>      mwo: what decides; host: also the order of words, without what a
                                          host's pages have in common [default: host]
              --threshold2 <F>            mwo --weights host: the share of running text to agree, of long
                                          pages [default: 0.35]
              --filter <exact|paper>      How candidates are found; exact misses none [default: exact]
              --matching <any|best>       Which of several similar pages a verdict names; any: the first
                                          found [default: any]
              --min-terms <N>             Pages with fewer terms are duplicates only if byte-identical
                                          [default: 20]
              --field-weights <LIST>      What a term weighs by where it stands, in hundredths at the
                                          finest; fields not named keep theirs [default:
                                          url=2,heading=2,title=2,anchor-same-site=1,anchor-other-site=0.5,keywords=3,description=3,body=1]
              --memory <SIZE>             Memory of the index; over it, it gets slower, not less exact;
                                          auto: a quarter of the machine's [default: auto]
              --against <DIR>             Compare with the pages of the earlier crawl in this folder too
                                          (repeatable)
              --store-below <F>           dd: pages more similar than this are not stored either [default:
                                          the threshold]
              --query <TEXT>              fuzzy: only sentences with words of this query are compared
              --keep-duplicates           Archive the bodies of duplicates too
              --duplicate-links <POLICY>  Links found on duplicates: skip, follow, defer (fetch last),
                                          sample:P (follow a share P) [default: skip]
              --predicted <skip|fetch>    URLs that a learned rule foretells to be duplicates: not fetched
                                          but for a sample, or fetched [default: skip]
              --rules <FILE>              Begin with the proven rules of this rules.jsonl (repeatable)
              --random-seed <N>           Seed of everything that is drawn by lot [default: 0]

        Output:
          -o, --out <DIR>         Write to this folder; an unfinished crawl in it is resumed [default:
                                  ./ndcrawl-out]
              --no-warc           Do not archive pages as WARC files
              --warc-size <SIZE>  Begin a new WARC file after this size [default: 1G]
              --format <LIST>     Written when the crawl ends: html is the report, none is nothing [default:
                                  html]
              --min-free <SIZE>   Stop, resumably, when less than this is free on the disk [default: 500M]
              --fail-over <PCT>   Exit with 3 if more than PCT percent of the pages fail [default: off]
              --resume            Continue an unfinished crawl; an error if there is none
              --recrawl           Crawl a finished crawl again: servers need not send what has not changed
              --fresh             Begin anew; an error if the output folder is not empty
              --force             With --fresh: empty the output folder first
              --dry-run           Print the plan and stop: nothing is fetched or written
              --json              Print the summary (or the plan) as one JSON object

        Dashboard:
              --dashboard <ADDR>  Serve a live page, /metrics and /status.json at ADDR, such as 9100 or
                                  127.0.0.1:0 [default: off]
              --dashboard-public  Let the dashboard be seen from other machines; it has no password

        Logging:
              --log-format <text|json>           The form of log lines [default: text]
              --log-file <FILE>                  Append the log to FILE as well [default: none]
              --progress <auto|plain|json|none>  Progress; auto: a bar on a terminal [default: auto]
              --color <auto|always|never>        Colour; auto: on a terminal, minds NO_COLOR [default: auto]
          -q, --quiet                            Tell errors only, and no progress
          -v, --verbose...                       Tell more; -vv tells everything

        Durations: 500ms, 2s, 1m, 1h (a bare number is seconds). Sizes: 64K, 10M, 1G.
        --help tells more, with examples.
        ");
    }
}
