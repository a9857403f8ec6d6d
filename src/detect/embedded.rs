//! The decider that lives in the program's own memory.

use super::ledger::{Entry, Ledger};
use super::matching::find;
use super::records::{RecordSource, Records};
use super::{DeciderStats, DetectError, InMemory, Match, Mode, Options, Vocabulary, Within};
use crate::filter::{Filter, ProbeCounters, Suspect};
use crate::record::{
    Candidate, DecidedBy, Decider, Detector, Digest, FieldCounts, Judged, PageRow, Sequence, TermCounts, TermId,
    Verdict,
};
use crate::verify::Record;

/// Decides pages one after the other, as the only owner of its index.
///
/// For each page, in this order:
///
/// 1. *Delivered before* (same [`PageId`](crate::record::PageId)): its own earlier verdict and
///    number, without terms; nothing changes.
/// 2. *Same body* as a judged page, at any length; or *same text*, if the page has
///    [`min_terms`](Options::min_terms) terms: an exact copy of that page if that is stored. Else
///    it inherits that page's verdict: near-duplicate of the same page with the same score, or
///    exact copy of the same page, by its body only if the whole chain has the same bytes.
/// 3. *Similar* to a stored page, if both have `min_terms` terms: near-duplicate of the [best
///    match](Mode::Best).
/// 4. Else unique, and from this moment in the index, if it has `min_terms` terms.
///
/// So the verdicts follow from the options and the order of arrival alone, and no two stored pages
/// of `min_terms` terms reach the threshold. With [`FilterKind::Paper`] matches are lost, and which
/// are lost depends on document frequencies; none is invented.
///
/// After an error the decider refuses all further batches ([`DetectError::Broken`]), since part of
/// the batch may have been decided: restore it from the log.
///
/// [`FilterKind::Paper`]: crate::filter::FilterKind::Paper
pub struct EmbeddedDecider<S> {
    options: Options,
    vocabulary: Vocabulary,
    ledger: Ledger,
    /// `None` for the detector that finds exact copies only.
    filter: Option<Box<dyn Filter>>,
    records: Records<S>,
    suspects: Vec<Suspect>,
    probes: u64,
    counters: ProbeCounters,
    broken: bool,
}

impl EmbeddedDecider<InMemory> {
    /// A decider that keeps all records in memory.
    pub fn in_memory(options: Options) -> Self {
        Self::new(options, InMemory)
    }
}

impl<S: RecordSource> EmbeddedDecider<S> {
    /// A decider that has judged nothing yet and reads committed records from `source`.
    pub fn new(options: Options, source: S) -> Self {
        let filter = match options.detector {
            Detector::None => None,
            Detector::Mwo => Some(options.filter.build()),
        };
        Self {
            records: Records::new(source, options.weights),
            options,
            vocabulary: Vocabulary::default(),
            ledger: Ledger::default(),
            filter,
            suspects: Vec::new(),
            probes: 0,
            counters: ProbeCounters::default(),
            broken: false,
        }
    }

    /// Puts the next term of the log back. All terms come before all pages, in the order of their
    /// ids.
    ///
    /// # Errors
    /// If the term stands twice, or the vocabulary is full.
    pub fn restore_term(&mut self, term: &str) -> Result<TermId, DetectError> {
        let second = TermId(u32::try_from(self.vocabulary.len()).unwrap_or(u32::MAX));
        match self.vocabulary.intern(term)? {
            (id, true) => Ok(id),
            (first, false) => Err(DetectError::RepeatedTerm { first, second }),
        }
    }

    /// Puts the next page of the log back, as judged under the same options. `group` is what the
    /// page's [`Candidate::group`] was. After the last page the decider is as it was when that page
    /// had been judged.
    ///
    /// # Errors
    /// If the page is out of order, or speaks of terms or pages that are not there.
    pub fn restore_page(&mut self, sequence: Sequence, group: u32, row: &PageRow) -> Result<(), DetectError> {
        self.check_row(sequence, row)?;
        let record = Record::from_counts(&row.terms, &self.options.weights);
        if row.verdict.is_unique() && self.is_comparable(&record) {
            self.index(sequence, &record);
        }
        self.ledger.push(Entry {
            page: row.page,
            group: self.group(group),
            body_digest: row.body_digest,
            text_digest: row.text_digest,
            verdict: row.verdict,
        })?;
        Ok(())
    }

