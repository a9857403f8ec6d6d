//! Compares two named pages of a collection: how similar are they, and are they duplicates?
//!
//! The decider serves a stream of pages. A [`Comparer`] serves an evaluation: the score of a named pair at any
//! threshold, without an index in between.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use super::detectors::{self, Measure};
use super::page_match::Page;
use super::records::LoggedPage;
use super::{Decider, DetectError, InMemory, Options, Vocabulary, Within};
use crate::model::{DecidedBy, Digest, Judged, PageId, PageInput, Score, Sequence, Threshold};

const ANY: Threshold = match Threshold::from_millionths(0) {
    Some(zero) => zero,
    None => panic!("0 is a threshold"),
};

/// The pages of a collection, any two of which can be compared as the decider would.
pub struct Comparer {
    options: Options,
    vocabulary: Vocabulary,
    /// `None` for the detector that compares nothing, and where a decider learns.
    measure: Option<Box<dyn Measure>>,
    /// Decides all pages, for a detector that learns other things from a near-duplicate than from a stored page.
    decider: Option<Decider<InMemory>>,
    pages: Vec<LearnedPage>,
    /// Pages that the detector has learned.
    learned: u32,
    /// Digests learned so far: detectors learn nothing from copies.
    bodies: HashSet<Digest>,
    texts: HashSet<Digest>,
}

struct LearnedPage {
    body_digest: Digest,
    text_digest: Option<Digest>,
    /// With all its terms.
    page: Page,
}

/// The result of comparing two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The similarity, whatever the threshold; 1 for exact copies.
    pub score: Score,
    /// The similarity by the detector's second check, if it has one.
    pub second: Option<Score>,
    /// The digest by which they are exact copies.
    pub copied: Option<DecidedBy>,
    /// Whether a score that is high enough makes a match: both pages have enough terms and pass the detector's other
    /// checks.
    pub is_eligible: bool,
    /// Whether they match under the comparer's options.
    pub is_match: bool,
}

impl Comparison {
    /// Creates the comparison of two pages of which only the score counts.
    pub fn by_score(score: Score, threshold: Threshold) -> Self {
        let comparison = Self { score, second: None, copied: None, is_eligible: true, is_match: false };
        Self { is_match: comparison.is_match_at(threshold), ..comparison }
    }

    /// Returns whether they would match at another threshold. At 0 some similarity is needed.
    pub fn is_match_at(&self, threshold: Threshold) -> bool {
        self.copied.is_some() || (self.is_eligible && self.score.0 >= threshold.millionths().max(1))
    }

    fn none() -> Self {
        Self { score: Score(0), second: None, copied: None, is_eligible: false, is_match: false }
    }
}

impl Comparer {
    /// Creates an empty comparer.
    pub fn new(options: Options) -> Self {
        let decider = options.has_second().then(|| Decider::in_memory(options.clone()));
        let (measure, pages) = (if decider.is_some() { None } else { detectors::build(&options) }, Vec::new());
        let (bodies, texts) = (HashSet::new(), HashSet::new());
        Self { options, vocabulary: Vocabulary::default(), measure, decider, pages, learned: 0, bodies, texts }
    }

    fn measure(&self) -> Option<&dyn Measure> {
        let decided = self.decider.as_ref().and_then(Decider::measure);
        decided.or(self.measure.as_deref())
    }

    /// Adds a page of the collection and returns its handle.
    ///
    /// Detectors that use statistics of the collection use those of all pages added, in their order.
    ///
    /// # Errors
    /// If the vocabulary is full, or no page number is left.
    pub fn learn(&mut self, candidate: PageInput) -> Result<usize, DetectError> {
        let learned = self.lesson(candidate)?;
        self.pages.push(learned);
        Ok(self.pages.len() - 1)
    }

