//! *What did the user type?* Commands and flags, as clap parses them.
//!
//! Flags that set a key are generated from the table in [`schema`](crate::cli::config::schema), see [`flags`]. Types here
//! import nothing of the other modules but `config`.

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_flags;
mod common;
mod config;
mod crawl;
mod decontaminate;
mod dedup;
mod detector_option;
mod eval;
pub mod flags;
mod folder;
mod foreign_flags;
mod front_help;
#[cfg(feature = "cluster")]
mod gather;
mod help;
mod key_sets;
mod read_document;
pub mod usage;
mod value_enums;
#[cfg(feature = "cluster")]
mod worker;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;

#[cfg(feature = "cluster")]
pub use cluster::{ClusterCommand, ClusterInitArguments, ClusterLocalArguments, ClusterMoveArguments, ClusterShape};
#[cfg(feature = "cluster")]
pub use cluster_flags::ClusterFlags;
pub use common::{ConfigSource, Verbosity};
pub use config::{ConfigCommand, ShowArguments};
pub use crawl::{CrawlArguments, RunFlags};
pub use decontaminate::DecontaminateArguments;
pub use dedup::DedupArguments;
pub use eval::EvalArguments;
pub use folder::{
    AuditArguments, ClustersArguments, DemoArguments, ExplainArguments, ExportArguments, ManArguments,
    RedirectsArguments, ReindexArguments, ReportArguments, RulesArguments, StatusArguments, VerifyArguments,
};
#[cfg(feature = "cluster")]
pub use gather::GatherArguments;
pub use read_document::ReadDocumentArguments;
pub use value_enums::{CheckKind, ClusterOrder, ExportFormat, NoarchiveChoice, Representative, TextKind, UsageChoice};
#[cfg(feature = "cluster")]
pub use worker::WorkerArguments;

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
    #[cfg(feature = "cluster")]
    /// Take part in a crawl that several workers share over PostgreSQL
    Worker(Box<WorkerArguments>),
    #[cfg(feature = "cluster")]
    /// Make an ordinary output folder from a crawl that workers shared
    Gather(GatherArguments),
    /// Make, stop, resume or delete a crawl that several workers share
    #[cfg(feature = "cluster")]
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Show the status of a crawl, running or ended
    Status(StatusArguments),
    /// List clusters of duplicates and the page to keep of each
    Clusters(ClustersArguments),
    /// List what to change on a site: robots.txt, redirects, canonical pages, links
    Audit(AuditArguments),
    /// Map the pages of an earlier crawl to those of a later one, by what they say
    Redirects(RedirectsArguments),
    /// Deduplicate pages from WARC, Parquet, JSONL or folders
    Dedup(Box<DedupArguments>),
    /// Find documents that hold items of a test set, and leave them out
    Decontaminate(DecontaminateArguments),
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
    /// Print the public key of --sign as a JSON Web Key Set, to be published
    Jwks {
        /// The private key: PKCS#8 in PEM, or a JWK
        #[arg(value_hint = ValueHint::FilePath)]
        key: PathBuf,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man(ManArguments),
    /// Read PDF from stdin; the program starts itself with this
    #[command(hide = true)]
    ReadDocument(ReadDocumentArguments),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::config::schema;

    /// Flags of one run, and flags of configuration files; they set no key.
    const WITHOUT_KEY: [&str; 18] = [
        "recrawl",
        "resume",
        "fresh",
        "force",
        "add",
        "dry-run",
        "json",
        "config",
        "no-config",
        "detector-option",
        "cluster",
        "cluster-name",
        "workers",
        "slots",
        "lease",
        "one-copy",
        "help",
        "version",
    ];
    /// Flags that set `log.level` together.
    const OF_LOG_LEVEL: [&str; 2] = ["quiet", "verbose"];

    fn parse(arguments: &[&str]) -> Arguments {
        Arguments::try_parse_from(["ndcrawl"].iter().chain(arguments)).unwrap()
    }

    fn flags(command: &clap::Command) -> BTreeSet<String> {
        command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned).collect()
    }

    fn shown_flags(command: &clap::Command) -> BTreeSet<String> {
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
        shown.filter_map(|argument| argument.get_long()).map(str::to_owned).collect()
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
    fn every_flag_of_crawl_says_why_and_has_an_example() {
        for argument in Arguments::command().get_arguments().filter(|argument| !argument.is_hide_set()) {
            let help = argument.get_long_help().map(ToString::to_string).unwrap_or_default();
            let (short, more) = help.split_once("\n\n").unwrap_or((&help, ""));
            assert!(!short.is_empty() && more.contains("Example: "), "{}: {help}", argument.get_id());
        }
    }

    #[test]
    fn every_flag_is_in_help_and_manual() {
        let mut command = Arguments::command();
        let help = command.render_long_help().to_string();
        let mut manual = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut manual).unwrap();
        let manual = String::from_utf8(manual).unwrap().replace('\\', "");
        for flag in shown_flags(&command) {
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
}
