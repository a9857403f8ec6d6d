//! Help texts that do not belong to one flag. All fit 80 columns; the longer ones are files.

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
pub const AFTER_HELP: &str = include_str!("help/short.txt").trim_ascii_end();

/// The end of the long help.
pub const AFTER_LONG_HELP: &str = include_str!("help/long.txt").trim_ascii_end();

/// The end of the long help of `export`.
pub const AFTER_EXPORT_HELP: &str = include_str!("help/export.txt").trim_ascii_end();

/// The end of the help of `explain`.
pub const AFTER_EXPLAIN: &str = include_str!("help/explain.txt").trim_ascii_end();

/// The end of the help of `report`.
pub const AFTER_REPORT: &str = include_str!("help/report.txt").trim_ascii_end();

/// The end of the long help of `check`.
pub const AFTER_CHECK_HELP: &str = include_str!("help/check.txt").trim_ascii_end();

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
