//! The decider: gives each page its verdict, with all state in memory.

mod restoring;
mod similar_pages;

use std::sync::Arc;

use super::corpus_stats::{CorpusStats, is_subject};
use super::decision_log::{DecisionLog, Entry, inherited};
use super::detectors::{Measure, PreparedText};
use super::matching::MatchQuery;
use super::numbered_page::NumberedPage;
use super::numbering::Numbering;
use super::page_match::Page;
use super::records::{RecordSource, Records};
use super::search::{QueryPage, Search};
use super::{DeciderStats, DetectError, InMemory, Match, Mode, Options, TurnInput, Vocabulary, Within};
use crate::model::{
    DecidedBy, Digest, Judged, JudgedPage, PageId, PageInput, PageTerms, Sequence, Term, TermOrder, Verdict,
};
use crate::similarity::Record;

/// Decides pages one after the other, as the only owner of its index.
///
/// Each page takes the first verdict that applies:
///
/// 1. *Delivered before* (same [`PageId`](crate::model::PageId)): its own earlier verdict and number, without
///    terms. Nothing changes.
/// 2. *Same body* as a decided page, at any length; or *same text*, if the page has
///    [`min_terms`](Options::min_terms) terms: an exact copy of that page if that is stored. Otherwise it
///    inherits that page's verdict. It is an exact copy by its body only if the whole chain has the same bytes.
/// 3. *Similar* to a stored page, if both have `min_terms` terms: near-duplicate of that page.
///    [`Options::mode`] chooses among several.
/// 4. Otherwise unique, and in the index from now on, if it has `min_terms` terms.
///
/// A duplicate that [outranks](PageInput::rank) the stored page it names can change places with it: decided again as a
/// [renewal](PageInput::renews), it finds that page no longer in the index ([`Judged::displaced`]). Then that page is
/// decided again. [`outranking`](Self::outranking) names such duplicates.
///
/// The verdicts depend on the options and the order of arrival only. Batches and the number of threads do not
/// matter, and no two stored pages of `min_terms` terms reach the threshold. With [`FilterKind::Paper`] matches
/// are lost, which ones depends on document frequencies; none is invented.
///
/// After an error the decider refuses all further batches ([`DetectError::Broken`]), since part of the batch
/// may have been decided. Restore it from the log.
///
/// [`FilterKind::Paper`]: crate::index::FilterKind::Paper
///
/// # Example
///
/// Someone with a folder of texts and no crawler:
///
/// ```
/// use std::collections::HashMap;
///
/// use neardup::detect::{Decider, Options};
/// use neardup::model::{PageInput, Digest, Field, FieldCounts, PageId, TermCounts, TermOrder};
///
/// fn page(name: &str, text: &str) -> PageInput {
///     let mut terms = HashMap::<String, FieldCounts>::new();
///     for word in text.split_whitespace() {
///         terms.entry(word.to_lowercase()).or_default().add(Field::Body);
///     }
///     PageInput {
///         page: PageId::new("my folder", name, 0),
///         group: 0,
///         body_digest: Digest::of(text.as_bytes()),
///         text_digest: None,
///         terms: terms.into_iter().map(|(term, counts)| TermCounts { term: term.into(), counts }).collect(),
///         order: TermOrder::default(),
///         renews: None,
///         rank: 0,
///     }
/// }
///
/// # fn main() -> Result<(), neardup::detect::DetectError> {
/// let texts = [
///     ("sun.txt", "the sun rose over the hills and the birds began to sing in the old trees"),
///     ("rain.txt", "rain fell on the town all day and nobody went out to the market"),
///     ("dawn.txt", "the sun rose over the hills and the birds began to call in the old trees"),
/// ];
/// let mut decider = Decider::in_memory(Options { min_terms: 5, ..Options::default() });
/// let judged = decider.decide(texts.map(|(name, text)| page(name, text)).to_vec())?;
///
/// assert!(judged[0].verdict.is_unique());
/// assert!(judged[1].verdict.is_unique());
/// let original = judged[2].verdict.duplicate_of().map(|of| texts[of.index()].0);
/// assert_eq!(original, Some("sun.txt"));
/// # Ok(())
/// # }
/// ```
pub struct Decider<S> {
    options: Options,
    vocabulary: Vocabulary,
    log: DecisionLog,
    /// The detector's measure and statistics; `None` for the one that finds exact copies only.
    corpus_stats: Option<CorpusStats>,
    /// `None` for the same detector.
    search: Option<Search<S>>,
    numbering: Numbering,
    broken: bool,
    /// Whether it has settled where no row of the log says so.
    is_ahead: bool,
}

