//! Keys of rendering pages in Chromium.

use super::{Key, Shape, key};

/// The table `browser`.
pub const KEYS: &[Key] = &[
    key!(
        browser.mode,
        Shape::Value("MODE"),
        "static",
        "static: as sent; browser: rendered by Chromium; auto: rendered if nearly empty as sent"
    )
    .because(
        "static, since a page that runs takes seconds and many requests. Needs Chromium, and a Unix \
            system.",
    )
    .example("--page-source auto")
    .flag("page-source")
    .fixed()
    .heading("HTTP"),
    key!(browser.executable, Shape::Value("FILE"), "", "Chromium executable")
        .because("Chromium has one of a few names.")
        .note("the first one found in PATH"),
    key!(browser.tabs, Shape::Value("N"), "2", "Render at most N pages at a time")
        .because("Each takes a processor and some hundred MiB."),
    key!(browser.timeout, Shape::Value("DURATION"), "15s", "Stop rendering after this time and take the page as it is")
        .because("At one request a second, 15 s are 15 scripts and answers."),
    key!(browser.max_requests, Shape::Value("N"), "100", "Allow a page at most N requests")
        .because("Pages that ask for more ask without end."),
    key!(browser.max_bytes, Shape::Value("SIZE"), "32M", "Allow the responses to a page at most this size in total")
        .because("Scripts and data of a page have a few MiB."),
];
