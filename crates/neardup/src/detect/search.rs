//! Queries to the index: for one page, or for several on all cores.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::decision_log::DecisionLog;
use super::detectors::{OwnText, TextBitmap};
use super::exact_duplicates::ExactDuplicates;
use super::matching::{MatchCollector, MatchQuery, StoredPages};
use super::page_match::Match;
use super::page_match::Page;
use super::records::{RecordSource, Records};
use super::text_bitmaps::TextBitmaps;
use super::{DetectError, Mode};
use crate::index::{Candidate, CandidateIndex, ProbeCounters, Scratch};
use crate::model::{Score, Sequence, TermId, Threshold};

/// One part in so many of the memory of a search is for bitmaps.
const BITMAPS_SHARE: usize = 4;
/// With fewer records, a query takes less time than waking another core.
const WORTH_A_THREAD: usize = if cfg!(test) { 4 } else { 10_000 };

/// The stored records, ready for queries.
pub(super) struct Search<S> {
    index: Box<dyn CandidateIndex>,
    copies: ExactDuplicates,
    records: Mutex<Records<S>>,
    bitmaps: TextBitmaps,
    /// One for each thread.
    scratches: Vec<Scratch>,
    /// Lent to queries that share the index.
    spare_scratches: Mutex<Vec<Scratch>>,
    pub(super) probes: u64,
    pub(super) counters: ProbeCounters,
}

/// The page of a query.
#[derive(Clone, Copy)]
pub(super) struct QueryPage<'a> {
    pub(super) group: u32,
    pub(super) page: &'a Page,
}

/// Records stored since the first part of a search; beyond, the whole index is searched again, which takes less time
/// than that many sketches.
const MOST_SINCE: usize = if cfg!(test) { 6 } else { 2_000 };

/// The result of a query so far.
#[derive(Clone, Debug)]
pub(super) struct SearchResult {
    collector: MatchCollector,
    counters: ProbeCounters,
    /// [`Measure::own_text`](super::detectors::Measure::own_text) of the page, once another is compared with it.
    own_text: OnceLock<OwnText>,
    /// Records that the index held at the last query.
    seen: Option<usize>,
}

impl<S: RecordSource> Search<S> {
    pub(super) fn new(index: Box<dyn CandidateIndex>, records: Records<S>, threads: usize) -> Self {
        let scratches = std::iter::repeat_with(Scratch::default).take(threads.max(1)).collect();
        let counters = ProbeCounters::default();
        let (copies, bitmaps) = (ExactDuplicates::default(), TextBitmaps::default());
        let (records, spare_scratches) = (Mutex::new(records), Mutex::default());
        Self { index, copies, records, bitmaps, scratches, spare_scratches, probes: 0, counters }
    }

    pub(super) fn index(&self) -> &dyn CandidateIndex {
        &*self.index
    }

    pub(super) fn records(&mut self) -> &mut Records<S> {
        self.records.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stored page; the index gets `filtered`.
    pub(super) fn insert(
        &mut self,
        sequence: Sequence,
        page: &Page,
        filtered: &[(TermId, u32)],
        bitmap: Option<TextBitmap<'_>>,
    ) {
        self.index.insert(sequence, filtered);
        self.bitmaps.insert(sequence, bitmap);
        self.copies.insert(&page.record, sequence);
    }

    /// Returns whether a stored record most likely holds the same terms: then searching ahead does not pay.
    pub(super) fn has_copy(&self, page: &Page) -> bool {
        self.copies.find(&page.record).is_some()
    }

    /// Returns the memory of lists, sketches and hashes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.copies.bytes() + self.bitmaps.bytes()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.copies.save(out)?;
        self.index.save(out)
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.copies = ExactDuplicates::load(input)?;
        self.bitmaps.clear();
        self.index.load(input)
    }

