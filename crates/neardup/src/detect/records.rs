//! Reads stored records back when they must be compared.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use super::DetectError;
use super::numbering::Numbering;
use super::page_match::Page;
use crate::model::{FieldWeights, PageTerms, Sequence, TermOrder};
use crate::similarity::Record;

/// Terms in one generation of the cache: 2²⁰, that is 8 MiB; there are two generations.
const GENERATION_TERMS: usize = 1 << 20;

/// Reads the records of committed pages back.
///
/// The decider asks only for pages that were reported as [committed](super::Decider::committed) or restored: unique
/// ones, and near-duplicates when it checks its verdicts again. It also asks for [seeded](super::Decider::seed)
/// pages, by [their numbers](Sequence::of_earlier).
pub trait RecordSource: Send {
    /// Why a record could not be read.
    type Error: Error + Send + Sync + 'static;

    /// Returns what the log holds of a decided page.
    ///
    /// # Errors
    /// If the page can't be read or does not exist.
    fn page(&self, page: Sequence) -> Result<LoggedPage, Self::Error>;
}

/// What the log holds of a decided page for the detectors. The fields are those of
/// [`JudgedPage`](crate::model::JudgedPage).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LoggedPage {
    pub group: u32,
    pub terms: PageTerms,
    pub least_weight: u32,
    pub order: TermOrder,
}

impl LoggedPage {
    /// Returns the page as detectors see it.
    pub(super) fn weighed(self, weights: &FieldWeights) -> Page {
        let record = Record::from_counts(&self.terms, weights).without_lighter(self.least_weight);
        Page { group: self.group, record, order: self.order }
    }
}

/// No log: all records stay in memory.
///
/// Its reads fail. The decider makes none unless [`committed`](super::Decider::committed) was called or a page was
/// restored.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

/// A record was requested from [`InMemory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no log from which to read it; do not report pages as committed without one")]
pub struct NoLog;

impl RecordSource for InMemory {
    type Error = NoLog;

    fn page(&self, _: Sequence) -> Result<LoggedPage, NoLog> {
        Err(NoLog)
    }
}

/// The stored records: those not yet committed in memory, the others from the source through a bounded cache.
#[derive(Debug)]
pub(super) struct Records<S> {
    source: S,
    pub(super) numbering: Numbering,
    weights: FieldWeights,
    /// Records not yet committed, ascending, and whether later pages are compared with them.
    pending: VecDeque<(Sequence, Arc<Page>, bool)>,
    cache: Cache,
}

impl<S: RecordSource> Records<S> {
    pub(super) fn new(source: S, weights: FieldWeights) -> Self {
        Self { source, numbering: Numbering::default(), weights, pending: VecDeque::new(), cache: Cache::default() }
    }

    /// Keeps a record until it is committed; then in the cache, if later pages are compared with it. Pages must
    /// ascend.
    pub(super) fn insert(&mut self, page: Sequence, weighed: Arc<Page>, is_compared: bool) {
        self.pending.push_back((page, weighed, is_compared));
    }

    /// Reports that all pages below `up_to` can be read from the source.
    pub(super) fn committed(&mut self, up_to: Sequence) {
        let committed = self.pending.partition_point(|(page, ..)| *page < up_to);
        for (page, weighed, is_compared) in self.pending.drain(..committed) {
            if is_compared {
                self.cache.insert(page, weighed);
            }
        }
    }

    /// Returns a decided page.
    pub(super) fn get(&mut self, page: Sequence) -> Result<Arc<Page>, DetectError> {
        if let Ok(place) = self.pending.binary_search_by_key(&page, |(page, ..)| *page) {
            return Ok(Arc::clone(&self.pending[place].1));
        }
        if let Some(weighed) = self.cache.get(page) {
            return Ok(weighed);
        }
        let sequence = self.numbering.outside(page);
        let source = |source| DetectError::Source { sequence, source: Box::new(source) };
        let weighed = Arc::new(self.source.page(sequence).map_err(source)?.weighed(&self.weights));
        self.cache.insert(page, Arc::clone(&weighed));
        Ok(weighed)
    }
}

