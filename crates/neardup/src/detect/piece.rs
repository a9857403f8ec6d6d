//! A part of an index that is divided among processes.
//!
//! All pieces together hold each stored page once. A page is asked of all of them, and [`settle_turn`](super::settle_turn)
//! chooses: the best match of all is the best of the best ones. So the verdicts are those of one decider.

mod second_look;

use std::sync::Arc;

use super::common_numbers::CommonNumbers;
use super::decision_log::{DecisionLog, Entry};
use super::learnt::Learnt;
use super::matching::MatchQuery;
use super::page_match::Match;
use super::records::{LoggedPage, RecordSource, Records};
use super::search::{QueryPage, Search};
use super::turn::{CopyKeys, DecidedTurn, Reply, TurnInput};
use super::{DetectError, Mode, Vocabulary};
use crate::model::{PageInput, Sequence, Verdict};

pub use self::second_look::{Outranking, SecondLook, best_outranking, outdated};

/// The stored records of some pages, with their digests and verdicts.
///
/// Term numbers are its own: a log that several processes share holds terms as text. Memory as that of a
/// [`Decider`](super::Decider) of these pages.
pub struct Piece<S> {
    vocabulary: Vocabulary,
    /// The pages of the piece, by numbers of its own.
    log: DecisionLog,
    search: Search<Renumbered<S>>,
    numbers: CommonNumbers,
}

/// Reads records by the piece's numbers.
struct Renumbered<S> {
    source: S,
    numbers: CommonNumbers,
}

impl<S: RecordSource> RecordSource for Renumbered<S> {
    type Error = S::Error;

    fn page(&self, page: Sequence) -> Result<LoggedPage, S::Error> {
        // A number beyond the piece is none of its own; the source refuses it.
        self.source.page(self.numbers.of(page))
    }
}

impl<S: RecordSource> Piece<S> {
    /// Creates a piece without pages, which reads committed records from `source` by their numbers in the common log.
    pub fn new(learnt: &Learnt, source: S) -> Self {
        let numbers = CommonNumbers::default();
        let source = Renumbered { source, numbers: numbers.clone() };
        let records = Records::new(source, learnt.options.weights);
        let search = Search::new(&learnt.options, records);
        Self { vocabulary: Vocabulary::default(), log: DecisionLog::of_piece(numbers.clone()), search, numbers }
    }

    /// Says what this piece knows of the pages of a turn, in order, without those that the turn withdraws. Nothing
    /// changes.
    ///
    /// # Errors
    /// If a stored record can't be read back.
    pub fn reply(&mut self, turn: &TurnInput, learnt: &Learnt) -> Result<Vec<Reply>, DetectError> {
        self.search.file_again(learnt.stats.measure())?;
        let first = learnt.standings.pages.next();
        let before = turn.has_renewals().then(|| (self.log.withdrawn().clone(), self.log.renewals()));
        let withdrawn = self.log.withdraw(&turn.withdrawn, first);
        let replies = turn.pages.iter().map(|page| self.reply_in_turn(page, first, before.is_some(), learnt)).collect();
        // The turn may never be committed.
        if let Some((before, renewals)) = before {
            self.log.restore_withdrawn(before, renewals);
        }
        self.log.take_back(&withdrawn);
        replies
    }

    /// Replies to a page of a turn, after the pages that leave for it have left.
    fn reply_in_turn(
        &mut self,
        page: &PageInput,
        first: Sequence,
        has_renewals: bool,
        learnt: &Learnt,
    ) -> Result<Reply, DetectError> {
        let Some(earlier) = page.renews else { return self.reply_to(page, has_renewals, &[], learnt) };
        let standings = &learnt.standings.pages;
        // The number matters to pages of later turns only.
        let displaced = self.log.renew_in_turn(first, page.rank, earlier, |page| standings.get(page));
        let keys = |page| self.numbers.find(page).and_then(|page| self.log.copy_keys(page));
        let (renewed, displaced) = (keys(earlier), displaced.and_then(keys));
        let ended: Vec<CopyKeys> = renewed.into_iter().chain(displaced).collect();
        Ok(Reply { renewed, displaced, ..self.reply_to(page, has_renewals, &ended, learnt)? })
    }

