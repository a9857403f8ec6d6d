//! Queries to the index: for one page, or for several on all cores.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::decision_log::DecisionLog;
use super::detectors::{Measure, PreparedText};
use super::exact_duplicates::ExactDuplicates;
use super::matching::{MatchCollector, MatchQuery};
use super::page_match::Match;
use super::page_match::Page;
use super::records::{RecordSource, Records};
use super::{DetectError, Mode, Options, Tuning};
use crate::index::{Candidate, CandidateIndex, ProbeCounters, RunIndex, Scratch};
use crate::model::{Score, Sequence, Threshold};

/// The stored records, ready for queries.
pub(super) struct Search<S> {
    index: Box<dyn CandidateIndex>,
    /// Pages that are found by runs of words instead.
    runs: RunIndex,
    /// Common runs of the detector that have left `runs`.
    unfiled: usize,
    copies: ExactDuplicates,
    records: Mutex<Records<S>>,
    /// One for each thread.
    scratches: Vec<Scratch>,
    tuning: Tuning,
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

/// What is searched, and how.
#[derive(Clone, Copy)]
struct Indexes<'a> {
    words: &'a dyn CandidateIndex,
    runs: &'a RunIndex,
    tuning: Tuning,
}

/// The result of a query so far.
#[derive(Clone, Debug)]
pub(super) struct SearchResult {
    collector: MatchCollector,
    counters: ProbeCounters,
    /// [`Measure::prepare`] of the page, once another is compared with it.
    prepared: OnceLock<PreparedText>,
    /// Records that the index held at the last query.
    seen: Option<usize>,
}

impl<S: RecordSource> Search<S> {
    pub(super) fn new(options: &Options, records: Records<S>, threads: usize) -> Self {
        let (index, tuning) = (options.filter.build(), options.tuning);
        let scratches = std::iter::repeat_with(Scratch::default).take(threads.max(1)).collect();
        let counters = ProbeCounters::default();
        let (copies, runs) = (ExactDuplicates::default(), RunIndex::default());
        let (records, spare_scratches) = (Mutex::new(records), Mutex::default());
        Self { index, runs, unfiled: 0, copies, records, scratches, tuning, spare_scratches, probes: 0, counters }
    }

    pub(super) fn index(&self) -> &dyn CandidateIndex {
        &*self.index
    }

