//! Options of the detector `fuzzy`.

use crate::model::{Term, Threshold};

/// `AC > 1`, the paper's threshold.
pub const DEFAULT_THRESHOLD: Threshold = match Threshold::from_millionths(500_000) {
    Some(threshold) => threshold,
    None => unreachable!(),
};

const DEFAULT_SENTENCE_THRESHOLD: Threshold = match Threshold::from_millionths(990_000) {
    Some(threshold) => threshold,
    None => unreachable!(),
};

const DEFAULT_CANDIDATES: Threshold = match Threshold::from_millionths(600_000) {
    Some(threshold) => threshold,
    None => unreachable!(),
};

/// Options of this detector only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuzzyOptions {
    /// Two sentences are related if `φ` is over this.
    pub sentence_threshold: Threshold,
    /// Pages whose words overlap less are not compared.
    pub candidates: Threshold,
    /// Two words are related only if so many articles hold both; 1 in the paper.
    pub least_together: u32,
    /// If not empty, only sentences with one of these terms count. Stemmed, as the terms of pages are.
    pub query: Vec<Term>,
    /// Whether pages are first compared word for word.
    pub copies_first: bool,
    /// Sentences of fewer distinct words do not count: buttons and links.
    pub least_words: usize,
    /// Sentences of more distinct words do not count; 0: no limit.
    pub most_words: usize,
    /// Whether pages known to be similar to another are compared no more.
    pub skip_known: bool,
    /// The most pages compared with a page; 0: no limit.
    pub first_results: usize,
}

impl Default for FuzzyOptions {
    fn default() -> Self {
        Self {
            sentence_threshold: DEFAULT_SENTENCE_THRESHOLD,
            candidates: DEFAULT_CANDIDATES,
            least_together: 2,
            query: Vec::new(),
            copies_first: true,
            least_words: 3,
            most_words: 100,
            skip_known: true,
            first_results: 0,
        }
    }
}

impl FuzzyOptions {
    /// Returns whether sentences of this many words count.
    pub(super) fn admits(&self, words: usize) -> bool {
        words > 0 && words >= self.least_words && (self.most_words == 0 || words <= self.most_words)
    }
}
