//! Keys of a crawl focused on a topic.

use super::{Key, Shape, key};

/// The table `focus`.
pub const KEYS: &[Key] = &[
    key!(
        focus.terms,
        Shape::List("TOPIC"),
        "",
        "Fetch pages on TOPIC first: words, @FILE, or the URL of an example page (repeatable)"
    )
    .flag("focus")
    .heading("Scope"),
    key!(
        focus.min_score,
        Shape::Value("F"),
        "",
        "Keep only pages of at least this relevance to the topic, from 0 to 1"
    )
    .flag("focus-min")
    .note("all")
    .heading("Scope"),
    key!(
        focus.exploration,
        Shape::Value("F"),
        "0.05",
        "Share of URLs that a focused crawl fetches regardless of their rank"
    ),
    key!(
        focus.weights,
        Shape::Value("LIST"),
        "anchor=1,around=0.5,heading=0.3,url=1,source=0.2,siblings=1,region=1",
        "Weight of each clue to the relevance of a link; clues not named keep their weight"
    ),
];
