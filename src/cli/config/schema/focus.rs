//! What is looked for.

use super::{Key, Shape, key};

/// The table `focus`.
pub const KEYS: &[Key] = &[
    key!(
        focus.terms,
        Shape::List("TOPIC"),
        "",
        "Fetch first what is about TOPIC: words, @FILE, or the URL of an example page (repeatable)"
    )
    .flag("focus")
    .heading("Scope"),
    key!(focus.min_score, Shape::Value("F"), "", "Keep only pages of at least this relevance to the topic, in [0, 1]")
        .flag("focus-min")
        .note("all")
        .heading("Scope"),
    key!(focus.exploration, Shape::Value("F"), "0.05", "The share of URLs that a focused crawl takes out of turn"),
    key!(
        focus.weights,
        Shape::Value("LIST"),
        "anchor=1,around=0.5,heading=0.3,url=1,source=0.2,siblings=1,region=1",
        "What speaks for a link, and how much; parts not named keep theirs"
    ),
];
