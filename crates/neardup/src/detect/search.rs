//! Queries to the index.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use super::decision_log::DecisionLog;
use super::detectors::{Measure, PreparedText};
use super::exact_duplicates::ExactDuplicates;
use super::matching::{MatchCollector, MatchQuery};
use super::page_match::Match;
use super::page_match::Page;
use super::records::{RecordSource, Records};
use super::{DetectError, Mode, Options};
use crate::index::{Candidate, CandidateIndex, ProbeCounters, RunIndex};
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
    pub(super) probes: u64,
    pub(super) counters: ProbeCounters,
}

/// The page of a query.
#[derive(Clone, Copy)]
pub(super) struct QueryPage<'a> {
    pub(super) group: u32,
    pub(super) page: &'a Page,
    /// [`Measure::prepare`] of the page.
    pub(super) prepared: &'a PreparedText,
}

impl<S: RecordSource> Search<S> {
    pub(super) fn new(options: &Options, records: Records<S>) -> Self {
        let (index, runs, copies) = (options.filter.build(), RunIndex::default(), ExactDuplicates::default());
        let (records, counters) = (Mutex::new(records), ProbeCounters::default());
        Self { index, runs, unfiled: 0, copies, records, probes: 0, counters }
    }

    pub(super) fn records(&mut self) -> &mut Records<S> {
        self.records.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stored page, given what the measure made of it.
    pub(super) fn insert(&mut self, sequence: Sequence, page: &Page, measure: &dyn Measure, prepared: &PreparedText) {
        match measure.filed_under(page, prepared) {
            Some(runs) => self.runs.insert(sequence, &runs),
            None => self.index.insert(sequence, &measure.filtered(page)),
        }
        self.copies.insert(&page.record, sequence);
    }

    /// Returns the number of stored pages that others are compared with.
    pub(super) fn len(&self) -> usize {
        self.index.len() + self.runs.len()
    }

    /// Returns the memory of lists and hashes, in bytes.
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

    /// Files those pages again that were filed under runs which are common by now.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub(super) fn file_again(&mut self, measure: &dyn Measure) -> Result<(), DetectError> {
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

    /// Returns the matches of a page, by rank; a stored record with the same terms comes first.
    pub(super) fn find_matches(
        &mut self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<Vec<Match>, DetectError> {
        let mut collector = query.collector();
        self.probes += 1;
        if !self.find_copy(query, page, log, &mut collector)? {
            collector = query.collector();
            let counters = self.search(query, page, log, &mut collector)?;
            self.counters.add(counters);
        }
        self.counters.verifications += collector.verifications;
        self.choose_matches(query, page, collector.into_matches())
    }

    /// Returns the matches of a page, by rank. Counts nothing, so that threads can share the index.
    pub(super) fn find_shared(
        &self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
    ) -> Result<Vec<Match>, DetectError> {
        let mut collector = query.collector();
        self.search(query, page, log, &mut collector)?;
        self.choose_matches(query, page, collector.into_matches())
    }

    /// With [`Mode::Any`], takes the match with a stored record of the same terms. Returns whether that is all.
    fn find_copy(
        &self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
        collector: &mut MatchCollector,
    ) -> Result<bool, DetectError> {
        let copy = self.copies.find(&page.page.record).filter(|id| log.is_compared(*id, page.group));
        let Some(id) = copy.filter(|_| query.mode == Mode::Any) else { return Ok(false) };
        let candidate = Candidate { id, at_most: Score(Threshold::ONE) };
        let _ = collector.compare(query, page.page, candidate, &self.records, page.prepared)?;
        Ok(collector.is_complete(query))
    }

    /// Compares the page with those that an index names.
    fn search(
        &self,
        query: &MatchQuery<'_>,
        page: QueryPage<'_>,
        log: &DecisionLog,
        collector: &mut MatchCollector,
    ) -> Result<ProbeCounters, DetectError> {
        let (measure, QueryPage { group, page, prepared }) = (query.measure, page);
        if let Some(keys) = measure.looked_up_under(page, prepared) {
            let (found, postings) = self.runs.find(&keys);
            let mut counters = ProbeCounters { postings, candidates: found.len() as u64, ..ProbeCounters::default() };
            for id in found.into_iter().filter(|id| log.is_compared(*id, group)) {
                let candidate = Candidate { id, at_most: Score(Threshold::ONE) };
                counters.mezzanine += 1;
                if collector.compare(query, page, candidate, &self.records, prepared)?.is_break() {
                    break;
                }
            }
            return Ok(counters);
        }
        let (bar, terms) = (measure.lower_bound(collector.bar()), measure.filtered(page));
        let mut failed = None;
        let counters = self.index.probe(&terms, bar, &mut |candidate| {
            if !log.is_compared(candidate.id, group) {
                return ControlFlow::Continue(measure.lower_bound(collector.bar()));
            }
            let compared = collector.compare(query, page, candidate, &self.records, prepared).unwrap_or_else(|error| {
                failed = Some(error);
                ControlFlow::Break(())
            });
            match compared {
                ControlFlow::Continue(bar) => ControlFlow::Continue(measure.lower_bound(bar)),
                ControlFlow::Break(()) => ControlFlow::Break(()),
            }
        });
        failed.map_or(Ok(counters), Err)
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
