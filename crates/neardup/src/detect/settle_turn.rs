//! Decides the pages of a turn: the best of what the pieces reply and of what came before in the turn.

use std::collections::HashMap;

use super::decision_log::inherited;
use super::learnt::Learnt;
use super::page_match::{Match, Page};
use super::turn::{DecidedPage, DecidedTurn, Reply, TurnAnswer, TurnInput};
use super::{DetectError, Vocabulary};
use crate::model::{DecidedBy, Digest, PageId, PageInput, Sequence, Threshold, Verdict};

/// A page of the turn that was decided.
struct Settled {
    verdict: Verdict,
    /// Its group and weighed terms, if later pages are compared with it.
    compared: Option<(u32, Page)>,
}

/// Decides the pages of a turn. `first` is the number of the next page; `replies` has the replies of all pieces, each
/// with one for every page; `learnt` is as of the turn before.
///
/// Cost: comparing each page with the unique ones before it in the turn.
///
/// # Errors
/// [`DetectError::RenewalInTurn`], [`DetectError::NotDecided`], [`DetectError::PagesFull`], or a full vocabulary.
pub fn settle_turn(
    first: Sequence,
    turn: impl Into<TurnInput>,
    replies: &[Vec<Reply>],
    learnt: &Learnt,
) -> Result<DecidedTurn, DetectError> {
    let TurnInput { withdrawn, pages } = turn.into();
    check_withdrawn(&withdrawn, first)?;
    let mut decided = DecidedTurn { first, withdrawn, pages: Vec::new(), answers: Vec::with_capacity(pages.len()) };
    let mut settling = TurnSettling::new(first, learnt);
    for (place, input) in pages.into_iter().enumerate() {
        if input.renews.is_some() {
            return Err(DetectError::RenewalInTurn { page: input.page });
        }
        let reply = merged(replies.iter().filter_map(|piece| piece.get(place)));
        if let Some((sequence, verdict)) = reply.known.or_else(|| settling.find(input.page)) {
            decided.answers.push(TurnAnswer { sequence, verdict, redelivered: true });
            continue;
        }
        let (sequence, verdict, least_weight) = settling.decide(&input, &reply)?;
        decided.answers.push(TurnAnswer { sequence, verdict, redelivered: false });
        decided.pages.push(DecidedPage { input, verdict, least_weight });
    }
    Ok(decided)
}

/// Checks that all these pages were decided before page `next`.
pub(super) fn check_withdrawn(withdrawn: &[Sequence], next: Sequence) -> Result<(), DetectError> {
    let unknown = withdrawn.iter().find(|page| **page >= next);
    unknown.map_or(Ok(()), |page| Err(DetectError::NotDecided { page: *page }))
}

/// Returns the first copies and the best match of all pieces.
fn merged<'a>(replies: impl Iterator<Item = &'a Reply>) -> Reply {
    let first = |one: Option<(Sequence, Verdict)>, other: Option<(Sequence, Verdict)>| {
        one.into_iter().chain(other).min_by_key(|(sequence, _)| *sequence)
    };
    replies.fold(Reply::default(), |all, reply| Reply {
        known: first(all.known, reply.known),
        same_body: first(all.same_body, reply.same_body),
        same_text: first(all.same_text, reply.same_text),
        best: all.best.into_iter().chain(reply.best).min_by_key(|found| (std::cmp::Reverse(found.score), found.of)),
    })
}

/// The pages of a turn that are decided so far.
struct TurnSettling<'a> {
    learnt: &'a Learnt,
    first: Sequence,
    vocabulary: Vocabulary,
    settled: Vec<Settled>,
    names: HashMap<PageId, usize>,
    first_body: HashMap<(u32, Digest), usize>,
    first_text: HashMap<(u32, Digest), usize>,
}

