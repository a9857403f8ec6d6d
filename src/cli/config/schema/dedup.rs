//! Keys of near-duplicate detection: `render`, `dedup`, `dedup.fuzzy` and `dust`.

use std::path::PathBuf;

use super::key::table;
use crate::cli::config::units::Size;
use crate::cli::config::value_enums::{Choice, PredictedUrls};
use crate::crawl::DuplicateLinks;
use crate::detect::fuzzy::FuzzyOptions;
use crate::detect::{Mode, SecondCheck, Thresholding, Within};
use crate::index::FilterKind;
use crate::model::{Detector, FieldWeights, KeepRule, MostLost, Threshold};
use crate::pagetext::{Parser, Rules};

table! {
    /// Reading of pages.
    pub struct Render in [render] of Crawl {
        /// HTML parser; dom builds a tree of each page: slower, with the same result
        ///
        /// fast: both find the same, and a tree costs time. dom is there to check the other.
        /// Example: --parser dom
        pub parser: Parser = choice(Parser::WORDS, "fast").flag("parser").fixed(),
        /// Stemmer of words; same: the English one for all pages; language: that of the page
        ///
        /// same: a text that is left untranslated has the same words then on pages of all languages.
        pub stemming: Rules = choice(Rules::WORDS, "same").fixed(),
    }
}

table! {
    /// Near-duplicate detection.
    pub struct Dedup in [dedup] of Crawl {
        /// How pages are compared: mwo, dd, fuzzy, extended-tdw, provenance; none: exact copies only
        ///
        /// mwo is right most often on labeled pages of 14 sites; the others are published systems to compare with.
        /// Example: --detector none
        pub detector: Detector = value("NAME", "mwo").flag("detector").fixed(),
        /// A page is a near-duplicate if its similarity to a stored page is at least F
        ///
        /// Each detector's own, chosen on labeled pages. A higher one takes fewer pages for duplicates.
        /// Example: -t 0.9
        pub threshold: Option<Threshold> = value("F", "").flag("threshold").short('t')
            .note("mwo: 0.3, with second_check=none 0.8; dd: 0.8; fuzzy, provenance: 0.5; extended-tdw: 0.9").fixed(),
        /// mwo: also compare what either page says for itself; none: weights only
        ///
        /// own-words, since pages of one template share nine tenths of their weight and say different things.
        /// Example: --detector-option second_check=none
        pub second_check: SecondCheck = choice(SecondCheck::WORDS, "own-words").of(&[Detector::Mwo]).fixed(),
        /// mwo, provenance: ignore light terms: off, paper, or below a share of the page's weight
        ///
        /// mwo compares all terms, since among few pages the formula drops nearly everything.
        /// Example: --detector-option thresholding=paper
        pub thresholding: Option<Thresholding> = value("HOW", "").of(&[Detector::Mwo, Detector::Provenance])
            .note("off; provenance: paper").fixed(),
        /// extended-tdw: synonyms, one comma-separated group per line of FILE
        ///
        /// The table is an example; the published system does not name its own.
        /// Example: --detector-option synonyms=words.csv
        pub synonyms: Option<PathBuf> = value("FILE", "").of(&[Detector::ExtendedTdw])
            .note("a small table of English words").fixed(),
        /// extended-tdw: compare pages whose sentence counts differ by less than N; 0: always
        ///
        /// Always, since the filter misses pages that are quoted in part or cut into other sentences.
        /// Example: --detector-option sentence_slack=10
        pub sentence_slack: Option<u32> = value("N", "0").of(&[Detector::ExtendedTdw]).fixed(),
        /// How candidates are found; exact misses none, paper uses the published cut
        ///
        /// exact, since the published filter bounds another measure and loses matches.
        /// Example: --filter paper
        pub filter: FilterKind = choice(FilterKind::WORDS, "exact").flag("filter").fixed(),
        /// Which of several similar pages a verdict names; any: the first one found
        ///
        /// any: one match settles that a page is a duplicate. best names the most similar page and takes longer.
        /// Example: --matching best
        pub matching: Mode = choice(Mode::WORDS, "any").flag("matching"),
        /// The pages that a page is compared with; host: those of its host, copies on others are kept
        ///
        /// all: a text is often printed on several hosts. host is for corpora too large to compare all with all.
        /// Example: --within host
        pub within: Within = choice(Within::WORDS, "all").flag("within").fixed(),
        /// Keep a near-duplicate if more than N of its words, or N%, stand in no run of 4 of the kept page
        ///
        /// Own words decide: what many pages say may be lost. 0 drops only what the kept page contains.
        /// Example: --lose-at-most 1%
        pub lose_at_most: Option<MostLost> = value("N|N%", "").flag("lose-at-most").note("no bound").fixed(),
        /// Pages with fewer than N terms are duplicates only if byte-identical
        ///
        /// So short a text is mostly template, and one word makes the difference.
        /// Example: --min-terms 5
        pub min_terms: u32 = value("N", "20").flag("min-terms").fixed(),
        /// Weight of a term by the field it stands in, two decimals; other fields keep their weight
        ///
        /// The weights of the published system: what sums a page up counts more.
        /// Example: --field-weights title=3,url=0
        pub field_weights: FieldWeights = value("LIST", "url=2,heading=2,title=2,anchor-same-site=1,anchor-other-site=0.5,keywords=3,description=3,body=1")
            .flag("field-weights")
            .note("url=2, heading=2, title=2, anchor-same-site=1, anchor-other-site=0.5, keywords=3, description=3, body=1")
            .fixed(),
        /// Memory for what many pages say; beyond it, what one page alone has said is forgotten
        ///
        /// Room for 11 million runs of words that few pages have; smaller crawls take less.
        /// Example: --memory 2G
        pub memory: Size = value("SIZE", "256M").flag("memory").fixed(),
        /// Also compare with the pages of the earlier crawl in this folder (repeatable)
        ///
        /// None. Pages that the earlier crawl stored count as seen before.
        /// Example: --against last-month
        pub against: Vec<PathBuf> = list("DIR").flag("against").of_one_process(),
        /// dd: do not store pages more similar than F either
        ///
        /// The threshold: what is no duplicate is stored.
        /// Example: --detector-option store_below=0.6
        pub store_below: Option<Threshold> = value("F", "").of(&[Detector::Dd]).note("the threshold").fixed(),
        /// fuzzy: compare only sentences that contain words of this query
        ///
        /// The words of --focus, if any; else all sentences are compared.
        /// Example: --detector-option query='sockets'
        pub query: String = value("TEXT", "").of(&[Detector::Fuzzy]).fixed(),
        /// Which copy is kept: first, longest, newest, oldest, cited, or source:LIST of hosts, files or sources
        ///
        /// first, since a crawl knows no other when it decides. Other rules exchange copies at the end, and archive the
        /// bodies of duplicates for it.
        /// Example: --keep source:docs.example,www.example
        pub keep_rule: KeepRule = value("RULE", "first").flag("keep"),
        /// Archive the bodies of duplicates too
        ///
        /// Off, since their text is kept anyway (--keep-text) and takes less room.
        /// Example: --keep-duplicates
        pub keep: bool = switch(false).flag("keep-duplicates"),
        /// Archive the text of near-duplicates, so that the report shows what differs
        ///
        /// On, since a report that does not show what differs cannot be checked.
        /// Example: --keep-text off
        pub keep_text: bool = choice("on|off", "on").flag("keep-text"),
        /// Links on duplicates: skip, unmatched (not on the original), follow, defer (last), sample:P (a share)
        ///
        /// skip, since copies mostly link to copies. The summary says how many links had no counterpart.
        /// Example: --duplicate-links unmatched
        pub links: DuplicateLinks = value("POLICY", "skip").flag("duplicate-links"),
    } with {
        pub fuzzy: FuzzyOptions,
    }
}

