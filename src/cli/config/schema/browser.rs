//! Pages that scripts draw.

use super::{Key, Shape, key};

/// The table `browser`.
pub const KEYS: &[Key] = &[
    key!(
        browser.mode,
        Shape::Value("MODE"),
        "static",
        "Read pages as sent: static; as scripts draw them in Chromium: browser; if need be: auto"
    )
    .flag("page-source")
    .fixed()
    .heading("HTTP"),
    key!(browser.executable, Shape::Value("FILE"), "", "The Chromium to draw pages with")
        .note("the first one found by name"),
    key!(browser.tabs, Shape::Value("N"), "2", "Draw at most N pages at a time"),
    key!(browser.timeout, Shape::Value("DURATION"), "15s", "Take a page as it stands after this time"),
    key!(browser.max_requests, Shape::Value("N"), "100", "Let a page make at most N requests"),
    key!(browser.max_bytes, Shape::Value("SIZE"), "32M", "Let a page have at most so much of them"),
];