/// Returns a stored page, for threads that share the records.
pub(super) fn get<S: RecordSource>(records: &Mutex<Records<S>>, page: Sequence) -> Result<Arc<Page>, DetectError> {
    // A lookup fills the cache or leaves it as it is, so a panic in another thread does no harm.
    records.lock().unwrap_or_else(PoisonError::into_inner).get(page)
}

/// Recently used records, in two generations.
///
/// When the younger generation is full it replaces the older one. A used record moves to the younger.
#[derive(Debug, Default)]
struct Cache {
    younger: HashMap<Sequence, Arc<Page>>,
    elder: HashMap<Sequence, Arc<Page>>,
    /// Size of the younger generation, in terms ([`Page::size`]).
    terms: usize,
}

impl Cache {
    fn get(&mut self, page: Sequence) -> Option<Arc<Page>> {
        if let Some(weighed) = self.younger.get(&page) {
            return Some(Arc::clone(weighed));
        }
        let weighed = self.elder.remove(&page)?;
        self.insert(page, Arc::clone(&weighed));
        Some(weighed)
    }

    fn insert(&mut self, page: Sequence, weighed: Arc<Page>) {
        // One for the entry, so that the number of short records is bounded too.
        let terms = weighed.size() + 1;
        if self.terms + terms > GENERATION_TERMS {
            self.elder = std::mem::take(&mut self.younger);
            self.terms = 0;
        }
        self.terms += terms;
        self.younger.insert(page, weighed);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::model::{FieldCounts, TermId};

    /// Page n has one term, n. Counts its reads.
    #[derive(Debug, Default)]
    struct Counting {
        asked: Cell<usize>,
    }

    impl RecordSource for Counting {
        type Error = std::io::Error;

        fn page(&self, page: Sequence) -> Result<LoggedPage, std::io::Error> {
            self.asked.set(self.asked.get() + 1);
            if page.0 == 13 {
                return Err(std::io::Error::other("unreadable"));
            }
            let terms = PageTerms::new(vec![(TermId(page.0), FieldCounts([0, 0, 0, 0, 0, 0, 0, 1]))]);
            Ok(LoggedPage { terms, ..LoggedPage::default() })
        }
    }

    fn records() -> Records<Counting> {
        Records::new(Counting::default(), FieldWeights::default())
    }

    fn of_terms(terms: u32) -> Arc<Page> {
        let record = Record::new((0..terms).map(|term| (TermId(term), 1)).collect());
        Arc::new(Page { group: 0, record, order: TermOrder::default() })
    }

    #[test]
    fn what_is_not_committed_is_never_asked_of_the_source() {
        let mut records = records();
        (0..10).for_each(|page| records.insert(Sequence(page * 2), of_terms(page + 1), true));
        assert_eq!(records.get(Sequence(8)).unwrap().record.len(), 5);
        records.committed(Sequence(8));
        assert_eq!(records.pending.len(), 6, "the page of the mark itself is not committed");
        assert_eq!(records.get(Sequence(6)).unwrap().record.len(), 4);
        assert_eq!(records.source.asked.get(), 0, "committed records are still in the cache");
    }

    #[test]
    fn a_record_is_read_once_while_it_is_in_use() {
        let mut records = records();
        for _ in 0..3 {
            assert_eq!(records.get(Sequence(7)).unwrap().record.terms(), [(TermId(7), 100)]);
        }
        assert_eq!(records.source.asked.get(), 1);
    }

    #[test]
    fn an_unreadable_record_is_an_error_that_names_the_page() {
        let error = records().get(Sequence(13)).unwrap_err();
        assert!(matches!(error, DetectError::Source { sequence: Sequence(13), .. }), "{error}");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("unreadable"));
    }

    #[test]
    fn the_cache_is_bounded_and_keeps_what_is_used() {
        let mut cache = Cache::default();
        cache.insert(Sequence(0), of_terms(1));
        for page in 1..200 {
            cache.insert(Sequence(page), of_terms(100_000));
            assert!(cache.get(Sequence(0)).is_some());
        }
        let held: usize = cache.younger.values().chain(cache.elder.values()).map(|page| page.record.len()).sum();
        assert!(held <= 2 * GENERATION_TERMS);
        assert!(cache.get(Sequence(1)).is_none());
    }
}
