//! The values that detectors, records and searches share: pages, similarities and matches.

use serde::{Deserialize, Serialize};

use crate::model::{Difference, Score, Sequence, TermOrder};
use crate::similarity::Record;

/// A page as detectors see it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The page's group (its host), an opaque number.
    pub group: u32,
    /// Its weighted terms.
    pub record: Record,
    /// The order of its terms, as far as the detector needs it; terms by id.
    pub order: TermOrder,
}

impl Page {
    /// Returns the size in terms, for the cache: two words of the text count as one term.
    pub(super) fn size(&self) -> usize {
        let in_sentences: usize = self.order.sentences.iter().map(Vec::len).sum();
        self.record.len() + (self.order.text.words.len() + in_sentences) / 2
    }
}

/// The similarity of two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Similarity {
    /// By the detector's measure.
    pub score: Score,
    /// By the detector's second check, if that gives a score.
    pub second: Option<Score>,
    /// What either page says for itself and the other does not; `None` if only weights were compared.
    pub difference: Option<Difference>,
}

/// A stored page that reaches the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// The stored page.
    pub of: Sequence,
    /// Its similarity.
    pub score: Score,
    /// By the detector's second check, if that gives a score.
    pub second: Option<Score>,
    /// What either page says for itself and the other does not; `None` if only weights were compared.
    pub difference: Option<Difference>,
}

/// How many matches to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The first one found: which one depends on the index and the pages before only. Fastest, above all
    /// where pages have many near-duplicates.
    #[default]
    Any,
    /// The most similar one; of equal scores the page with the smallest number. It depends on the stored records
    /// only, so every exact index gives the same.
    Best,
    /// All, ranked by falling score, then by rising number: the paper's optimal set.
    All,
}
