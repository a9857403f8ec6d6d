//! Pairs that someone else has found: the decision without an index.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use super::log::LogEntry;
use super::{Counted, Deduplicator, Error, WordDifference};
use crate::detect::NumberedPage;
use crate::model::{Digest, PageId, PageTerms, RunningText, Score, Threshold};

/// The decision about a document, given one that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairVerdict {
    /// Whether the document is a duplicate of the kept one.
    pub is_duplicate: bool,
    /// Whether both have the same text, white space folded, or the same weighted terms.
    pub is_exact: bool,
    /// The similarity of weights, in [0, 1], rounded down to millionths, whatever the threshold; 1 for exact duplicates.
    pub score: Score,
    /// What each says for itself; `None` where weights alone are compared.
    pub difference: Option<WordDifference>,
}

impl<K: Clone + Eq + Hash> Deduplicator<K> {
    /// Decides about a document as if `kept` were the only kept one. Neither is taken in.
    ///
    /// What is common text is known from the documents that were taken in; without any, all words are a document's own.
    /// The verdict is that of [`insert`](Self::insert) wherever that compares these two.
    pub fn judge_counted(&self, kept: &Counted, document: &Counted) -> PairVerdict {
        let mut new = HashMap::new();
        let mut page = |counted: &Counted| {
            let terms = counted.looked_up(&self.counter.vocabulary, &mut new);
            page(counted.digest, terms, counted.text.clone())
        };
        self.judge_pages(&page(kept), &page(document))
    }

    /// As [`judge_counted`](Self::judge_counted), of two documents that were inserted, kept or not.
    ///
    /// # Errors
    /// [`Error::UnknownKey`].
    pub fn judge(&self, kept: &K, document: &K) -> Result<PairVerdict, Error>
    where
        K: Debug,
    {
        let logged = |key: &K| {
            let LogEntry { digest, terms, text, .. } = self.entry(key)?;
            Ok::<_, Error>(page(digest, terms, text))
        };
        Ok(self.judge_pages(&logged(kept)?, &logged(document)?))
    }

    fn judge_pages(&self, kept: &NumberedPage, document: &NumberedPage) -> PairVerdict {
        let is_exact = kept.body_digest == document.body_digest;
        let compared = self.decider.compare_numbered(kept, document);
        PairVerdict {
            is_duplicate: is_exact || compared.is_match,
            is_exact,
            score: if is_exact { Score(Threshold::ONE) } else { compared.score },
            difference: compared.difference.map(WordDifference::from),
        }
    }
}

fn page(body_digest: Digest, terms: PageTerms, text: RunningText) -> NumberedPage {
    NumberedPage { page: PageId::new("", "", 0), body_digest, terms, text }
}