table! {
    /// Prediction of duplicate URLs.
    pub struct Dust in [dust] of Crawl {
        /// URLs that a learned rule predicts to be duplicates: skip all but a sample, or fetch all
        ///
        /// skip, since mirrors and print versions can double the requests. The sample keeps testing each rule.
        /// Example: --predicted fetch
        pub predicted: PredictedUrls = choice(PredictedUrls::WORDS, "skip").flag("predicted"),
        /// Start with the proven rules of this rules.jsonl (repeatable)
        ///
        /// None: rules are learned in each crawl, since sites change.
        /// Example: --rules rules.jsonl
        pub rules: Vec<PathBuf> = list("FILE").flag("rules").of_machine(),
    }
}

table! {
    /// The table `dedup.fuzzy`: settings of that detector alone.
    pub const FUZZY in [dedup.fuzzy] of Crawl {
        /// Two sentences are related if their word correlation exceeds F
        ///
        /// Of the values that still admit words that are not shared, the best on labeled pages.
        /// Example: --detector-option fuzzy.sentence_threshold=0.95
        sentence_threshold = value("F", "0.99").of(&[Detector::Fuzzy]).fixed(),
        /// Compare pages that share at least this part of their words
        ///
        /// Of the values tried, the one with the best precision and recall on labeled pages.
        /// Example: --detector-option fuzzy.candidates=0.5
        candidates = value("F", "0.6").of(&[Detector::Fuzzy]).fixed(),
        /// Two words are correlated if they occur together in at least N pages; the paper: 1
        ///
        /// With 1, the words of a single page would all be synonyms.
        /// Example: --detector-option fuzzy.least_together=1
        least_together = value("N", "2").of(&[Detector::Fuzzy]).fixed(),
        /// Look for identical pages before comparing words
        ///
        /// On, since it finds most copies at little cost.
        /// Example: --detector-option fuzzy.copies_first=false
        copies_first = switch(true).of(&[Detector::Fuzzy]).fixed(),
        /// Ignore sentences of fewer than N words
        ///
        /// Shorter ones are menus and buttons.
        /// Example: --detector-option fuzzy.least_words=1
        least_words = value("N", "3").of(&[Detector::Fuzzy]).fixed(),
        /// Ignore sentences of more than N words; 0: no limit
        ///
        /// Longer ones are tables and lists without full stops.
        /// Example: --detector-option fuzzy.most_words=0
        most_words = value("N", "100").of(&[Detector::Fuzzy]).fixed(),
        /// Compare a page with at most N stored pages, the likeliest first; 0: no limit
        ///
        /// No limit, since a limit can miss the page that is repeated.
        /// Example: --detector-option fuzzy.first_results=50
        first_results = value("N", "0").of(&[Detector::Fuzzy]).fixed(),
    }
}