/// What a page has beside its terms.
#[derive(Clone, Copy)]
struct PageFacts {
    page: PageId,
    group: u32,
    body_digest: Digest,
    text_digest: Option<Digest>,
    renews: Option<Sequence>,
    rank: u8,
}

/// A page whose terms have numbers.
struct PageToWeigh {
    facts: PageFacts,
    terms: PageTerms,
    new_terms: Vec<Term>,
    order: TermOrder,
}

/// A page that waits for its verdict.
struct PendingPage {
    /// The group is the one within which pages are compared.
    facts: PageFacts,
    terms: PageTerms,
    new_terms: Vec<Term>,
    weighed: Arc<Page>,
    least_weight: u32,
    /// What the measure made of it, if it was compared.
    prepared: Option<PreparedText>,
}

impl Decider<InMemory> {
    /// Creates a decider that keeps all records in memory.
    pub fn in_memory(options: Options) -> Self {
        Self::new(options, InMemory)
    }
}

impl<S: RecordSource> Decider<S> {
    /// Creates a decider without pages, which reads committed records from `source`.
    pub fn new(options: Options, source: S) -> Self {
        let corpus_stats = CorpusStats::new(&options);
        let records = Records::new(source, options.weights);
        let search = corpus_stats.is_some().then(|| Search::new(&options, records));
        let (vocabulary, log) = (Vocabulary::default(), DecisionLog::default());
        Self {
            options,
            vocabulary,
            log,
            corpus_stats,
            search,
            numbering: Numbering::default(),
            broken: false,
            is_ahead: false,
        }
    }

    /// Decides a batch, in order. A unique page is in the index before the next page is compared.
    ///
    /// # Errors
    /// If a stored record can't be read back, or no number is left. The decider refuses all further batches then.
    pub fn decide(&mut self, batch: Vec<PageInput>) -> Result<Vec<Judged>, DetectError> {
        self.decide_batch(batch, |input| input.page, Self::number)
    }

    /// Decides a turn and settles where it ends: what others [take in](Self::take_turn), given
    /// [`Settling::AtMarks`](super::Settling).
    ///
    /// # Errors
    /// As [`decide`](Self::decide), and if a page to withdraw or to renew was not decided.
    pub fn decide_turn(&mut self, turn: impl Into<TurnInput>) -> Result<Vec<Judged>, DetectError> {
        self.go_through(turn.into(), |decider, page| decider.decide(vec![page]))
    }

    /// Takes in a turn that another decider with the same options and the same turns before it has decided. `verdicts`
    /// has those on the pages that had not been delivered before, in order. Returns what that decider did.
    ///
    /// Cost: as [`decide_turn`](Self::decide_turn) without the comparisons.
    ///
    /// # Errors
    /// As [`decide_turn`](Self::decide_turn), and [`DetectError::OtherVerdicts`]. The decider refuses all further batches
    /// then.
    pub fn take_turn(
        &mut self,
        turn: impl Into<TurnInput>,
        verdicts: impl ExactSizeIterator<Item = Verdict>,
    ) -> Result<Vec<Judged>, DetectError> {
        let (turn, first, given) = (turn.into(), self.log.next()?, verdicts.len());
        let (mut verdicts, mut pages) = (verdicts, 0);
        let taken = self.go_through(turn, |decider, page| {
            if decider.log.find(page.page).is_some() {
                return decider.decide(vec![page]);
            }
            pages += 1;
            let Some(verdict) = verdicts.next() else { return Ok(Vec::new()) };
            decider.update_if_due()?;
            let pending = decider.number(page)?;
            Ok(vec![decider.take_one(pending, |decider, _| Ok(verdict.renumbered(|of| decider.numbering.inside(of))))?])
        });
        self.broken |= taken.is_err() || pages != given;
        match taken {
            Ok(_) if pages != given => Err(DetectError::OtherVerdicts { first, pages, verdicts: given }),
            taken => taken,
        }
    }

