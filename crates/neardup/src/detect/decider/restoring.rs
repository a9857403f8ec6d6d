//! Brings a decider back to where it was: from the log, row by row, or from a snapshot.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::super::corpus_stats::is_subject;
use super::super::decision_log::{DecisionLog, Entry};
use super::super::numbering::Numbering;
use super::super::page_match::Page;
use super::super::records::{LoggedPage, RecordSource};
use super::super::{DetectError, Vocabulary};
use super::Decider;
use crate::model::{Digest, JudgedPage, PageId, Sequence, TermId, Verdict};
use crate::similarity::Record;

impl<S: RecordSource> Decider<S> {
    /// Restores the next term of the log. Restore all terms before all pages, in the order of their ids.
    ///
    /// # Errors
    /// If the term was restored before, or the vocabulary is full.
    pub fn restore_term(&mut self, term: &str) -> Result<TermId, DetectError> {
        let second = TermId(u32::try_from(self.vocabulary.len()).unwrap_or(u32::MAX));
        match self.vocabulary.intern(term)? {
            (id, true) => Ok(id),
            (first, false) => Err(DetectError::RepeatedTerm { first, second }),
        }
    }

    /// Restores the next page of the log, decided under the same options. `group` is the page's [`PageInput::group`](crate::model::PageInput::group).
    ///
    /// After the last page the decider is as it was when that page had been decided.
    ///
    /// # Errors
    /// If the page is out of order, or refers to unknown terms or pages.
    pub fn restore_page(&mut self, sequence: Sequence, group: u32, row: &JudgedPage<'_>) -> Result<(), DetectError> {
        let page = self.numbering.inside(sequence);
        let verdict = row.verdict.renumbered(|page| self.numbering.inside(page));
        self.check_row(page, row, verdict)?;
        let record = Record::from_counts(row.terms, &self.options.weights).without_lighter(row.least_weight);
        let weighed = Arc::new(Page { group, record, order: row.order.clone() });
        self.update_if_due()?;
        self.settle_before(row.rank)?;
        self.index_page(page, &weighed, None, (&verdict, is_subject(&verdict, row.renews, row.rank)));
        if let Some(earlier) = row.renews {
            self.log.renew(self.numbering.inside(earlier), row.rank);
        }
        self.log.push(Entry {
            page: row.page,
            group: self.group(group),
            body_digest: row.body_digest,
            text_digest: row.text_digest,
            verdict,
            rank: row.rank,
        })?;
        Ok(())
    }

    /// Adds a page that an earlier crawl stored; later pages are compared with it as if it had arrived here first.
    ///
    /// Seed all such pages before the first page is decided or restored. The [`RecordSource`] gets [their
    /// numbers](Sequence::of_earlier).
    ///
    /// # Errors
    /// If a page was decided or restored before, or the page refers to unknown terms.
    pub fn seed(
        &mut self,
        page: PageId,
        body_digest: Digest,
        text_digest: Option<Digest>,
        logged: LoggedPage,
    ) -> Result<Sequence, DetectError> {
        let (number, expected) = (self.log.next()?, Sequence(self.numbering.seeds));
        let submitted = Sequence::of_earlier(expected.0);
        if number != expected {
            return Err(DetectError::OutOfOrder { expected: self.numbering.outside(number), found: submitted });
        }
        self.check_terms(submitted, &logged.terms)?;
        let group = logged.group;
        let weighed = Arc::new(logged.weighed(&self.options.weights));
        self.update_if_due()?;
        self.index_page(number, &weighed, None, (&Verdict::Unique, true));
        // It stays where it is: nothing outranks it.
        let (group, verdict, rank) = (self.group(group), Verdict::Unique, u8::MAX);
        self.log.push(Entry { page, group, body_digest, text_digest, verdict, rank })?;
        self.assume_seeds(number.0 + 1);
        Ok(submitted)
    }

    /// Tells the decider how many seeded pages the [loaded](Self::load) snapshot contains.
    pub fn assume_seeds(&mut self, count: u32) {
        self.numbering = Numbering { seeds: count };
        if let Some(search) = &mut self.search {
            search.records().numbering = self.numbering;
        }
    }

    /// Writes everything but the records to a snapshot, which [loads](Self::load) faster than restoring each term and
    /// page.
    ///
    /// Cost: about a second for a million records.
    ///
    /// # Errors
    /// Those of `out`, and [`io::ErrorKind::Unsupported`] if the log does not tell where it settled.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_ahead() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.vocabulary.save(out)?;
        self.log.save(out)?;
        self.corpus_stats.as_ref().map_or(Ok(()), |corpus_stats| corpus_stats.save(out))?;
        self.search.as_ref().map_or(Ok(()), |search| search.save(out))
    }

    /// Returns whether it has settled to say whether a page [can take a place](Self::can_take_place), and none was chosen
    /// since.
    pub fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    /// Replaces everything by what [`save`](Self::save) wrote, under options of the same
    /// [signature](crate::detect::Options::signature).
    ///
    /// The decider is as it was when the snapshot was written, down to the order in which matches are found. Restore
    /// later pages of the log as usual.
    ///
    /// # Errors
    /// Those of `input`, and [`io::ErrorKind::InvalidData`] for data that [`save`](Self::save) did not write. Discard the decider then.
    pub fn load(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.vocabulary = Vocabulary::load(input)?;
        self.log = DecisionLog::load(input)?;
        self.corpus_stats.as_mut().map_or(Ok(()), |corpus_stats| corpus_stats.load(input))?;
        self.search.as_mut().map_or(Ok(()), |search| search.load(input))
    }

    /// Checks a row of the log against the decider's state; number and verdict are internal ones.
    fn check_row(&self, number: Sequence, row: &JudgedPage<'_>, verdict: Verdict) -> Result<(), DetectError> {
        let (expected, page) = (self.log.next()?, self.numbering.outside(number));
        if number != expected {
            return Err(DetectError::OutOfOrder { expected: self.numbering.outside(expected), found: page });
        }
        self.check_terms(page, row.terms)?;
        let is_stored = |of: &Sequence| self.log.get(*of).is_some_and(|entry| entry.verdict.is_unique());
        match verdict.duplicate_of().filter(|of| !is_stored(of)) {
            Some(of) => Err(DetectError::UnknownOriginal { page, of: self.numbering.outside(of) }),
            None => Ok(()),
        }
    }
}
