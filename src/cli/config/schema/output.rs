//! Keys of output, dashboard and logging.

use super::{Key, Shape, key};
use crate::cli::config::value_enums::{ColorChoice, LogFormat, LogLevel, ProgressMode};

const OUTPUT: &str = "Output";
const DASHBOARD: &str = "Dashboard";
const LOGGING: &str = "Logging";

/// The tables `out`, `dashboard` and `log`.
pub const KEYS: &[Key] = &[
    key!(out.dir, Shape::Value("DIR"), "./ndcrawl-out", "Output folder; an unfinished crawl in it is resumed")
        .because("One name, so that the same command finds its crawl again.")
        .example("-o books")
        .flag("out")
        .short('o')
        .alias("out")
        .heading(OUTPUT),
    key!(out.warc, Shape::Switch("false"), "true", "Archive pages as WARC files")
        .because("On, since an export needs the pages. WARC is what archives read.")
        .example("--no-warc")
        .flag("no-warc")
        .flag_help("Do not archive pages as WARC files")
        .heading(OUTPUT),
    key!(out.warc_size, Shape::Value("SIZE"), "1G", "Start a new WARC file at this size")
        .because("The size that the WARC standard recommends.")
        .example("--warc-size 4G")
        .flag("warc-size")
        .heading(OUTPUT),
    key!(out.report, Shape::Switch("false"), "true", "Write the report, report.html, when the crawl ends")
        .because("The report answers what most people ask first.")
        .example("--no-report")
        .flag("no-report")
        .flag_help("Do not write the report when the crawl ends")
        .heading(OUTPUT),
    key!(out.min_free, Shape::Value("SIZE"), "500M", "Stop when less disk space is free; the crawl can be resumed")
        .because("Room to end in order and for other programs.")
        .example("--min-free 5G")
        .flag("min-free")
        .heading(OUTPUT),
    key!(
        dashboard.listen,
        Shape::Value("ADDR"),
        "",
        "Serve a live page, /metrics and /status.json at ADDR, for example 9100"
    )
    .because("Off, since it opens a port. A port alone is one of this machine.")
    .example("--dashboard 9100")
    .flag("dashboard")
    .note("off")
    .heading(DASHBOARD),
    key!(dashboard.public, Shape::Switch("true"), "false", "Serve the dashboard to other machines; it has no password")
        .because("Off: whoever reaches the address reads the figures.")
        .example("--dashboard 0.0.0.0:9100 --dashboard-public")
        .flag("dashboard-public")
        .heading(DASHBOARD),
    key!(
        log.level,
        Shape::Choice(LogLevel::WORDS),
        "info",
        "Log level on stderr; -q sets error, -v debug, -vv trace, -vvv all"
    )
    .because("info says what you may want to act on."),
    key!(log.format, Shape::Choice(LogFormat::WORDS), "text", "Format of log lines")
        .because("text is for people, json for programs that gather logs.")
        .example("--log-format json")
        .flag("log-format")
        .heading(LOGGING),
    key!(log.file, Shape::Value("FILE"), "", "Also append the log to FILE")
        .because("stderr is enough for most runs.")
        .example("--log-file crawl.log")
        .flag("log-file")
        .note("none")
        .heading(LOGGING),
    key!(
        log.progress,
        Shape::Choice(ProgressMode::WORDS),
        "auto",
        "How to show progress; auto: a bar on a terminal, else lines"
    )
    .because("A bar needs a terminal; elsewhere a line comes every five seconds.")
    .example("--progress plain")
    .flag("progress")
    .heading(LOGGING),
    key!(
        log.color,
        Shape::Choice(ColorChoice::WORDS),
        "auto",
        "When to use color; auto: on a terminal, unless NO_COLOR is set"
    )
    .because("Color codes are noise in files and pipes. The flag wins over the environment.")
    .example("--color never")
    .flag("color")
    .heading(LOGGING),
];
