//! What a run of `dedup` is told.

use std::sync::Arc;

use ndcrawl_engine::documents;
use ndcrawl_engine::pipeline::{ContentReader, ReferenceCrawls};
use ndcrawl_model::{KeepRule, named};
use neardup::detect;
use pagetext::PageReader;

use super::input::{Inputs, Options as InputOptions};
use super::rendering::Reading;

/// Everything that a run needs to begin.
#[allow(missing_docs)]
pub struct DedupSetup {
    pub inputs: Inputs,
    pub input: InputOptions,
    pub detect: detect::Options,
    /// Pages of earlier crawls, to compare with.
    pub against: Option<Arc<ReferenceCrawls>>,
    pub renderer: PageReader,
    /// Who reads PDF, if anybody does.
    pub documents: Option<documents::Options>,
    /// Media types that are pages.
    pub accepts: Box<dyn Fn(&str) -> bool + Sync>,
    /// Pages after which an index snapshot is written.
    pub snapshot_after: u32,
    pub obey_noarchive: bool,
    pub keep_duplicates: bool,
    /// Which copy of a cluster is kept in the end.
    pub keep_rule: KeepRule,
    /// Whether the text of near-duplicates is archived.
    pub keep_text: bool,
    pub same_url: SameUrl,
}

impl DedupSetup {
    /// Returns what is read with `content`, and how.
    pub(super) fn reading<'a>(&'a self, content: &'a ContentReader) -> Reading<'a> {
        Reading { inputs: &self.inputs, options: &self.input, accepts: &*self.accepts, content }
    }
}

named! {
    /// Which captures of one URL are documents.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SameUrl {
        /// Each.
        Keep = "keep",
        /// The first one in the input.
        #[default]
        First = "first",
        /// The last one in the input, which is read once more for that.
        Last = "last",
    }
}

impl SameUrl {
    /// Returns the number under which the `turn`th capture of `all` is decided; `None` to pass it over.
    pub(super) fn choose(self, turn: u32, all: u32) -> Option<u32> {
        match self {
            Self::Keep => Some(turn),
            Self::First => (turn == 1).then_some(1),
            Self::Last => (turn == all).then_some(1),
        }
    }
}