    /// Decides a batch, in order. [`Decider::decide`] does just this.
    ///
    /// # Errors
    /// If a stored record can't be read back, or a number has run out. Nothing can be decided after
    /// that.
    pub fn decide_now(&mut self, batch: Vec<Candidate>) -> Result<Vec<Judged>, DetectError> {
        if self.broken {
            return Err(DetectError::Broken);
        }
        let judged: Result<_, _> = batch.into_iter().map(|candidate| self.judge(candidate)).collect();
        self.broken = judged.is_err();
        judged
    }

    /// All pages with numbers below `up_to` can be read from the source from now on: their records
    /// need not stay in memory. [`CommitMark::pages`](crate::record::CommitMark::pages) is this
    /// number.
    pub fn committed(&mut self, up_to: Sequence) {
        self.records.committed(up_to);
    }

    /// The stored pages similar to a text, without judging it. Empty if it has fewer terms than
    /// [`Options::min_terms`]; exact copies are found like any other similar page.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub fn matches(&mut self, group: u32, terms: &[TermCounts], mode: Mode) -> Result<Vec<Match>, DetectError> {
        let counts = self.vocabulary.look_up_page(terms);
        let record = Record::from_counts(&counts, &self.options.weights);
        self.similar(self.group(group), &record, mode)
    }

    /// The terms ever seen.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// What a page was judged; `None` if there is no such page.
    pub fn verdict(&self, page: Sequence) -> Option<Verdict> {
        self.ledger.get(page).map(|entry| entry.verdict)
    }

    /// Sizes and counters. Cheap: nothing is walked through.
    pub fn stats(&self) -> DeciderStats {
        DeciderStats {
            judged: self.ledger.len() as u64,
            indexed: self.filter.as_ref().map_or(0, |filter| filter.len() as u64),
            terms: self.vocabulary.len() as u64,
            index_bytes: self.filter.as_ref().map_or(0, |filter| filter.bytes() as u64),
            vocabulary_bytes: self.vocabulary.bytes() as u64,
            ledger_bytes: self.ledger.bytes() as u64,
            probes: self.probes,
            counters: self.counters,
        }
    }

    fn judge(&mut self, candidate: Candidate) -> Result<Judged, DetectError> {
        if let Some((sequence, earlier)) = self.ledger.find(candidate.page) {
            let (terms, new_terms) = (Vec::new(), Vec::new());
            return Ok(Judged { sequence, verdict: earlier.verdict, terms, new_terms, redelivered: true });
        }
        let Candidate { page, group, body_digest, text_digest, terms } = candidate;
        let group = self.group(group);
        let (terms, new_terms) = self.vocabulary.intern_page(terms)?;
        let record = Record::from_counts(&terms, &self.options.weights);
        let verdict = match self.copied(group, body_digest, text_digest, &record) {
            Some(verdict) => verdict,
            None => self.compared(group, &record)?,
        };
        let sequence = self.ledger.push(Entry { page, group, body_digest, text_digest, verdict })?;
        if verdict.is_unique() && self.is_comparable(&record) {
            self.index(sequence, &record);
            self.records.insert(sequence, record);
        }
        Ok(Judged { sequence, verdict, terms, new_terms, redelivered: false })
    }

    /// The verdict on an exact copy.
    fn copied(&self, group: u32, body: Digest, text: Option<Digest>, record: &Record) -> Option<Verdict> {
        if let Some((sequence, original)) = self.ledger.same_body(group, body) {
            return Some(inherited(sequence, original.verdict, DecidedBy::BodyDigest));
        }
        let text = text.filter(|_| self.is_long_enough(record))?;
        let (sequence, original) = self.ledger.same_text(group, text)?;
        Some(inherited(sequence, original.verdict, DecidedBy::TextDigest))
    }

    /// The verdict on a page that is no exact copy.
    fn compared(&mut self, group: u32, record: &Record) -> Result<Verdict, DetectError> {
        let best = self.similar(group, record, Mode::Best)?;
        Ok(best.first().map_or(Verdict::Unique, |best| Verdict::NearDuplicate {
            of: best.of,
            score: best.score,
            detector: self.options.detector,
            decided_by: DecidedBy::Similarity,
        }))
    }

    fn similar(&mut self, group: u32, record: &Record, mode: Mode) -> Result<Vec<Match>, DetectError> {
        let threshold = self.options.threshold;
        let is_comparable = self.is_comparable(record);
        let Some(filter) = self.filter.as_mut().filter(|_| is_comparable) else { return Ok(Vec::new()) };
        let mut counters = filter.probe(record.terms(), threshold, &mut self.suspects);
        let ledger = &self.ledger;
        self.suspects.retain(|suspect| ledger.get(suspect.id).is_some_and(|entry| entry.group == group));
        let (matches, verifications) = find(mode, record, threshold, &self.suspects, &mut self.records)?;
        counters.verifications = verifications;
        self.probes += 1;
        self.counters.add(counters);
        Ok(matches)
    }

    fn index(&mut self, sequence: Sequence, record: &Record) {
        if let Some(filter) = &mut self.filter {
            filter.insert(sequence, record.terms());
        }
    }

    fn is_long_enough(&self, record: &Record) -> bool {
        record.len() >= self.options.min_terms
    }

    /// Whether a record is compared with others at all.
    fn is_comparable(&self, record: &Record) -> bool {
        self.filter.is_some() && !record.is_empty() && self.is_long_enough(record)
    }

    /// Pages of one group are compared with each other; in a whole crawl there is but one.
    fn group(&self, group: u32) -> u32 {
        match self.options.within {
            Within::Crawl => 0,
            Within::Host => group,
        }
    }

    fn check_row(&self, page: Sequence, row: &PageRow) -> Result<(), DetectError> {
        let expected = self.ledger.next()?;
        if page != expected {
            return Err(DetectError::OutOfOrder { expected, found: page });
        }
        let is_known = |(term, _): &&(TermId, FieldCounts)| term.index() < self.vocabulary.len();
        if let Some(&(term, _)) = row.terms.iter().find(|term| !is_known(term)) {
            return Err(DetectError::UnknownTerm { page, term });
        }
        let is_stored = |of: &Sequence| self.verdict(*of).is_some_and(|verdict| verdict.is_unique());
        match row.verdict.duplicate_of().filter(|of| !is_stored(of)) {
            Some(of) => Err(DetectError::UnknownOriginal { page, of }),
            None => Ok(()),
        }
    }
}

impl<S: RecordSource> Decider for EmbeddedDecider<S> {
    type Error = DetectError;

    async fn decide(&mut self, batch: Vec<Candidate>) -> Result<Vec<Judged>, DetectError> {
        self.decide_now(batch)
    }
}

/// The verdict on a page that is, by `link`, a copy of the page `original` with that verdict.
fn inherited(original: Sequence, verdict: Verdict, link: DecidedBy) -> Verdict {
    match verdict {
        Verdict::Unique => Verdict::ExactDuplicate { of: original, decided_by: link },
        Verdict::NearDuplicate { of, score, detector, .. } => {
            Verdict::NearDuplicate { of, score, detector, decided_by: link }
        }
        // A copy of the bytes of a copy of the text has the text of the stored page, not its bytes.
        Verdict::ExactDuplicate { of, decided_by: DecidedBy::BodyDigest } => {
            Verdict::ExactDuplicate { of, decided_by: link }
        }
        Verdict::ExactDuplicate { of, decided_by } => Verdict::ExactDuplicate { of, decided_by },
    }
}
