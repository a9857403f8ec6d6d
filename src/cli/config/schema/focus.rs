//! Keys of a crawl focused on a topic.

use super::{Shape, table};
use crate::model::{PartWeights, Threshold};

table! {
    /// The topic of a focused crawl.
    pub struct Focus: focus {
        /// Fetch pages on TOPIC first: words, @FILE, or the URL of an example page (repeatable)
        pub terms: Vec<String> = key(Shape::List("TOPIC"), "")
            .because("No topic: the pages nearest to the seeds come first.")
            .example("--focus 'sockets and networks'")
            .flag("focus"),
        /// Keep only pages of at least this relevance to the topic, from 0 to 1
        pub min_score: Option<Threshold> = key(Shape::Value("F"), "")
            .because("All pages, since those off the topic lead to others. The links of pages below F are still \
                followed.")
            .example("--focus sockets --focus-min 0.3")
            .flag("focus-min")
            .note("all"),
        /// Share of URLs that a focused crawl fetches regardless of their rank
        pub exploration: Threshold = key(Shape::Value("F"), "0.05")
            .because("One in twenty finds what lies behind unpromising pages and costs little."),
        /// Weight of each clue to the relevance of a link; clues not named keep their weight
        pub weights: PartWeights = key(Shape::Value("LIST"), "anchor=1,around=0.5,heading=0.3,url=1,source=0.2,siblings=1,region=1")
            .because("What a link says and what its siblings led to tells most; the page that it stands on tells \
                least."),
    }
}