    /// Has pages leave that a turn withdraws, takes its pages one by one, and settles where it ends.
    fn go_through(
        &mut self,
        turn: TurnInput,
        mut take: impl FnMut(&mut Self, PageInput) -> Result<Vec<Judged>, DetectError>,
    ) -> Result<Vec<Judged>, DetectError> {
        if self.broken {
            return Err(DetectError::Broken);
        }
        let next = self.log.next()?;
        turn.check_earlier(next)?;
        self.log.withdraw(&turn.withdrawn, next);
        let mut judged = Vec::with_capacity(turn.pages.len());
        for page in turn.pages {
            judged.extend(take(self, page)?);
        }
        if !turn.is_unsettled {
            self.settle()?;
        }
        Ok(judged)
    }

    /// Decides a batch as [`decide`](Self::decide), of pages of one group whose terms the caller has numbered.
    ///
    /// The decider has no vocabulary then. All pages must come this way.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    pub fn decide_numbered(&mut self, batch: Vec<NumberedPage>) -> Result<Vec<Judged>, DetectError> {
        self.decide_batch(batch, |numbered| numbered.page, Self::take_numbered)
    }

    /// Decides logged pages again, possibly with other options: as [`decide`](Self::decide), from what the log holds.
    ///
    /// Their terms must have been [restored](Self::restore_term), so that they have the same numbers here. The
    /// verdicts in the log are ignored.
    ///
    /// # Errors
    /// As [`decide`](Self::decide), and if a page refers to unknown terms.
    pub fn decide_logged(&mut self, batch: Vec<JudgedPage<'_>>) -> Result<Vec<Judged>, DetectError> {
        self.decide_batch(batch, |row| row.page, Self::number_logged)
    }

    /// Adds a page that is known to be stored: it gets the next number, without a comparison. For rebuilding a log.
    ///
    /// # Errors
    /// If no number is left.
    pub fn take_stored(&mut self, input: PageInput) -> Result<Judged, DetectError> {
        self.update_if_due()?;
        let pending = self.number(input)?;
        self.record_verdict(pending, Verdict::Unique)
    }

    /// Reports that all pages with numbers below `up_to` can be read from the source: their records may leave memory.
    pub fn committed(&mut self, up_to: Sequence) {
        if let Some(search) = &mut self.search {
            search.records().committed(self.numbering.inside(up_to));
        }
    }

    /// Returns the measure, with what it knows by now.
    pub(in crate::detect) fn measure(&self) -> Option<&dyn Measure> {
        self.corpus_stats.as_ref().map(CorpusStats::measure)
    }

    /// Returns all known terms.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the verdict on a page; `None` if there is no such page.
    pub fn verdict(&self, page: Sequence) -> Option<Verdict> {
        self.log.get(self.numbering.inside(page)).map(|entry| self.numbering.to_outside(entry.verdict))
    }

    /// Returns the page that was decided last.
    pub fn last_page(&self) -> Option<PageId> {
        let last = self.log.len().checked_sub(1).filter(|last| *last >= self.numbering.seeds as usize)?;
        self.log.get(Sequence(u32::try_from(last).ok()?)).map(|entry| entry.page)
    }

    /// Returns sizes and counters, in constant time.
    pub fn stats(&self) -> DeciderStats {
        let search = self.search.as_ref();
        let learned = self.corpus_stats.as_ref().map_or(0, |corpus_stats| corpus_stats.measure().bytes());
        DeciderStats {
            judged: self.log.len() as u64 - u64::from(self.numbering.seeds),
            indexed: search.map_or(0, |search| search.len() as u64),
            terms: self.vocabulary.len() as u64,
            index_bytes: (search.map_or(0, Search::bytes) + learned) as u64,
            vocabulary_bytes: self.vocabulary.bytes() as u64,
            log_bytes: self.log.bytes() as u64,
            probes: search.map_or(0, |search| search.probes),
            counters: search.map_or_else(Default::default, |search| search.counters),
        }
    }

    /// Decides a batch, unless that failed before. `name` returns a page's id, `number` gives its terms numbers.
    fn decide_batch<T>(
        &mut self,
        batch: Vec<T>,
        name: fn(&T) -> PageId,
        number: fn(&mut Self, T) -> Result<PendingPage, DetectError>,
    ) -> Result<Vec<Judged>, DetectError> {
        if self.broken {
            return Err(DetectError::Broken);
        }
        let judged = self.decide_pieces(batch, name, number);
        self.broken = judged.is_err();
        judged
    }

    /// Decides a batch in pieces that end at update numbers.
    fn decide_pieces<T>(
        &mut self,
        batch: Vec<T>,
        name: fn(&T) -> PageId,
        number: fn(&mut Self, T) -> Result<PendingPage, DetectError>,
    ) -> Result<Vec<Judged>, DetectError> {
        let mut judged = Vec::with_capacity(batch.len());
        for submitted in batch {
            let page = name(&submitted);
            if self.log.find(page).is_some() {
                judged.push(self.repeat_verdict(page)?);
                continue;
            }
            self.update_if_due()?;
            let pending = number(self, submitted)?;
            judged.push(self.decide_one(pending)?);
        }
        Ok(judged)
    }

    /// Gives the terms of a page their numbers.
    fn number(&mut self, mut input: PageInput) -> Result<PendingPage, DetectError> {
        self.settle_before(input.rank)?;
        if let Some(corpus_stats) = &self.corpus_stats {
            corpus_stats.measure().project(&mut input);
        }
        let PageInput { page, group, body_digest, text_digest, terms, order, renews, rank } = input;
        let (terms, new_terms, order) = self.vocabulary.intern_page(terms, order)?;
        let facts = PageFacts { page, group, body_digest, text_digest, renews, rank };
        Ok(self.prepare(PageToWeigh { facts, terms, new_terms, order }))
    }

    /// Takes a page whose terms have numbers of the caller's.
    fn take_numbered(&mut self, numbered: NumberedPage) -> Result<PendingPage, DetectError> {
        let NumberedPage { page, body_digest, terms, text } = numbered;
        let facts = PageFacts { page, group: 0, body_digest, text_digest: None, renews: None, rank: 0 };
        let order = TermOrder { text, ..TermOrder::default() };
        Ok(self.prepare(PageToWeigh { facts, terms, new_terms: Vec::new(), order }))
    }

    /// Reads a page of which the log has all that [`number`](Self::number) makes.
    fn number_logged(&mut self, row: JudgedPage<'_>) -> Result<PendingPage, DetectError> {
        let JudgedPage { page, group, body_digest, text_digest, terms, order, renews, rank, .. } = row;
        self.settle_before(rank)?;
        self.check_terms(self.numbering.outside(self.log.next()?), terms)?;
        let (terms, order, new_terms) = (terms.clone(), order.clone(), Vec::new());
        let facts = PageFacts { page, group, body_digest, text_digest, renews, rank };
        Ok(self.prepare(PageToWeigh { facts, terms, new_terms, order }))
    }

    fn prepare(&self, numbered: PageToWeigh) -> PendingPage {
        let PageToWeigh { facts, terms, new_terms, order } = numbered;
        let (weighed, least_weight) = self.weigh(facts.group, &terms, order);
        let facts = PageFacts { group: self.group(facts.group), ..facts };
        PendingPage { facts, terms, new_terms, weighed: Arc::new(weighed), least_weight, prepared: None }
    }

    /// Returns the page as the detector sees it, and the least weight that its terms must have.
    fn weigh(&self, group: u32, terms: &PageTerms, order: TermOrder) -> (Page, u32) {
        match &self.corpus_stats {
            Some(corpus_stats) => corpus_stats.weigh(&self.options, group, terms, order),
            None => (Page { group, record: Record::from_counts(terms, &self.options.weights), order }, 0),
        }
    }

    fn decide_one(&mut self, pending: PendingPage) -> Result<Judged, DetectError> {
        self.take_one(pending, |decider, pending| match decider.find_copy(pending) {
            Some(verdict) => Ok(verdict),
            None => decider.find_match(pending),
        })
    }

    /// Gives a page the verdict that `decide` finds, after the page has left that it takes the place of.
    fn take_one(
        &mut self,
        mut pending: PendingPage,
        decide: impl FnOnce(&mut Self, &mut PendingPage) -> Result<Verdict, DetectError>,
    ) -> Result<Judged, DetectError> {
        let renewed = pending.facts.renews.map(|earlier| self.numbering.inside(earlier));
        let displaced = renewed.and_then(|earlier| self.log.renew(earlier, pending.facts.rank));
        let verdict = decide(self, &mut pending)?;
        let displaced = displaced.map(|page| self.numbering.outside(page));
        Ok(Judged { displaced, ..self.record_verdict(pending, verdict)? })
    }

    /// Gives a page its number and its verdict, and stores it.
    fn record_verdict(&mut self, pending: PendingPage, verdict: Verdict) -> Result<Judged, DetectError> {
        let PendingPage { facts, terms, new_terms, weighed, least_weight, prepared, .. } = pending;
        let PageFacts { page, group, body_digest, text_digest, rank, .. } = facts;
        let sequence = self.log.push(Entry { page, group, body_digest, text_digest, verdict, rank })?;
        let is_subject = is_subject(&verdict, facts.renews, rank);
        let is_compared = self.index_page(sequence, &weighed, prepared, (&verdict, is_subject));
        let order = weighed.order.clone();
        let is_revisable = self.is_revisable(&verdict);
        if let Some(search) = self.search.as_mut().filter(|_| is_compared || is_revisable) {
            search.records().insert(sequence, weighed, is_compared);
        }
        let (sequence, verdict) = (self.numbering.outside(sequence), self.numbering.to_outside(verdict));
        let (redelivered, displaced) = (false, None);
        Ok(Judged { page, sequence, verdict, terms, order, least_weight, new_terms, redelivered, displaced })
    }

    /// Returns the earlier decision on a page of this batch or an earlier one.
    fn repeat_verdict(&self, page: PageId) -> Result<Judged, DetectError> {
        let (sequence, earlier) = self.log.find(page).ok_or(DetectError::Broken)?;
        let (terms, order, new_terms) = (PageTerms::default(), TermOrder::default(), Vec::new());
        let (sequence, verdict) = (self.numbering.outside(sequence), self.numbering.to_outside(earlier.verdict));
        let (least_weight, redelivered, displaced) = (0, true, None);
        Ok(Judged { page, sequence, verdict, terms, order, least_weight, new_terms, redelivered, displaced })
    }

    /// Returns the verdict on an exact copy.
    fn find_copy(&self, pending: &PendingPage) -> Option<Verdict> {
        let PageFacts { group, body_digest, text_digest, .. } = pending.facts;
        if let Some((sequence, original)) = self.log.same_body(group, body_digest) {
            return Some(inherited(sequence, original.verdict, DecidedBy::BodyDigest));
        }
        let text = text_digest.filter(|_| self.is_long_enough(&pending.weighed))?;
        let (sequence, original) = self.log.same_text(group, text)?;
        Some(inherited(sequence, original.verdict, DecidedBy::TextDigest))
    }

    /// Returns the verdict on a page that is no exact copy.
    fn find_match(&mut self, pending: &mut PendingPage) -> Result<Verdict, DetectError> {
        if !self.is_comparable(&pending.weighed) {
            return Ok(Verdict::Unique);
        }
        let (Some(corpus_stats), Some(search)) = (&self.corpus_stats, &mut self.search) else {
            return Ok(Verdict::Unique);
        };
        let query = verdict_query(&self.options, corpus_stats);
        let prepared = pending.prepared.insert(query.measure.prepare(&pending.weighed));
        let needed = QueryPage { group: pending.facts.group, page: &pending.weighed, prepared };
        let matches = search.find_matches(&query, needed, &self.log)?;
        Ok(matches.first().map_or(Verdict::Unique, |found| self.near_duplicate(found)))
    }

    fn near_duplicate(&self, found: &Match) -> Verdict {
        let Match { of, score, second, difference } = *found;
        Verdict::NearDuplicate {
            of,
            score,
            second,
            difference,
            detector: self.options.detector,
            decided_by: DecidedBy::Similarity,
        }
    }

    /// Adds a decided page to the index, if later ones are compared with it, and to the detector's statistics.
    fn index_page(
        &mut self,
        sequence: Sequence,
        page: &Arc<Page>,
        prepared: Option<PreparedText>,
        (verdict, is_subject): (&Verdict, bool),
    ) -> bool {
        let is_compared = verdict.is_unique() && self.is_comparable(page);
        let (Some(corpus_stats), Some(search)) = (&mut self.corpus_stats, &mut self.search) else { return false };
        if is_compared {
            let measure = corpus_stats.measure();
            search.insert(sequence, page, measure, &prepared.unwrap_or_else(|| measure.prepare(page)));
        }
        corpus_stats.add(sequence, page, is_subject, is_compared);
        is_compared
    }

    /// Returns whether [`outdated_duplicates`](Self::outdated_duplicates) may need the page again.
    fn is_revisable(&self, verdict: &Verdict) -> bool {
        let changes = || self.corpus_stats.as_ref().is_some_and(|corpus_stats| corpus_stats.measure().is_unstable());
        verdict.is_by_similarity() && changes()
    }

    /// Settles before a page whose number is due: at fixed page numbers, not between batches.
    fn update_if_due(&mut self) -> Result<(), DetectError> {
        if self.options.settling.is_due(self.log.len() as u32) { self.settle() } else { Ok(()) }
    }

    /// Settles before a chosen page: whether it [can take its place](Self::can_take_place) was asked of a decider that had
    /// settled.
    fn settle_before(&mut self, rank: u8) -> Result<(), DetectError> {
        if rank != PageInput::CHOSEN {
            return Ok(());
        }
        self.is_ahead = false;
        self.settle()
    }

    /// Updates the statistics, and files pages again whose runs are common by now: with
    /// [`Settling::AtMarks`](super::Settling), after each turn.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub fn settle(&mut self) -> Result<(), DetectError> {
        let (Some(corpus_stats), Some(search)) = (&mut self.corpus_stats, &mut self.search) else { return Ok(()) };
        corpus_stats.apply_pending();
        search.file_again(corpus_stats.measure())
    }

    fn is_long_enough(&self, page: &Page) -> bool {
        page.record.len() >= self.options.min_terms
    }

    /// Returns whether a page is compared with others at all.
    fn is_comparable(&self, page: &Page) -> bool {
        self.search.is_some() && !page.record.is_empty() && self.is_long_enough(page)
    }

    /// Returns the group of pages that are compared with each other; in a whole crawl there is only one.
    fn group(&self, group: u32) -> u32 {
        match self.options.within {
            Within::Crawl => 0,
            Within::Host => group,
        }
    }

    fn check_terms(&self, page: Sequence, terms: &PageTerms) -> Result<(), DetectError> {
        match terms.last().filter(|term| term.index() >= self.vocabulary.len()) {
            Some(term) => Err(DetectError::UnknownTerm { page, term }),
            None => Ok(()),
        }
    }
}

/// Returns the query that a verdict needs.
fn verdict_query<'a>(options: &Options, corpus_stats: &'a CorpusStats) -> MatchQuery<'a> {
    let measure = corpus_stats.measure();
    let mode = match options.mode {
        _ if measure.needs_all_matches() => Mode::All,
        Mode::Any => Mode::Any,
        Mode::Best | Mode::All => Mode::Best,
    };
    MatchQuery { measure, mode, threshold: options.bar(), condition: &|_, _, _| true }
}
