//! Two pages of a collection, compared: how similar, and would one be a duplicate of the other?
//!
//! The decider answers what a stream of pages needs; this answers what an evaluation needs: the
//! score of a named pair at any threshold, without a filter between.

use super::{DetectError, Options, Vocabulary, Within};
use crate::record::{Candidate, DecidedBy, Detector, Digest, Score, Threshold};
use crate::verify::{Record, score};

/// Holds the pages of a collection and compares any two of them as the decider would.
#[derive(Debug)]
pub struct Comparer {
    options: Options,
    vocabulary: Vocabulary,
    pages: Vec<Learnt>,
}

#[derive(Debug)]
struct Learnt {
    group: u32,
    body_digest: Digest,
    text_digest: Option<Digest>,
    record: Record,
}

/// What is to be said of two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// How similar the two are, looked at with threshold 0; 1 if they are exact copies.
    pub score: Score,
    /// By which digest they are exact copies.
    pub copied: Option<DecidedBy>,
    /// Whether a score that is high enough makes a match: both pages have enough terms, and all
    /// conditions of the detector are met but for the threshold.
    pub is_eligible: bool,
    /// Whether they match under the comparer's options.
    pub is_match: bool,
}

impl Comparison {
    /// What is to be said of two pages of which only a score counts.
    pub fn by_score(score: Score, threshold: Threshold) -> Self {
        let comparison = Self { score, copied: None, is_eligible: true, is_match: false };
        Self { is_match: comparison.is_match_at(threshold), ..comparison }
    }

    /// Whether they would match at another threshold. At 0 some similarity is needed.
    pub fn is_match_at(&self, threshold: Threshold) -> bool {
        self.copied.is_some() || (self.is_eligible && self.score.0 >= threshold.millionths().max(1))
    }
}

impl Comparer {
    /// A comparer that holds no page yet.
    pub fn new(options: Options) -> Self {
        Self { options, vocabulary: Vocabulary::default(), pages: Vec::new() }
    }

    /// Takes a page of the collection in, and answers its handle. Where a detector goes by
    /// statistics of the collection, these are over all pages that were taken in.
    ///
    /// # Errors
    /// If the vocabulary is full.
    pub fn learn(&mut self, candidate: Candidate) -> Result<usize, DetectError> {
        let Candidate { group, body_digest, text_digest, terms, .. } = candidate;
        let (terms, _) = self.vocabulary.intern_page(terms)?;
        let record = Record::from_counts(&terms, &self.options.weights);
        self.pages.push(Learnt { group, body_digest, text_digest, record });
        Ok(self.pages.len() - 1)
    }

    /// Compares two pages: `a` as the stored one, `b` as the one that comes later.
    ///
    /// # Panics
    /// If a handle is not from this comparer.
    pub fn compare(&self, a: usize, b: usize) -> Comparison {
        let (a, b) = (&self.pages[a], &self.pages[b]);
        if self.options.within == Within::Host && a.group != b.group {
            return Comparison { score: Score(0), copied: None, is_eligible: false, is_match: false };
        }
        let copied = self.copied(a, b);
        let is_eligible = self.is_comparable(&a.record) && self.is_comparable(&b.record);
        let score = match copied {
            Some(_) => Score(Threshold::ONE),
            None if self.options.detector == Detector::None => Score(0),
            None => score(&a.record, &b.record),
        };
        let comparison = Comparison { score, copied, is_eligible, is_match: false };
        Comparison { is_match: comparison.is_match_at(self.options.threshold), ..comparison }
    }

    fn copied(&self, a: &Learnt, b: &Learnt) -> Option<DecidedBy> {
        if a.body_digest == b.body_digest {
            return Some(DecidedBy::BodyDigest);
        }
        let same_text = b.text_digest.is_some() && a.text_digest == b.text_digest;
        (same_text && self.is_long_enough(&b.record)).then_some(DecidedBy::TextDigest)
    }

    fn is_comparable(&self, record: &Record) -> bool {
        self.options.detector != Detector::None && !record.is_empty() && self.is_long_enough(record)
    }

    fn is_long_enough(&self, record: &Record) -> bool {
        record.len() >= self.options.min_terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Field, FieldCounts, PageId, TermCounts};

    fn page(body: &str, text: Option<&str>) -> Candidate {
        let mut counts = FieldCounts::default();
        counts.add(Field::Body);
        let terms = body.split(' ').map(|term| TermCounts { term: term.into(), counts }).collect();
        let text_digest = text.map(|text| Digest::of(text.as_bytes()));
        Candidate {
            page: PageId::new("", body, 0),
            group: 0,
            body_digest: Digest::of(body.as_bytes()),
            text_digest,
            terms,
        }
    }

    fn compared(min_terms: usize, detector: Detector, a: Candidate, b: Candidate) -> Comparison {
        let mut comparer = Comparer::new(Options { min_terms, detector, ..Options::default() });
        let (a, b) = (comparer.learn(a).unwrap(), comparer.learn(b).unwrap());
        comparer.compare(a, b)
    }

    #[test]
    fn a_score_decides_from_the_threshold_up() {
        let found = compared(1, Detector::Mwo, page("a b c d e", None), page("a b c d f", None));
        assert_eq!((found.score, found.copied, found.is_match), (Score(800_000), None, true));
        assert!(!found.is_match_at(Threshold::from_millionths(800_001).unwrap()));
        let none = compared(1, Detector::Mwo, page("a b", None), page("c d", None));
        assert!(!none.is_match_at(Threshold::from_millionths(0).unwrap()));
    }

    #[test]
    fn short_pages_match_by_their_bytes_only() {
        let same_text = compared(3, Detector::Mwo, page("a b", Some("x")), page("b a", Some("x")));
        assert_eq!((same_text.score, same_text.is_match), (Score(1_000_000), false));
        let same_bytes = compared(3, Detector::Mwo, page("a b", None), page("a b", None));
        assert_eq!((same_bytes.copied, same_bytes.is_match), (Some(DecidedBy::BodyDigest), true));
    }

    #[test]
    fn the_same_text_is_a_copy_even_without_a_detector() {
        let copied = compared(2, Detector::None, page("a b c", Some("x")), page("b a d", Some("x")));
        assert_eq!((copied.copied, copied.score), (Some(DecidedBy::TextDigest), Score(1_000_000)));
        let other = compared(2, Detector::None, page("a b c", Some("x")), page("a b c d", Some("y")));
        assert_eq!((other.score, other.is_match), (Score(0), false));
    }
}
