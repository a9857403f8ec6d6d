//! Keys of output, dashboard and logging.

use std::path::PathBuf;

use super::key::table;
use crate::cli::config::listen_address::ListenAddress;
use crate::cli::config::units::Size;
use crate::cli::config::value_enums::{Choice, ColorChoice, LogFormat, LogLevel, ProgressMode};

table! {
    /// The output folder.
    pub struct Out in [out] of Machine {
        /// Output folder; an unfinished crawl in it is resumed
        ///
        /// One name, so that the same command finds its crawl again.
        /// Example: -o books
        pub dir: PathBuf = value("DIR", "./ndcrawl-out").flag("out").short('o').alias("out"),
        /// Archive pages as WARC files
        ///
        /// On, since an export needs the pages. WARC is what archives read.
        /// Example: --no-warc
        pub warc: bool = switch(true).flag("no-warc").flag_help("Do not archive pages as WARC files"),
        /// Start a new WARC file at this size
        ///
        /// The size that the WARC standard recommends.
        /// Example: --warc-size 4G
        pub warc_size: Size = value("SIZE", "1G").flag("warc-size"),
        /// Write the report, report.html, when the crawl ends
        ///
        /// The report answers what most people ask first.
        /// Example: --no-report
        pub report: bool = switch(true).flag("no-report").flag_help("Do not write the report when the crawl ends")
            .of_one_process(),
        /// Stop when less disk space is free; the crawl can be resumed
        ///
        /// Room to end in order and for other programs.
        /// Example: --min-free 5G
        pub min_free: Size = value("SIZE", "500M").flag("min-free"),
    }
}

table! {
    /// The dashboard.
    pub struct Dashboard in [dashboard] of Machine {
        /// Serve a live page, /metrics and /status.json at ADDR, for example 9100
        ///
        /// Off, since it opens a port. A port alone is one of this machine.
        /// Example: --dashboard 9100
        pub listen: Option<ListenAddress> = value("ADDR", "").flag("dashboard").note("off"),
        /// Serve the dashboard to other machines; it has no password
        ///
        /// Off: whoever reaches the address reads the figures.
        /// Example: --dashboard 0.0.0.0:9100 --dashboard-public
        pub public: bool = switch(false).flag("dashboard-public"),
    }
}

table! {
    /// The log and progress on stderr.
    pub struct Log in [log] of Machine {
        /// Log level on stderr; -q sets error, -v debug, -vv trace, -vvv all
        ///
        /// info says what you may want to act on.
        pub level: LogLevel = choice(LogLevel::WORDS, "info"),
        /// Format of log lines
        ///
        /// text is for people, json for programs that gather logs.
        /// Example: --log-format json
        pub format: LogFormat = choice(LogFormat::WORDS, "text").flag("log-format"),
        /// Also append the log to FILE
        ///
        /// stderr is enough for most runs.
        /// Example: --log-file crawl.log
        pub file: Option<PathBuf> = value("FILE", "").flag("log-file").note("none"),
        /// How to show progress; auto: a bar on a terminal, else lines
        ///
        /// A bar needs a terminal; elsewhere a line comes every five seconds.
        /// Example: --progress plain
        pub progress: ProgressMode = choice(ProgressMode::WORDS, "auto").flag("progress"),
        /// When to use color; auto: on a terminal, unless NO_COLOR is set
        ///
        /// Color codes are noise in files and pipes. The flag wins over the environment.
        /// Example: --color never
        pub color: ColorChoice = choice(ColorChoice::WORDS, "auto").flag("color"),
    }
}
