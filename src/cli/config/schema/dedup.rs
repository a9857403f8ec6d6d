//! Keys of near-duplicate detection: `render`, `dedup`, `dedup.fuzzy` and `dust`.

use std::path::PathBuf;

use super::{Key, Shape, key, table};
use crate::cli::config::units::Size;
use crate::cli::config::value_enums::{Choice, PredictedUrls};
use crate::crawl::DuplicateLinks;
use crate::detect::fuzzy::FuzzyOptions;
use crate::detect::{Mode, SecondCheck, Thresholding, Within};
use crate::index::FilterKind;
use crate::model::{Detector, FieldWeights, KeepRule, MostLost, Threshold};
use crate::pagetext::{Parser, Rules};

const FUZZY_ALONE: &[Detector] = &[Detector::Fuzzy];

table! {
    /// Reading of pages.
    #[derive(Default)]
    pub struct Render: render {
        /// HTML parser; dom builds a tree of each page: slower, with the same result
        pub parser: Parser = key(Shape::Choice(Parser::WORDS), "fast")
            .because("fast: both find the same, and a tree costs time. dom is there to check the other.")
            .example("--parser dom")
            .flag("parser")
            .fixed(),
        /// Stemmer of words; same: the English one for all pages; language: that of the page
        pub stemming: Rules = key(Shape::Choice(Rules::WORDS), "same")
            .because("same: a text that is left untranslated has the same words then on pages of all languages.")
            .fixed(),
    }
}