    /// Adds a page to the statistics of the detector alone. It can't be compared.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn learn_from(&mut self, candidate: PageInput) -> Result<(), DetectError> {
        self.lesson(candidate).map(drop)
    }

    fn lesson(&mut self, candidate: PageInput) -> Result<LearnedPage, DetectError> {
        if let Some(decider) = &mut self.decider {
            let PageInput { group, body_digest, text_digest, .. } = candidate;
            // Pages of one name are other pages here.
            let page = PageId::new("comparer", "", self.learned);
            self.learned = self.learned.checked_add(1).ok_or(DetectError::PagesFull)?;
            let judged = decider.decide(vec![PageInput { page, ..candidate }])?;
            decider.settle()?;
            let Some(Judged { terms, order, .. }) = judged.into_iter().next() else { return Err(DetectError::Broken) };
            let page = LoggedPage { group, terms, least_weight: 0, order }.weighed(&self.options.weights);
            return Ok(LearnedPage { body_digest, text_digest, page });
        }
        let PageInput { group, body_digest, text_digest, terms, order, .. } = candidate;
        let (terms, _, order) = self.vocabulary.intern_page(terms, order)?;
        let page = LoggedPage { group, terms, least_weight: 0, order }.weighed(&self.options.weights);
        let number = Sequence(self.learned);
        self.learned = self.learned.checked_add(1).ok_or(DetectError::PagesFull)?;
        if let Some(measure) = &mut self.measure {
            let is_compared = page.record.len() >= self.options.min_terms;
            let text = text_digest.filter(|_| is_compared);
            let is_new = self.bodies.insert(body_digest) & text.is_none_or(|text| self.texts.insert(text));
            measure.learn(number, &page, is_new, is_compared && is_new);
        }
        Ok(LearnedPage { body_digest, text_digest, page })
    }

    /// Compares two pages: `a` as the stored one, `b` as the later one.
    ///
    /// # Panics
    /// If a handle is not from this comparer.
    pub fn compare(&self, a: usize, b: usize) -> Comparison {
        let (a, b) = (&self.pages[a], &self.pages[b]);
        if self.options.within == Within::Host && a.page.group != b.page.group {
            return Comparison::none();
        }
        let copied = self.copied(a, b);
        let mut comparison = Comparison { copied, ..self.compared(&a.page, &b.page) };
        if copied.is_some() {
            comparison.score = Score(Threshold::ONE);
        }
        Comparison { is_match: comparison.is_match_at(self.options.threshold), ..comparison }
    }

    fn copied(&self, a: &LearnedPage, b: &LearnedPage) -> Option<DecidedBy> {
        if a.body_digest == b.body_digest {
            return Some(DecidedBy::BodyDigest);
        }
        let same_text = b.text_digest.is_some() && a.text_digest == b.text_digest;
        (same_text && self.is_long_enough(&self.seen(&b.page))).then_some(DecidedBy::TextDigest)
    }

    fn compared(&self, a: &Page, b: &Page) -> Comparison {
        let Some(measure) = self.measure() else { return Comparison::none() };
        let (a, b) = (self.seen(a), self.seen(b));
        let Some(similarity) = measure.compare(&b, &a, ANY) else { return Comparison::none() };
        Comparison {
            score: similarity.score,
            second: similarity.second,
            is_eligible: self.is_long_enough(&a) && self.is_long_enough(&b),
            ..Comparison::none()
        }
    }

    /// Returns the page without the terms that the detector drops by its statistics.
    fn seen<'a>(&self, page: &'a Page) -> Cow<'a, Page> {
        match self.measure().map_or(0, |measure| measure.least_weight(&page.record)) {
            0 => Cow::Borrowed(page),
            least => Cow::Owned(Page { record: page.record.clone().without_lighter(least), ..page.clone() }),
        }
    }

    fn is_long_enough(&self, page: &Page) -> bool {
        page.record.len() >= self.options.min_terms
    }
}

impl fmt::Debug for Comparer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { options, vocabulary, pages, .. } = self;
        f.debug_struct("Comparer")
            .field("options", options)
            .field("terms", &vocabulary.len())
            .field("pages", &pages.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Detector, Field, FieldCounts, PageId, TermCounts, TermOrder};

    fn page(body: &str, text: Option<&str>) -> PageInput {
        let mut counts = FieldCounts::default();
        counts.add(Field::Body);
        let terms = body.split(' ').map(|term| TermCounts { term: term.into(), counts }).collect();
        let text_digest = text.map(|text| Digest::of(text.as_bytes()));
        PageInput {
            page: PageId::new("", body, 0),
            group: 0,
            body_digest: Digest::of(body.as_bytes()),
            text_digest,
            terms,
            order: TermOrder::default(),
            renews: None,
            rank: 0,
        }
    }

    fn compared(min_terms: usize, detector: Detector, a: PageInput, b: PageInput) -> Comparison {
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