    /// Replies to a page. In a turn with renewals copies of it may pass nothing on; those of `ended` pages do not, and are
    /// not looked for.
    fn reply_to(
        &mut self,
        input: &PageInput,
        has_renewals: bool,
        ended: &[CopyKeys],
        learnt: &Learnt,
    ) -> Result<Reply, DetectError> {
        let group = learnt.group(input.group);
        let known = self.log.find(input.page).map(|(number, entry)| self.named(number, entry.verdict));
        let is_ended = |is_it: &dyn Fn(&CopyKeys) -> bool| ended.iter().any(|keys| keys.group == group && is_it(keys));
        let body = Some(input.body_digest).filter(|body| !is_ended(&|keys| keys.body == *body));
        let same_body = body.and_then(|body| self.log.same_body(group, body));
        let same_body = same_body.map(|(number, entry)| self.named(number, entry.verdict));
        let text = input.text_digest.filter(|text| !is_ended(&|keys| keys.text == Some(*text)));
        let same_text = text.and_then(|text| self.log.same_text(group, text));
        let same_text = same_text.map(|(number, entry)| self.named(number, entry.verdict));
        let reply = Reply { known, same_body, same_text, ..Reply::default() };
        if known.is_some() || same_body.is_some() && !has_renewals {
            return Ok(reply);
        }
        let terms = self.vocabulary.look_up_page(&input.terms);
        let (page, _) = learnt.stats.weigh(&learnt.options, input.group, &terms, input.order.clone());
        if !learnt.is_comparable(&page) {
            return Ok(reply);
        }
        let query = verdict_query(learnt);
        let needed = QueryPage { group, page: &page, prepared: &query.measure.prepare(&page) };
        let found = self.search.find_matches(&query, needed, &self.log)?;
        let best = found.first().map(|found| Match { of: self.number(found.of), ..*found });
        Ok(Reply { best, ..reply })
    }

    /// Takes in the pages of a decided turn that are this piece's, and passes over those that it withdraws from here on.
    /// The turn is the next one of the log; `learnt` is as of the turn before.
    ///
    /// # Errors
    /// If no number is left for a page or a term.
    pub fn apply(
        &mut self,
        turn: &DecidedTurn,
        learnt: &Learnt,
        is_mine: impl Fn(&PageInput) -> bool,
    ) -> Result<(), DetectError> {
        self.log.withdraw(&turn.withdrawn, turn.first);
        let (standings, mut endings) = (&learnt.standings.pages, turn.endings.iter().peekable());
        for decided in &turn.pages {
            let sequence = decided.sequence;
            let PageInput { page: name, group, body_digest, text_digest, rank, renews, .. } = decided.input;
            if let Some(earlier) = renews {
                self.log.renew_in_turn(sequence, rank, earlier, |page| standings.get(page));
            }
            while let Some(ending) = endings.next_if(|ending| ending.from <= sequence) {
                self.log.end_copies(ending);
            }
            let group = learnt.group(group);
            if !is_mine(&decided.input) {
                self.log.keep_first(group, body_digest, text_digest);
                continue;
            }
            let page = Arc::new(learnt.page(&mut self.vocabulary, decided)?);
            let verdict = decided.verdict;
            let number = self.log.push(Entry { page: name, group, body_digest, text_digest, verdict, rank })?;
            self.numbers.push(decided.sequence);
            if verdict.is_unique() && learnt.is_comparable(&page) {
                let measure = learnt.stats.measure();
                self.search.insert(number, &page, measure, &measure.prepare(&page));
                self.search.records().insert(number, page, true);
            }
        }
        self.search.file_again(learnt.stats.measure())
    }

    /// Reports that the source has the records of all pages taken in: they may leave memory.
    pub fn committed(&mut self) {
        self.search.records().committed(Sequence(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX)));
    }

    /// Returns the number of its pages.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Returns whether it has no pages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn number(&self, page: Sequence) -> Sequence {
        self.numbers.of(page)
    }

    /// Returns the number of a page in the common log, and its verdict, which has such numbers already.
    fn named(&self, page: Sequence, verdict: Verdict) -> (Sequence, Verdict) {
        (self.number(page), verdict)
    }
}

fn verdict_query(learnt: &Learnt) -> MatchQuery<'_> {
    let measure = learnt.stats.measure();
    MatchQuery { measure, mode: Mode::Best, threshold: learnt.options.bar(), condition: &|_, _, _| true }
}
