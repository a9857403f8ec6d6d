//! What counts as a near-duplicate.

use super::{Key, Shape, key};
use crate::cli::config::value_enums::{FilterKind, Foretold, MatchKind, Parser, Stemming, Weights};

/// The group under which help shows these flags.
pub const NEAR_DUPLICATES: &str = "Near-duplicates";

/// The table `render`, which is shown before.
pub const RENDER: &[Key] = &[
    key!(
        render.parser,
        Shape::Choice(Parser::WORDS),
        "fast",
        "How HTML is read; dom builds a tree of each page, which is slower and finds the same"
    )
    .flag("parser")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        render.stemming,
        Shape::Choice(Stemming::WORDS),
        "same",
        "By which rules words become terms; same: on all pages by those of English"
    )
    .fixed(),
];

/// The table `dedup`.
pub const KEYS: &[Key] = &[
    key!(
        dedup.detector,
        Shape::Value("NAME"),
        "mwo",
        "How pages are compared: mwo, dd, fuzzy, extended-tdw, provenance; none: exact copies only"
    )
    .flag("detector")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(dedup.threshold, Shape::Value("F"), "", "A page at least this similar to a stored one is a near-duplicate")
        .flag("threshold")
        .short('t')
        .note("mwo: 0.68, with --weights paper 0.8; dd: 0.8; fuzzy, provenance: 0.5; extended-tdw: 0.9")
        .fixed()
        .heading(NEAR_DUPLICATES),
    key!(
        dedup.weights,
        Shape::Choice(Weights::WORDS),
        "host",
        "mwo: what decides; host: also the order of words, without what a host's pages have in common"
    )
    .flag("weights")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.threshold2,
        Shape::Value("F"),
        "0.35",
        "mwo --weights host: the share of running text to agree, of long pages"
    )
    .flag("threshold2")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.thresholding,
        Shape::Value("HOW"),
        "",
        "mwo, provenance: terms too light to be compared: off, paper, or a share of the page's weight"
    )
    .note("off; provenance: paper")
    .fixed(),
    key!(
        dedup.synonyms,
        Shape::Value("FILE"),
        "",
        "extended-tdw: words that mean the same, a row a line of FILE, commas between"
    )
    .note("a small table of English words")
    .fixed(),
    key!(
        dedup.sentence_slack,
        Shape::Value("N"),
        "0",
        "extended-tdw: pages are compared if they differ by fewer than N sentences; 0: always"
    )
    .fixed(),
    key!(dedup.filter, Shape::Choice(FilterKind::WORDS), "exact", "How candidates are found; exact misses none")
        .flag("filter")
        .fixed()
        .heading(NEAR_DUPLICATES),
    key!(
        dedup.matching,
        Shape::Choice(MatchKind::WORDS),
        "any",
        "Which of several similar pages a verdict names; any: the first found"
    )
    .flag("matching")
    .heading(NEAR_DUPLICATES),
    key!(dedup.min_terms, Shape::Value("N"), "20", "Pages with fewer terms are duplicates only if byte-identical")
        .flag("min-terms")
        .fixed()
        .heading(NEAR_DUPLICATES),
    key!(
        dedup.field_weights,
        Shape::Value("LIST"),
        "url=2,heading=2,title=2,anchor-same-site=1,anchor-other-site=0.5,keywords=3,description=3,body=1",
        "What a term weighs by where it stands, in hundredths at the finest; fields not named keep theirs"
    )
    .flag("field-weights")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.memory,
        Shape::Value("SIZE"),
        "auto",
        "Memory of the index; over it, it gets slower, not less exact; auto: a quarter of the machine's"
    )
    .flag("memory")
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.against,
        Shape::List("DIR"),
        "",
        "Compare with the pages of the earlier crawl in this folder too (repeatable)"
    )
    .flag("against")
    .heading(NEAR_DUPLICATES),
    key!(dedup.store_below, Shape::Value("F"), "", "dd: pages more similar than this are not stored either")
        .flag("store-below")
        .note("the threshold")
        .fixed()
        .heading(NEAR_DUPLICATES),
    key!(dedup.query, Shape::Value("TEXT"), "", "fuzzy: only sentences with words of this query are compared")
        .flag("query")
        .fixed()
        .heading(NEAR_DUPLICATES),
    key!(dedup.keep, Shape::Switch("true"), "false", "Archive the bodies of duplicates too")
        .flag("keep-duplicates")
        .heading(NEAR_DUPLICATES),
    key!(
        dedup.links,
        Shape::Value("POLICY"),
        "skip",
        "Links found on duplicates: skip, follow, defer (fetch last), sample:P (follow a share P)"
    )
    .flag("duplicate-links")
    .heading(NEAR_DUPLICATES),
];

/// The table `dust`: what is foretold of URLs.
pub const DUST: &[Key] = &[
    key!(
        dust.predicted,
        Shape::Choice(Foretold::WORDS),
        "skip",
        "URLs that a learned rule foretells to be duplicates: not fetched but for a sample, or fetched"
    )
    .flag("predicted")
    .heading(NEAR_DUPLICATES),
    key!(dust.rules, Shape::List("FILE"), "", "Begin with the proven rules of this rules.jsonl (repeatable)")
        .flag("rules")
        .heading(NEAR_DUPLICATES),
];

/// The table `dedup.fuzzy`: what only that detector has.
pub const FUZZY: &[Key] = &[
    key!(
        dedup.fuzzy.sentence_threshold,
        Shape::Value("F"),
        "0.99",
        "Sentences are related if their words go together more than this"
    )
    .fixed(),
    key!(
        dedup.fuzzy.candidates,
        Shape::Value("F"),
        "0.6",
        "Pages are compared if at least this share of their words is the same"
    )
    .fixed(),
    key!(
        dedup.fuzzy.least_together,
        Shape::Value("N"),
        "2",
        "Words go together if they stand together in so many pages; the paper: 1"
    )
    .fixed(),
    key!(
        dedup.fuzzy.copies_first,
        Shape::Switch("true"),
        "true",
        "Look whether all is the same before comparing words"
    )
    .fixed(),
    key!(dedup.fuzzy.least_words, Shape::Value("N"), "3", "Sentences of fewer words do not count").fixed(),
    key!(dedup.fuzzy.most_words, Shape::Value("N"), "100", "Sentences of more words do not count; 0: no limit").fixed(),
    key!(
        dedup.fuzzy.first_results,
        Shape::Value("N"),
        "0",
        "Compare a page with so many stored ones at most, likely ones first; 0: no limit"
    )
    .fixed(),
];
