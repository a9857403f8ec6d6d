//! Decides the pages of a turn: the best of what the pieces reply and of what came before in the turn.

use std::borrow::Cow;
use std::collections::HashMap;

use super::decision_log::inherited;
use super::learnt::Learnt;
use super::page_match::{Match, Page};
use super::turn::{CopyKeys, DecidedPage, DecidedTurn, Ending, Reply, TurnAnswer, TurnInput};
use super::withdrawals::WithdrawnPages;
use super::{DetectError, Vocabulary};
use crate::model::{DecidedBy, Digest, PageId, PageInput, Sequence, Threshold, Verdict};

/// A page of the turn that was decided.
struct Settled {
    verdict: Verdict,
    body: (u32, Digest),
    text: Option<(u32, Digest)>,
    /// Its group and weighed terms, if later pages are compared with it.
    compared: Option<(u32, Page)>,
}

/// Decides the pages of a turn. `first` is the number of the next page; `replies` has the replies of all pieces, each
/// with one for every page; `learnt` is as of the turn before.
///
/// Cost: comparing each page with the unique ones before it in the turn.
///
/// # Errors
/// [`DetectError::NotDecided`], [`DetectError::PagesFull`], or a full vocabulary.
pub fn settle_turn(
    first: Sequence,
    turn: impl Into<TurnInput>,
    replies: &[Vec<Reply>],
    learnt: &Learnt,
) -> Result<DecidedTurn, DetectError> {
    let turn = turn.into();
    check_earlier(&turn, first)?;
    let mut settling = TurnSettling::new(first, learnt, &turn);
    let TurnInput { withdrawn, pages, is_unsettled } = turn;
    let answers = Vec::with_capacity(pages.len());
    let mut decided = DecidedTurn { first, withdrawn, pages: Vec::new(), endings: Vec::new(), is_unsettled, answers };
    for (place, input) in pages.into_iter().enumerate() {
        let reply = merged(replies.iter().filter_map(|piece| piece.get(place)));
        if let Some((sequence, verdict)) = reply.known.or_else(|| settling.find(input.page)) {
            decided.answers.push(TurnAnswer { sequence, verdict, redelivered: true, displaced: None });
            continue;
        }
        let displaced = settling.renew(&input, &reply, &mut decided.endings)?;
        let (sequence, verdict, least_weight) = settling.decide(&input, &reply)?;
        decided.answers.push(TurnAnswer { sequence, verdict, redelivered: false, displaced });
        decided.pages.push(DecidedPage { sequence, input, verdict, least_weight });
    }
    Ok(decided)
}

/// Checks that all pages that a turn withdraws or renews were decided before page `next`.
pub(super) fn check_earlier(turn: &TurnInput, next: Sequence) -> Result<(), DetectError> {
    let renewed = turn.pages.iter().filter_map(|page| page.renews);
    let unknown = turn.withdrawn.iter().copied().chain(renewed).find(|page| *page >= next);
    unknown.map_or(Ok(()), |page| Err(DetectError::NotDecided { page }))
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
        renewed: all.renewed.or(reply.renewed),
        displaced: all.displaced.or(reply.displaced),
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
    /// Which pages left before the next page of the turn is decided.
    withdrawn: Cow<'a, WithdrawnPages>,
    /// Bodies and texts of which earlier pages pass nothing on, with the first place from which pages do.
    ended_bodies: HashMap<(u32, Digest), usize>,
    ended_texts: HashMap<(u32, Digest), usize>,
}

impl<'a> TurnSettling<'a> {
    fn new(first: Sequence, learnt: &'a Learnt, turn: &TurnInput) -> Self {
        let mut withdrawn = Cow::Borrowed(&learnt.standings.withdrawn);
        if turn.has_renewals() {
            for page in &turn.withdrawn {
                withdrawn.to_mut().withdraw(*page, first);
            }
        }
        Self {
            learnt,
            first,
            vocabulary: Vocabulary::default(),
            settled: Vec::new(),
            names: HashMap::new(),
            withdrawn,
            ended_bodies: HashMap::new(),
            ended_texts: HashMap::new(),
        }
    }

    /// Has the pages leave that the next page of the turn takes the place of. Returns the one that it displaces.
    fn renew(
        &mut self,
        input: &PageInput,
        reply: &Reply,
        endings: &mut Vec<Ending>,
    ) -> Result<Option<Sequence>, DetectError> {
        let Some(earlier) = input.renews else { return Ok(None) };
        let place = self.settled.len();
        let from = self.number(place)?;
        let pages = &self.learnt.standings.pages;
        let leaves = self.withdrawn.to_mut().renew(from, input.rank, earlier, |page| pages.get(page));
        let displaced = leaves.filter(|page| *page != earlier);
        let told = [Some((earlier, reply.renewed)), displaced.map(|page| (page, reply.displaced))];
        for (page, keys) in told.into_iter().flatten() {
            let keys = keys.ok_or(DetectError::NotDecided { page })?;
            let CopyKeys { group, body, text } = keys;
            self.ended_bodies.insert((group, body), place);
            text.map(|text| self.ended_texts.insert((group, text), place));
            endings.push(Ending { from, keys });
        }
        Ok(displaced)
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
        let same_body = self.first_copy(reply.same_body, self.ended_bodies.get(&body), |known| known.body == body);
        let same_text = || {
            let text = text?;
            let known = self.first_copy(reply.same_text, self.ended_texts.get(&text), |known| known.text == Some(text));
            known.filter(|_| is_long_enough)
        };
        let is_comparable = self.learnt.is_comparable(&page);
        let verdict = match (same_body, same_text()) {
            (Some((of, verdict)), _) => inherited(of, verdict, DecidedBy::BodyDigest),
            (None, Some((of, verdict))) => inherited(of, verdict, DecidedBy::TextDigest),
            (None, None) if is_comparable => self.match_of(group, &page, reply.best),
            (None, None) => Verdict::Unique,
        };
        self.names.insert(input.page, place);
        let compared = (verdict.is_unique() && is_comparable).then_some((group, page));
        self.settled.push(Settled { verdict, body, text, compared });
        Ok((sequence, verdict, least_weight))
    }

    /// Returns the first copy: the one that the pieces know, or one of the turn. Of `ended` copies those before that
    /// place pass nothing on, nor does one that repeats a page which has left since.
    fn first_copy(
        &self,
        known: Option<(Sequence, Verdict)>,
        ended: Option<&usize>,
        is_copy: impl Fn(&Settled) -> bool,
    ) -> Option<(Sequence, Verdict)> {
        let of_pieces = known.filter(|_| ended.is_none());
        of_pieces.or_else(|| {
            let mut of_turn = self.settled.iter().enumerate().skip(ended.copied().unwrap_or_default());
            let is_kept = |verdict: Verdict| !verdict.duplicate_of().is_some_and(|of| self.withdrawn.is_withdrawn(of));
            let (place, settled) = of_turn.find(|(_, settled)| is_copy(settled) && is_kept(settled.verdict))?;
            Some((self.number(place).ok()?, settled.verdict))
        })
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
            let bar = options.bar().max(score);
            if *other_group == group
                && let Some(found) = stats.measure().compare(page, other, bar)
                && let Ok(of) = self.number(place)
            {
                best = Some(Match { of, score: found.score, second: found.second, difference: found.difference });
            }
        }
        best.map_or(Verdict::Unique, |found| Verdict::NearDuplicate {
            of: found.of,
            score: found.score,
            second: found.second,
            difference: found.difference,
            detector: options.detector,
            decided_by: DecidedBy::Similarity,
        })
    }
}
