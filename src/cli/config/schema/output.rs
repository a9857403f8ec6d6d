//! Keys of output, dashboard and logging.

use std::path::PathBuf;

use super::{Shape, table};
use crate::cli::config::listen_address::ListenAddress;
use crate::cli::config::units::Size;
use crate::cli::config::value_enums::{Choice, ColorChoice, LogFormat, LogLevel, ProgressMode};

table! {
    /// The output folder.
    #[derive(Default)]
    pub struct Out: out {
        /// Output folder; an unfinished crawl in it is resumed
        pub dir: PathBuf = key(Shape::Value("DIR"), "./ndcrawl-out")
            .because("One name, so that the same command finds its crawl again.")
            .example("-o books")
            .flag("out")
            .short('o')
            .alias("out"),
        /// Archive pages as WARC files
        pub warc: bool = key(Shape::Switch("false"), "true")
            .because("On, since an export needs the pages. WARC is what archives read.")
            .example("--no-warc")
            .flag("no-warc")
            .flag_help("Do not archive pages as WARC files"),
        /// Start a new WARC file at this size
        pub warc_size: Size = key(Shape::Value("SIZE"), "1G")
            .because("The size that the WARC standard recommends.")
            .example("--warc-size 4G")
            .flag("warc-size"),
        /// Write the report, report.html, when the crawl ends
        pub report: bool = key(Shape::Switch("false"), "true")
            .because("The report answers what most people ask first.")
            .example("--no-report")
            .flag("no-report")
            .flag_help("Do not write the report when the crawl ends"),
        /// Stop when less disk space is free; the crawl can be resumed
        pub min_free: Size = key(Shape::Value("SIZE"), "500M")
            .because("Room to end in order and for other programs.")
            .example("--min-free 5G")
            .flag("min-free"),
    }
}

table! {
    /// The dashboard.
    #[derive(Default)]
    pub struct Dashboard: dashboard {
        /// Serve a live page, /metrics and /status.json at ADDR, for example 9100
        pub listen: Option<ListenAddress> = key(Shape::Value("ADDR"), "")
            .because("Off, since it opens a port. A port alone is one of this machine.")
            .example("--dashboard 9100")
            .flag("dashboard")
            .note("off"),
        /// Serve the dashboard to other machines; it has no password
        pub public: bool = key(Shape::Switch("true"), "false")
            .because("Off: whoever reaches the address reads the figures.")
            .example("--dashboard 0.0.0.0:9100 --dashboard-public")
            .flag("dashboard-public"),
    }
}

table! {
    /// The log and progress on stderr.
    #[derive(Default)]
    pub struct Log: log {
        /// Log level on stderr; -q sets error, -v debug, -vv trace, -vvv all
        pub level: LogLevel = key(Shape::Choice(LogLevel::WORDS), "info")
            .because("info says what you may want to act on."),
        /// Format of log lines
        pub format: LogFormat = key(Shape::Choice(LogFormat::WORDS), "text")
            .because("text is for people, json for programs that gather logs.")
            .example("--log-format json")
            .flag("log-format"),
        /// Also append the log to FILE
        pub file: Option<PathBuf> = key(Shape::Value("FILE"), "")
            .because("stderr is enough for most runs.")
            .example("--log-file crawl.log")
            .flag("log-file")
            .note("none"),
        /// How to show progress; auto: a bar on a terminal, else lines
        pub progress: ProgressMode = key(Shape::Choice(ProgressMode::WORDS), "auto")
            .because("A bar needs a terminal; elsewhere a line comes every five seconds.")
            .example("--progress plain")
            .flag("progress"),
        /// When to use color; auto: on a terminal, unless NO_COLOR is set
        pub color: ColorChoice = key(Shape::Choice(ColorChoice::WORDS), "auto")
            .because("Color codes are noise in files and pipes. The flag wins over the environment.")
            .example("--color never")
            .flag("color"),
    }
}
