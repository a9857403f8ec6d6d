//! Keys of near-duplicate detection: `render`, `dedup`, `dedup.fuzzy` and `dust`.

use super::{Key, Shape, key};
use crate::cli::config::value_enums::{FilterKind, MatchKind, Parser, PredictedUrls, SecondCheck, Stemming};

/// The help heading of these flags.
pub const NEAR_DUPLICATES: &str = "Near-duplicates";

/// The table `render`, which is listed first.
pub const RENDER: &[Key] = &[
    key!(
        render.parser,
        Shape::Choice(Parser::WORDS),
        "fast",
        "HTML parser; dom builds a tree of each page: slower, with the same result"
    )
    .flag("parser")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        render.stemming,
        Shape::Choice(Stemming::WORDS),
        "same",
        "Stemmer of words; same: the English one for all pages; language: that of the page"
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
    key!(
        dedup.threshold,
        Shape::Value("F"),
        "",
        "A page is a near-duplicate if its similarity to a stored page is at least F"
    )
    .flag("threshold")
    .short('t')
    .note("mwo: 0.68, with --second-check none 0.8; dd: 0.8; fuzzy, provenance: 0.5; extended-tdw: 0.9")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.second_check,
        Shape::Choice(SecondCheck::WORDS),
        "template",
        "mwo: also compare the running text, without the template of the host; none: weights only"
    )
    .flag("second-check")
    .renamed_from("dedup.weights", "weights", &["host", "paper"])
    .stored_value(|settings| settings.dedup.second_check.stored_word().into())
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.threshold2,
        Shape::Value("F"),
        "0.35",
        "mwo, second check: the share of running text that two long pages must have in common"
    )
    .flag("threshold2")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.host_memory,
        Shape::Value("SIZE"),
        "256M",
        "Memory for templates of hosts, part of dedup.memory; beyond it, samples of those unused longest"
    )
    .fixed(),
    key!(
        dedup.thresholding,
        Shape::Value("HOW"),
        "",
        "mwo, provenance: ignore light terms: off, paper, or below a share of the page's weight"
    )
    .note("off; provenance: paper")
    .fixed(),
    key!(
        dedup.synonyms,
        Shape::Value("FILE"),
        "",
        "extended-tdw: synonyms, one comma-separated group per line of FILE"
    )
    .note("a small table of English words")
    .fixed(),
    key!(
        dedup.sentence_slack,
        Shape::Value("N"),
        "0",
        "extended-tdw: compare pages whose sentence counts differ by less than N; 0: always"
    )
    .fixed(),
    key!(
        dedup.filter,
        Shape::Choice(FilterKind::WORDS),
        "exact",
        "How candidates are found; exact misses none, paper uses the published cut"
    )
    .flag("filter")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.matching,
        Shape::Choice(MatchKind::WORDS),
        "any",
        "Which of several similar pages a verdict names; any: the first one found"
    )
    .flag("matching")
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.min_terms,
        Shape::Value("N"),
        "20",
        "Pages with fewer than N terms are duplicates only if byte-identical"
    )
    .flag("min-terms")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.field_weights,
        Shape::Value("LIST"),
        "url=2,heading=2,title=2,anchor-same-site=1,anchor-other-site=0.5,keywords=3,description=3,body=1",
        "Weight of a term by the field it stands in, two decimals; other fields keep their weight"
    )
    .flag("field-weights")
    .note("url=2, heading=2, title=2, anchor-same-site=1, anchor-other-site=0.5, keywords=3, description=3, body=1")
    .fixed()
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.memory,
        Shape::Value("SIZE"),
        "auto",
        "Memory of the index; beyond it, slower and still exact; auto: a quarter of the machine's"
    )
    .flag("memory")
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.against,
        Shape::List("DIR"),
        "",
        "Also compare with the pages of the earlier crawl in this folder (repeatable)"
    )
    .flag("against")
    .heading(NEAR_DUPLICATES),
    key!(dedup.store_below, Shape::Value("F"), "", "dd: do not store pages more similar than F either")
        .flag("store-below")
        .note("the threshold")
        .fixed()
        .heading(NEAR_DUPLICATES),
    key!(dedup.query, Shape::Value("TEXT"), "", "fuzzy: compare only sentences that contain words of this query")
        .flag("query")
        .fixed()
        .heading(NEAR_DUPLICATES),
    key!(dedup.keep, Shape::Switch("true"), "false", "Archive the bodies of duplicates too")
        .flag("keep-duplicates")
        .heading(NEAR_DUPLICATES),
    key!(
        dedup.keep_text,
        Shape::Choice("on|off"),
        "on",
        "Archive the text of near-duplicates, so that the report shows what differs"
    )
    .flag("keep-text")
    .heading(NEAR_DUPLICATES),
    key!(
        dedup.links,
        Shape::Value("POLICY"),
        "skip",
        "Links on duplicates: skip, unmatched (not on the original), follow, defer (last), sample:P (a share)"
    )
    .flag("duplicate-links")
    .heading(NEAR_DUPLICATES),
];

/// The table `dust`: URLs that are predicted to be duplicates.
pub const DUST: &[Key] = &[
    key!(
        dust.predicted,
        Shape::Choice(PredictedUrls::WORDS),
        "skip",
        "URLs that a learned rule predicts to be duplicates: skip all but a sample, or fetch all"
    )
    .flag("predicted")
    .heading(NEAR_DUPLICATES),
    key!(dust.rules, Shape::List("FILE"), "", "Start with the proven rules of this rules.jsonl (repeatable)")
        .flag("rules")
        .heading(NEAR_DUPLICATES),
];

/// The table `dedup.fuzzy`: settings of that detector alone.
pub const FUZZY: &[Key] = &[
    key!(
        dedup.fuzzy.sentence_threshold,
        Shape::Value("F"),
        "0.99",
        "Two sentences are related if their word correlation exceeds F"
    )
    .fixed(),
    key!(
        dedup.fuzzy.candidates,
        Shape::Value("F"),
        "0.6",
        "Compare pages that share at least this part of their words"
    )
    .fixed(),
    key!(
        dedup.fuzzy.least_together,
        Shape::Value("N"),
        "2",
        "Two words are correlated if they occur together in at least N pages; the paper: 1"
    )
    .fixed(),
    key!(dedup.fuzzy.copies_first, Shape::Switch("true"), "true", "Look for identical pages before comparing words")
        .fixed(),
    key!(dedup.fuzzy.least_words, Shape::Value("N"), "3", "Ignore sentences of fewer than N words").fixed(),
    key!(dedup.fuzzy.most_words, Shape::Value("N"), "100", "Ignore sentences of more than N words; 0: no limit")
        .fixed(),
    key!(
        dedup.fuzzy.first_results,
        Shape::Value("N"),
        "0",
        "Compare a page with at most N stored pages, the likeliest first; 0: no limit"
    )
    .fixed(),
];