    pub(super) fn records(&mut self) -> &mut Records<S> {
        self.records.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stored page, given what the measure made of it, if anything.
    pub(super) fn insert(
        &mut self,
        sequence: Sequence,
        page: &Page,
        measure: &dyn Measure,
        prepared: Option<PreparedText>,
    ) {
        match measure.filed_under(page, &prepared.unwrap_or_else(|| measure.prepare(page))) {
            Some(runs) => self.runs.insert(sequence, &runs),
            None => self.index.insert(sequence, &measure.filtered(page)),
        }
        self.copies.insert(&page.record, sequence);
    }

    /// Returns the number of stored pages that others are compared with.
    pub(super) fn len(&self) -> usize {
        self.index.len() + self.runs.len()
    }

    /// Returns whether a stored record most likely holds the same terms: then searching ahead does not pay.
    pub(super) fn has_copy(&self, page: &Page) -> bool {
        self.copies.find(&page.record).is_some()
    }

    /// Returns the memory of lists, sketches and hashes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.runs.bytes() + self.copies.bytes()
    }

    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.copies.save(out)?;
        self.runs.save(out)?;
        self.index.save(out)
    }

    pub(super) fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.copies = ExactDuplicates::load(input)?;
        (self.runs, self.unfiled) = (RunIndex::load(input)?, 0);
        self.index.load(input)
    }

    pub(super) fn set_memory_limit(&mut self, bytes: usize) {
        self.index.set_memory_limit(bytes);
    }

    pub(super) fn set_threads(&mut self, threads: usize) {
        self.scratches.resize_with(threads.max(1), Scratch::default);
    }

    /// Files the records stored since the last update, and those again that were filed under runs which are common by now.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub(super) fn file_records(&mut self, measure: &dyn Measure) -> Result<(), DetectError> {
        self.index.file_records();
        let newly = measure.newly_common();
        let common = newly.get(self.unfiled..).unwrap_or_default();
        self.unfiled = newly.len();
        for page in self.runs.remove(common) {
            let stored = super::records::get(&self.records, page)?;
            if let Some(runs) = measure.filed_under(&stored, &measure.prepare(&stored)) {
                self.runs.add(page, &runs);
            }
        }
        Ok(())
    }

    /// Returns whether a search may be made in two parts.
    pub(super) fn can_split(&self) -> bool {
        self.index.can_split_probes()
    }

    /// Returns whether searching ahead for several pages pays: the index must be large and its probes divisible.
    pub(super) fn can_search_ahead(&self) -> bool {
        self.scratches.len() > 1 && self.can_split() && self.index.len() >= self.tuning.parallel_from
    }

    /// Searches for several pages at once, on all cores; [`finish`](Self::finish) then adds what was stored since.
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
        let indexes = Indexes { words: &*self.index, runs: &self.runs, tuning: self.tuning };
        let next = AtomicUsize::new(0);
        let records = &self.records;
        let work = |scratch: &mut Scratch| {
            let mut results = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(page) = pages.get(number) else { return results };
                let mut result = SearchResult::new(query);
                let extended = result.extend(indexes, records, scratch, query, *page, log);
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
    pub(super) fn find_matches(
        &mut self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<Vec<Match>, DetectError> {
        self.finish(query, page, log, SearchResult::new(query)).map(|(matches, _)| matches)
    }

    /// As [`find_matches`](Self::find_matches), with what was found before: only records that came since are searched. Returns
    /// what the measure made of the page, too.
    pub(super) fn finish(
        &mut self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
        mut result: SearchResult,
    ) -> Result<(Vec<Match>, Option<PreparedText>), DetectError> {
        if let Some(copied) = self.find_copy(query, page, log)? {
            result = copied;
        }
        let indexes = Indexes { words: &*self.index, runs: &self.runs, tuning: self.tuning };
        result.extend(indexes, &self.records, &mut self.scratches[0], query, page, log)?;
        self.probes += 1;
        self.counters.add(result.counters);
        self.counters.verifications += result.collector.verifications;
        let matches = self.choose_matches(query, page, result.collector.into_matches())?;
        Ok((matches, result.prepared.into_inner()))
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

    /// Searches for one page so that threads can share the index; [`finish`](Self::finish) then adds what was
    /// stored since.
    pub(super) fn search_shared(
        &self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<SearchResult, DetectError> {
        let spare = || self.spare_scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = spare().pop().unwrap_or_default();
        let mut result = SearchResult::new(query);
        let indexes = Indexes { words: &*self.index, runs: &self.runs, tuning: self.tuning };
        result.extend(indexes, &self.records, &mut scratch, query, page, log)?;
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
        let mut result = SearchResult::new(query);
        let candidate = Candidate { id, at_most: Score(Threshold::ONE) };
        let prepared = result.prepared.get_or_init(|| query.measure.prepare(page.page));
        let _ = result.collector.compare(query, page.page, candidate, &self.records, prepared)?;
        Ok(result.collector.is_complete(query).then_some(result))
    }
}

impl SearchResult {
    pub(super) fn new(query: &MatchQuery<'_>) -> Self {
        let (collector, counters) = (query.collector(), ProbeCounters::default());
        Self { collector, counters, prepared: OnceLock::new(), seen: None }
    }

    /// Adds the matches among records that the indexes did not hold before.
    fn extend<S: RecordSource>(
        &mut self,
        Indexes { words: index, runs, tuning }: Indexes<'_>,
        records: &Mutex<Records<S>>,
        scratch: &mut Scratch,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<(), DetectError> {
        let mut seen = self.seen.replace(index.len());
        if self.collector.is_complete(query) || (seen == self.seen && runs.is_empty()) {
            return Ok(());
        }
        if seen.is_some_and(|seen| index.len() - seen > tuning.most_since) {
            self.collector = query.collector();
            seen = None;
        }
        let measure = query.measure;
        let prepared = self.prepared.get_or_init(|| measure.prepare(page.page));
        if let Some(keys) = measure.looked_up_under(page.page, prepared) {
            let (found, read) = runs.find(&keys);
            self.counters.postings += read;
            self.counters.candidates += found.len() as u64;
            for id in found.into_iter().filter(|id| log.is_compared(*id, page.group)) {
                let candidate = Candidate { id, at_most: Score(Threshold::ONE) };
                self.counters.mezzanine += 1;
                if self.collector.compare(query, page.page, candidate, records, prepared)?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let (bar, terms) = (measure.lower_bound(self.collector.bar()), measure.filtered(page.page));
        let mut failed = None;
        let collector = &mut self.collector;
        let mut visit = |candidate: Candidate| {
            if !log.is_compared(candidate.id, page.group) {
                return ControlFlow::Continue(measure.lower_bound(collector.bar()));
            }
            let compared = collector.compare(query, page.page, candidate, records, prepared).unwrap_or_else(|error| {
                failed = Some(error);
                ControlFlow::Break(())
            });
            match compared {
                ControlFlow::Continue(bar) => ControlFlow::Continue(measure.lower_bound(bar)),
                ControlFlow::Break(()) => ControlFlow::Break(()),
            }
        };
        self.counters.add(match seen {
            None => index.probe(scratch, &terms, bar, &mut visit),
            Some(from) => index.probe_since(scratch, from, &terms, bar, &mut visit),
        });
        failed.map_or(Ok(()), Err)
    }
}