    pub(super) fn set_memory_limit(&mut self, bytes: usize) {
        let for_bitmaps = bytes / BITMAPS_SHARE;
        self.bitmaps.set_memory_limit(for_bitmaps);
        self.index.set_memory_limit(bytes - for_bitmaps);
    }

    pub(super) fn set_threads(&mut self, threads: usize) {
        self.scratches.resize_with(threads.max(1), Scratch::default);
    }

    pub(super) fn file_records(&mut self) {
        self.index.file_records();
    }

    /// Returns whether a search may be made in two parts.
    pub(super) fn can_split(&self) -> bool {
        self.index.can_split_probes()
    }

    /// Returns whether searching ahead for several pages pays: the index must be large and its probes divisible.
    pub(super) fn can_search_ahead(&self) -> bool {
        self.scratches.len() > 1 && self.can_split() && self.index.len() >= WORTH_A_THREAD
    }

    /// Searches for several pages at once, on all cores; [`find_matches`](Self::find_matches) then adds what was stored since.
    ///
    /// Returns `None` for fewer than two pages.
    pub(super) fn search_ahead(
        &mut self,
        query: &MatchQuery<'_>,
        pages: &[QueryPage<'_>],
        log: &DecisionLog,
    ) -> Result<Option<Vec<SearchResult>>, DetectError> {
        let threads = self.scratches.len().min(pages.len());
        if threads < 2 {
            return Ok(None);
        }
        let (index, next) = (&*self.index, AtomicUsize::new(0));
        let stored = StoredPages { records: &self.records, bitmaps: &self.bitmaps };
        let work = |scratch: &mut Scratch| {
            let mut results = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(page) = pages.get(number) else { return results };
                let mut result = SearchResult::new(query, page.page);
                let extended = result.extend(index, stored, scratch, query, *page, log);
                results.push((number, extended.map(|()| result)));
            }
        };
        let (first, others) = self.scratches[..threads].split_at_mut(1);
        let mut results = std::thread::scope(|scope| {
            let others: Vec<_> = others.iter_mut().map(|scratch| scope.spawn(|| work(scratch))).collect();
            let mut results = work(&mut first[0]);
            for other in others {
                match other.join() {
                    Ok(found) => results.extend(found),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            results
        });
        results.sort_unstable_by_key(|(number, _)| *number);
        results.into_iter().map(|(_, result)| result).collect::<Result<_, _>>().map(Some)
    }

    /// Returns the matches of a page, by rank; a stored record with the same terms comes first.
    ///
    /// With an `early` result, only records that came since are searched.
    pub(super) fn find_matches(
        &mut self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
        early: Option<SearchResult>,
    ) -> Result<Vec<Match>, DetectError> {
        let mut result = early.unwrap_or_else(|| SearchResult::new(query, page.page));
        if let Some(copied) = self.find_copy(query, page, log)? {
            result = copied;
        }
        // Not `stored`: the scratch is lent, too.
        let stored = StoredPages { records: &self.records, bitmaps: &self.bitmaps };
        result.extend(&*self.index, stored, &mut self.scratches[0], query, page, log)?;
        for (page, bitmap) in result.collector.take_bitmaps() {
            self.bitmaps.insert(page, Some(bitmap));
        }
        self.probes += 1;
        self.counters.add(result.counters);
        self.counters.verifications += result.collector.verifications;
        self.choose_matches(query, page, result.collector.into_matches())
    }

    /// Returns the matches of a page, by rank. Counts nothing, so that threads can share the index.
    pub(super) fn find_shared(
        &self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<Vec<Match>, DetectError> {
        let result = self.search_shared(query, page, log)?;
        self.choose_matches(query, page, result.collector.into_matches())
    }

    /// Searches for one page so that threads can share the index; [`find_matches`](Self::find_matches) then adds what
    /// was stored since.
    pub(super) fn search_shared(
        &self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<SearchResult, DetectError> {
        let spare = || self.spare_scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = spare().pop().unwrap_or_default();
        let mut result = SearchResult::new(query, page.page);
        result.extend(&*self.index, self.stored(), &mut scratch, query, page, log)?;
        spare().push(scratch);
        Ok(result)
    }

    /// Returns the matches that remain when the detector compares all of them together.
    fn choose_matches(
        &self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        matches: Vec<Match>,
    ) -> Result<Vec<Match>, DetectError> {
        if !query.measure.needs_all_matches() || matches.is_empty() {
            return Ok(matches);
        }
        let stored = |found: Match| Ok((found, super::records::get(&self.records, found.of)?));
        Ok(query.measure.choose(page.page, matches.into_iter().map(stored).collect::<Result<_, DetectError>>()?))
    }
}

impl<S: RecordSource> Search<S> {
    fn stored(&self) -> StoredPages<'_, S> {
        StoredPages { records: &self.records, bitmaps: &self.bitmaps }
    }

    /// With [`Mode::Any`], returns the match with a stored record of the same terms.
    fn find_copy(
        &self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<Option<SearchResult>, DetectError> {
        let copy = self
            .copies
            .find(&page.page.record)
            .filter(|id| log.is_compared(*id, page.group))
            .filter(|_| query.mode == Mode::Any);
        let Some(id) = copy else { return Ok(None) };
        let mut result = SearchResult::new(query, page.page);
        let candidate = Candidate { id, at_most: Score(Threshold::ONE) };
        let _ = result.collector.compare(query, page.page, candidate, self.stored(), &result.own_text)?;
        Ok(result.collector.is_complete(query).then_some(result))
    }
}

impl SearchResult {
    fn new(query: &MatchQuery<'_>, page: &Page) -> Self {
        Self {
            collector: query.collector(page),
            counters: ProbeCounters::default(),
            own_text: OnceLock::new(),
            seen: None,
        }
    }

    /// Adds the matches among records that the index did not hold before.
    fn extend<S: RecordSource>(
        &mut self,
        index: &dyn CandidateIndex,
        stored: StoredPages<'_, S>,
        scratch: &mut Scratch,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<(), DetectError> {
        let mut seen = self.seen.replace(index.len());
        if self.collector.is_complete(query) || seen == self.seen {
            return Ok(());
        }
        if seen.is_some_and(|seen| index.len() - seen > MOST_SINCE) {
            self.collector = query.collector(page.page);
            seen = None;
        }
        let measure = query.measure;
        let (bar, terms) = (measure.lower_bound(self.collector.bar()), measure.filtered(page.page));
        let mut failed = None;
        let (collector, own_text) = (&mut self.collector, &self.own_text);
        let sieve = |pages: &[Sequence], kept: &mut Vec<bool>| {
            let own_text = own_text.get_or_init(|| measure.own_text(page.page));
            stored.bitmaps.touch(pages);
            kept.extend(pages.iter().map(|&other| {
                let bitmap = stored.bitmaps.get(other);
                bitmap.is_none_or(|bitmap| !measure.shares_too_little(page.page, own_text, &bitmap))
            }));
        };
        let mut visit = |candidate: Candidate| {
            if !log.is_compared(candidate.id, page.group) {
                return ControlFlow::Continue(measure.lower_bound(collector.bar()));
            }
            let compared = collector.compare(query, page.page, candidate, stored, own_text).unwrap_or_else(|error| {
                failed = Some(error);
                ControlFlow::Break(())
            });
            match compared {
                ControlFlow::Continue(bar) => ControlFlow::Continue(measure.lower_bound(bar)),
                ControlFlow::Break(()) => ControlFlow::Break(()),
            }
        };
        self.counters.add(match seen {
            None => index.probe_sieved(scratch, &terms, bar, &sieve, &mut visit),
            Some(from) => index.probe_since(scratch, from, &terms, bar, &mut visit),
        });
        failed.map_or(Ok(()), Err)
    }
}
