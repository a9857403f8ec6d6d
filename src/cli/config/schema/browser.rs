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
    .flag("page-source")
    .fixed()
    .heading("HTTP"),
    key!(browser.executable, Shape::Value("FILE"), "", "Chromium executable").note("the first one found in PATH"),
    key!(browser.tabs, Shape::Value("N"), "2", "Render at most N pages at a time"),
    key!(browser.timeout, Shape::Value("DURATION"), "15s", "Stop rendering after this time and take the page as it is"),
    key!(browser.max_requests, Shape::Value("N"), "100", "Allow a page at most N requests"),
    key!(browser.max_bytes, Shape::Value("SIZE"), "32M", "Allow the responses to a page at most this size in total"),
];