table! {
    /// Near-duplicate detection.
    pub struct Dedup: dedup with fuzzy: FuzzyOptions {
        /// How pages are compared: mwo, dd, fuzzy, extended-tdw, provenance; none: exact copies only
        pub detector: Detector = key(Shape::Value("NAME"), "mwo")
            .because("mwo is right most often on labeled pages of 14 sites; the others are published systems to \
                compare with.")
            .example("--detector none")
            .flag("detector")
            .fixed(),
        /// A page is a near-duplicate if its similarity to a stored page is at least F
        pub threshold: Option<Threshold> = key(Shape::Value("F"), "")
            .because("Each detector's own, chosen on labeled pages. A higher one takes fewer pages for duplicates.")
            .example("-t 0.9")
            .flag("threshold")
            .short('t')
            .note("mwo: 0.3, with second_check=none 0.8; dd: 0.8; fuzzy, provenance: 0.5; extended-tdw: 0.9")
            .fixed(),
        /// mwo: also compare what either page says for itself; none: weights only
        pub second_check: SecondCheck = key(Shape::Choice(SecondCheck::WORDS), "own-words")
            .because("own-words, since pages of one template share nine tenths of their weight and say different \
                things.")
            .example("--detector-option second_check=none")
            .of(&[Detector::Mwo])
            .fixed(),
        /// mwo, provenance: ignore light terms: off, paper, or below a share of the page's weight
        pub thresholding: Option<Thresholding> = key(Shape::Value("HOW"), "")
            .because("mwo compares all terms, since among few pages the formula drops nearly everything.")
            .example("--detector-option thresholding=paper")
            .of(&[Detector::Mwo, Detector::Provenance])
            .note("off; provenance: paper")
            .fixed(),
        /// extended-tdw: synonyms, one comma-separated group per line of FILE
        pub synonyms: Option<PathBuf> = key(Shape::Value("FILE"), "")
            .because("The table is an example; the published system does not name its own.")
            .example("--detector-option synonyms=words.csv")
            .of(&[Detector::ExtendedTdw])
            .note("a small table of English words")
            .fixed(),
        /// extended-tdw: compare pages whose sentence counts differ by less than N; 0: always
        pub sentence_slack: Option<u32> = key(Shape::Value("N"), "0")
            .because("Always, since the filter misses pages that are quoted in part or cut into other sentences.")
            .example("--detector-option sentence_slack=10")
            .of(&[Detector::ExtendedTdw])
            .fixed(),
        /// How candidates are found; exact misses none, paper uses the published cut
        pub filter: FilterKind = key(Shape::Choice(FilterKind::WORDS), "exact")
            .because("exact, since the published filter bounds another measure and loses matches.")
            .example("--filter paper")
            .flag("filter")
            .fixed(),
        /// Which of several similar pages a verdict names; any: the first one found
        pub matching: Mode = key(Shape::Choice(Mode::WORDS), "any")
            .because("any: one match settles that a page is a duplicate. best names the most similar page and takes \
                longer.")
            .example("--matching best")
            .flag("matching"),
        /// The pages that a page is compared with; host: those of its host, copies on others are kept
        pub within: Within = key(Shape::Choice(Within::WORDS), "all")
            .because("all: a text is often printed on several hosts. host is for corpora too large to compare all \
                with all.")
            .example("--within host")
            .flag("within")
            .fixed(),
        /// Keep a near-duplicate if more than N of its words, or N%, stand in no run of 4 of the kept page
        pub lose_at_most: Option<MostLost> = key(Shape::Value("N|N%"), "")
            .because("Own words decide: what many pages say may be lost. 0 drops only what the kept page contains.")
            .example("--lose-at-most 1%")
            .flag("lose-at-most")
            .note("no bound")
            .fixed(),
        /// Pages with fewer than N terms are duplicates only if byte-identical
        pub min_terms: u32 = key(Shape::Value("N"), "20")
            .because("So short a text is mostly template, and one word makes the difference.")
            .example("--min-terms 5")
            .flag("min-terms")
            .fixed(),
        /// Weight of a term by the field it stands in, two decimals; other fields keep their weight
        pub field_weights: FieldWeights = key(Shape::Value("LIST"), "url=2,heading=2,title=2,anchor-same-site=1,anchor-other-site=0.5,keywords=3,description=3,body=1")
            .because("The weights of the published system: what sums a page up counts more.")
            .example("--field-weights title=3,url=0")
            .flag("field-weights")
            .note("url=2, heading=2, title=2, anchor-same-site=1, anchor-other-site=0.5, keywords=3, description=3, \
                body=1")
            .fixed(),
        /// Memory for what many pages say; beyond it, what one page alone has said is forgotten
        pub memory: Size = key(Shape::Value("SIZE"), "256M")
            .because("Enough for some 100,000 pages before anything is forgotten; smaller crawls take less.")
            .example("--memory 2G")
            .flag("memory")
            .fixed(),
        /// Also compare with the pages of the earlier crawl in this folder (repeatable)
        pub against: Vec<PathBuf> = key(Shape::List("DIR"), "")
            .because("None. Pages that the earlier crawl stored count as seen before.")
            .example("--against last-month")
            .flag("against"),
        /// dd: do not store pages more similar than F either
        pub store_below: Option<Threshold> = key(Shape::Value("F"), "")
            .because("The threshold: what is no duplicate is stored.")
            .example("--detector-option store_below=0.6")
            .of(&[Detector::Dd])
            .note("the threshold")
            .fixed(),
        /// fuzzy: compare only sentences that contain words of this query
        pub query: String = key(Shape::Value("TEXT"), "")
            .because("The words of --focus, if any; else all sentences are compared.")
            .example("--detector-option query='sockets'")
            .of(&[Detector::Fuzzy])
            .fixed(),
        /// Which copy is kept: first, longest, newest, oldest, cited, or source:LIST of hosts, files or sources
        pub keep_rule: KeepRule = key(Shape::Value("RULE"), "first")
            .because("first, since a crawl knows no other when it decides. Other rules exchange copies at the end, and \
                archive the bodies of duplicates for it.")
            .example("--keep source:docs.example,www.example")
            .flag("keep"),
        /// Archive the bodies of duplicates too
        pub keep: bool = key(Shape::Switch("true"), "false")
            .because("Off, since their text is kept anyway (--keep-text) and takes less room.")
            .example("--keep-duplicates")
            .flag("keep-duplicates"),
        /// Archive the text of near-duplicates, so that the report shows what differs
        pub keep_text: bool = key(Shape::Choice("on|off"), "on")
            .because("On, since a report that does not show what differs cannot be checked.")
            .example("--keep-text off")
            .flag("keep-text"),
        /// Links on duplicates: skip, unmatched (not on the original), follow, defer (last), sample:P (a share)
        pub links: DuplicateLinks = key(Shape::Value("POLICY"), "skip")
            .because("skip, since copies mostly link to copies. The summary says how many links had no counterpart.")
            .example("--duplicate-links unmatched")
            .flag("duplicate-links"),
    }
}