impl<'a> TurnSettling<'a> {
    fn new(first: Sequence, learnt: &'a Learnt) -> Self {
        let (names, first_body, first_text) = (HashMap::new(), HashMap::new(), HashMap::new());
        let vocabulary = Vocabulary::default();
        Self { learnt, first, vocabulary, settled: Vec::new(), names, first_body, first_text }
    }

    fn number(&self, place: usize) -> Result<Sequence, DetectError> {
        let number = u32::try_from(place).ok().and_then(|place| self.first.0.checked_add(place)).map(Sequence);
        number.filter(|number| number.as_earlier().is_none()).ok_or(DetectError::PagesFull)
    }

    fn find(&self, page: PageId) -> Option<(Sequence, Verdict)> {
        let place = *self.names.get(&page)?;
        Some((self.number(place).ok()?, self.settled[place].verdict))
    }

    /// Decides the next page of the turn. Returns its number, its verdict and the least weight of its terms.
    fn decide(&mut self, input: &PageInput, reply: &Reply) -> Result<(Sequence, Verdict, u32), DetectError> {
        let Learnt { options, stats, .. } = self.learnt;
        let (place, group) = (self.settled.len(), self.learnt.group(input.group));
        let sequence = self.number(place)?;
        let (terms, _, order) = self.vocabulary.intern_page(input.terms.clone(), input.order.clone())?;
        let (page, least_weight) = stats.weigh(options, input.group, &terms, order);
        let is_long_enough = page.record.len() >= options.min_terms;
        let body = (group, input.body_digest);
        let text = input.text_digest.map(|text| (group, text));
        let same_body = reply.same_body.or_else(|| self.copy(self.first_body.get(&body)));
        let same_text = || {
            let known = reply.same_text.or_else(|| self.copy(self.first_text.get(&text?)));
            known.filter(|_| text.is_some() && is_long_enough)
        };
        let is_comparable = self.learnt.is_comparable(&page);
        let verdict = match (same_body, same_text()) {
            (Some((of, verdict)), _) => inherited(of, verdict, DecidedBy::BodyDigest),
            (None, Some((of, verdict))) => inherited(of, verdict, DecidedBy::TextDigest),
            (None, None) if is_comparable => self.match_of(group, &page, reply.best),
            (None, None) => Verdict::Unique,
        };
        self.names.insert(input.page, place);
        self.first_body.entry(body).or_insert(place);
        text.map(|text| *self.first_text.entry(text).or_insert(place));
        let compared = (verdict.is_unique() && is_comparable).then_some((group, page));
        self.settled.push(Settled { verdict, compared });
        Ok((sequence, verdict, least_weight))
    }

    fn copy(&self, place: Option<&usize>) -> Option<(Sequence, Verdict)> {
        let place = *place?;
        Some((self.number(place).ok()?, self.settled[place].verdict))
    }

    /// Returns the verdict by the best match, in the pieces or in the turn.
    fn match_of(&self, group: u32, page: &Page, mut best: Option<Match>) -> Verdict {
        let Learnt { options, stats, .. } = self.learnt;
        let stored = self.settled.iter().enumerate();
        for (place, (other_group, other)) in
            stored.filter_map(|(place, settled)| Some((place, settled.compared.as_ref()?)))
        {
            // Of equal scores the first page stays, and those of the pieces come before the turn.
            let score = best.map_or(0, |best| best.score.0 + 1);
            let Some(score) = Threshold::from_millionths(score) else { break };
            let bar = stats.measure().pair_bar(page, other, options.bar()).max(score);
            if *other_group == group
                && let Some(found) = stats.measure().compare(page, other, bar)
                && let Ok(of) = self.number(place)
            {
                best = Some(Match { of, score: found.score, second: found.second });
            }
        }
        best.map_or(Verdict::Unique, |found| Verdict::NearDuplicate {
            of: found.of,
            score: found.score,
            second: found.second,
            detector: options.detector,
            decided_by: DecidedBy::Similarity,
        })
    }
}
