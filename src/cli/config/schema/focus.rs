//! Keys of a crawl focused on a topic.

use super::key::table;
use crate::model::{PartWeights, Threshold};

table! {
    /// The topic of a focused crawl.
    pub struct Focus in [focus] of Crawl {
        /// Fetch pages on TOPIC first: words, @FILE, or the URL of an example page (repeatable)
        ///
        /// No topic: the pages nearest to the seeds come first.
        /// Example: --focus 'sockets and networks'
        pub terms: Vec<String> = list("TOPIC").flag("focus"),
        /// Keep only pages of at least this relevance to the topic, from 0 to 1
        ///
        /// All pages, since those off the topic lead to others. The links of pages below F are still followed.
        /// Example: --focus sockets --focus-min 0.3
        pub min_score: Option<Threshold> = value("F", "").flag("focus-min").note("all"),
        /// Share of URLs that a focused crawl fetches regardless of their rank
        ///
        /// One in twenty finds what lies behind unpromising pages and costs little.
        pub exploration: Threshold = value("F", "0.05"),
        /// Weight of each clue to the relevance of a link; clues not named keep their weight
        ///
        /// What a link says and what its siblings led to tells most; the page that it stands on tells least.
        pub weights: PartWeights = value("LIST", "anchor=1,around=0.5,heading=0.3,url=1,source=0.2,siblings=1,region=1"),
    }
}