table! {
    /// Prediction of duplicate URLs.
    #[derive(Default)]
    pub struct Dust: dust {
        /// URLs that a learned rule predicts to be duplicates: skip all but a sample, or fetch all
        pub predicted: PredictedUrls = key(Shape::Choice(PredictedUrls::WORDS), "skip")
            .because("skip, since mirrors and print versions can double the requests. The sample keeps testing each \
                rule.")
            .example("--predicted fetch")
            .flag("predicted"),
        /// Start with the proven rules of this rules.jsonl (repeatable)
        pub rules: Vec<PathBuf> = key(Shape::List("FILE"), "")
            .because("None: rules are learned anew, since sites change.")
            .example("--rules rules.jsonl")
            .flag("rules"),
    }
}

/// The table `dedup.fuzzy`: settings of that detector alone.
pub const FUZZY: &[Key] = &[
    key!(
        dedup.fuzzy.sentence_threshold,
        Shape::Value("F"),
        "0.99",
        "Two sentences are related if their word correlation exceeds F"
    )
    .because("Of the values that still admit words that are not shared, the best on labeled pages.")
    .example("--detector-option fuzzy.sentence_threshold=0.95")
    .of(FUZZY_ALONE)
    .fixed(),
    key!(
        dedup.fuzzy.candidates,
        Shape::Value("F"),
        "0.6",
        "Compare pages that share at least this part of their words"
    )
    .because("Of the values tried, the one with the best precision and recall on labeled pages.")
    .example("--detector-option fuzzy.candidates=0.5")
    .of(FUZZY_ALONE)
    .fixed(),
    key!(
        dedup.fuzzy.least_together,
        Shape::Value("N"),
        "2",
        "Two words are correlated if they occur together in at least N pages; the paper: 1"
    )
    .because("With 1, the words of a single page would all be synonyms.")
    .example("--detector-option fuzzy.least_together=1")
    .of(FUZZY_ALONE)
    .fixed(),
    key!(dedup.fuzzy.copies_first, Shape::Switch("true"), "true", "Look for identical pages before comparing words")
        .because("On, since it finds most copies at little cost.")
        .example("--detector-option fuzzy.copies_first=false")
        .of(FUZZY_ALONE)
        .fixed(),
    key!(dedup.fuzzy.least_words, Shape::Value("N"), "3", "Ignore sentences of fewer than N words")
        .because("Shorter ones are menus and buttons.")
        .example("--detector-option fuzzy.least_words=1")
        .of(FUZZY_ALONE)
        .fixed(),
    key!(dedup.fuzzy.most_words, Shape::Value("N"), "100", "Ignore sentences of more than N words; 0: no limit")
        .because("Longer ones are tables and lists without full stops.")
        .example("--detector-option fuzzy.most_words=0")
        .of(FUZZY_ALONE)
        .fixed(),
    key!(
        dedup.fuzzy.first_results,
        Shape::Value("N"),
        "0",
        "Compare a page with at most N stored pages, the likeliest first; 0: no limit"
    )
    .because("No limit, since a limit can miss the page that is repeated.")
    .example("--detector-option fuzzy.first_results=50")
    .of(FUZZY_ALONE)
    .fixed(),
];
