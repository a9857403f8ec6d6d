//! What counts as a near-duplicate.

use super::{Key, Shape, key};
use crate::cli::choices::{DETECTORS, FilterKind, MatchKind, Parser};

const NEAR_DUPLICATES: &str = "Near-duplicates";

/// The table `render`, which is shown before.
pub const RENDER: &[Key] = &[key!(
    render.parser,
    Shape::Choice(Parser::WORDS),
    "fast",
    "How HTML is read; dom builds a tree of each page, which is slower and finds the same"
)
.flag("parser")
.fixed()
.heading(NEAR_DUPLICATES)];

/// The table `dedup`.
pub const KEYS: &[Key] = &[
    key!(dedup.detector, Shape::Choice(DETECTORS), "mwo", "How pages are compared; none: exact copies only")
        .flag("detector")
        .fixed()
        .heading(NEAR_DUPLICATES),
    key!(dedup.threshold, Shape::Value("F"), "", "A page at least this similar to a stored one is a near-duplicate")
        .flag("threshold")
        .short('t')
        .note("0.8; extended-tdw: 0.9; provenance: 0.5")
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
