//! What is written, and what is told.

use super::{Key, Shape, key};
use crate::cli::config::value_enums::{ColorChoice, LogFormat, LogLevel, ProgressMode};

const OUTPUT: &str = "Output";
const WATCHING: &str = "Dashboard";
const LOGGING: &str = "Logging";

/// The tables `out`, `dashboard` and `log`.
pub const KEYS: &[Key] = &[
    key!(out.dir, Shape::Value("DIR"), "./ndcrawl-out", "Write to this folder; an unfinished crawl in it is resumed")
        .flag("out")
        .short('o')
        .alias("out")
        .heading(OUTPUT),
    key!(out.warc, Shape::Switch("false"), "true", "Archive pages as WARC files")
        .flag("no-warc")
        .flag_help("Do not archive pages as WARC files")
        .heading(OUTPUT),
    key!(out.warc_size, Shape::Value("SIZE"), "1G", "Begin a new WARC file after this size")
        .flag("warc-size")
        .heading(OUTPUT),
    key!(
        out.formats,
        Shape::CommaList("LIST"),
        "html",
        "Written when the crawl ends: html is the report, none is nothing"
    )
    .flag("format")
    .heading(OUTPUT),
    key!(out.min_free, Shape::Value("SIZE"), "500M", "Stop, resumably, when less than this is free on the disk")
        .flag("min-free")
        .heading(OUTPUT),
    key!(
        dashboard.listen,
        Shape::Value("ADDR"),
        "",
        "Serve a live page, /metrics and /status.json at ADDR, such as 9100 or 127.0.0.1:0"
    )
    .flag("dashboard")
    .note("off")
    .heading(WATCHING),
    key!(
        dashboard.public,
        Shape::Switch("true"),
        "false",
        "Let the dashboard be seen from other machines; it has no password"
    )
    .flag("dashboard-public")
    .heading(WATCHING),
    key!(
        log.level,
        Shape::Choice(LogLevel::WORDS),
        "info",
        "How much is told on stderr; -q is error, -v debug, -vv trace"
    ),
    key!(log.format, Shape::Choice(LogFormat::WORDS), "text", "The form of log lines")
        .flag("log-format")
        .heading(LOGGING),
    key!(log.file, Shape::Value("FILE"), "", "Append the log to FILE as well")
        .flag("log-file")
        .note("none")
        .heading(LOGGING),
    key!(log.progress, Shape::Choice(ProgressMode::WORDS), "auto", "Progress; auto: a bar on a terminal")
        .flag("progress")
        .heading(LOGGING),
    key!(log.color, Shape::Choice(ColorChoice::WORDS), "auto", "Colour; auto: on a terminal, minds NO_COLOR")
        .flag("color")
        .heading(LOGGING),
];
