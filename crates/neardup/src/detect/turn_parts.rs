//! Turns of an index that is divided by hosts: each part is settled where its pages are, and then the parts are joined.

use serde::{Deserialize, Serialize};

use super::learnt::Learnt;
use super::piece::Piece;
use super::records::RecordSource;
use super::settle_turn::settle_turn;
use super::turn::{TurnAnswer, TurnInput};
use super::{DetectError, Within};
use crate::model::{PageInput, Sequence, Verdict};

/// A part of a turn: pages of the hosts of one [part](super::Options::text_parts), and what was decided on them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledPart {
    /// The decisions, by the places of the pages in the turn, ascending.
    answers: Vec<(u32, PartAnswer)>,
}

/// What was decided on a page. Pages of the turn have no numbers yet, but places among the new pages of their part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum PartAnswer {
    /// A page that an earlier turn has decided.
    Known(Sequence, Verdict),
    /// A page that the turn has decided before.
    Repeated(u32),
    /// A new page. `in_turn`: the page that it repeats is the one of this place among the new ones.
    New { verdict: Verdict, in_turn: Option<u32>, least_weight: u32 },
}

/// The decision on a page of a turn whose parts were joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedAnswer {
    /// The decision.
    pub answer: TurnAnswer,
    /// See [`Judged::least_weight`](crate::model::Judged::least_weight). 0 if the page had been decided before.
    pub least_weight: u32,
}

impl SettledPart {
    /// Decides the pages of a part, given with their places in the turn, ascending. `piece` has all stored pages of their
    /// hosts, and `learnt` knows these hosts as of the turn before. `next` is the number of the next page of the crawl.
    ///
    /// Cost: as [`Piece::reply`] and [`settle_turn`] for these pages.
    ///
    /// # Errors
    /// [`DetectError::Undividable`] if pages of other hosts are compared or one is a renewal, and those of the two functions.
    pub fn settle<S: RecordSource>(
        next: Sequence,
        pages: Vec<(u32, PageInput)>,
        piece: &mut Piece<S>,
        learnt: &Learnt,
    ) -> Result<Self, DetectError> {
        if learnt.options.within != Within::Host {
            return Err(DetectError::Undividable { reason: "pages of all hosts are compared" });
        }
        let (places, pages): (Vec<u32>, Vec<PageInput>) = pages.into_iter().unzip();
        let turn: TurnInput = pages.into();
        if turn.has_renewals() {
            return Err(DetectError::Undividable { reason: "pages of parts are not decided again" });
        }
        let replies = piece.reply(&turn, learnt)?;
        let settled = settle_turn(next, turn, &[replies], learnt)?;
        // Of a page of the turn, the place among the new pages of the part.
        let in_turn = |page: Sequence| page.0.checked_sub(next.0);
        let mut new = settled.pages.iter();
        let answer = |answer: TurnAnswer| match (answer.redelivered, in_turn(answer.sequence)) {
            (true, None) => PartAnswer::Known(answer.sequence, answer.verdict),
            (true, Some(place)) => PartAnswer::Repeated(place),
            (false, _) => PartAnswer::New {
                verdict: answer.verdict,
                in_turn: answer.verdict.duplicate_of().and_then(in_turn),
                least_weight: new.next().map_or(0, |decided| decided.least_weight),
            },
        };
        Ok(Self { answers: places.into_iter().zip(settled.answers.into_iter().map(answer)).collect() })
    }
}

/// Joins the parts of a turn of `pages` pages. `next` is the number of the next page of the crawl.
///
/// Gives the verdicts of one [`Decider`](super::Decider) that compares [within hosts](Within::Host) and divides what it knows of
/// hosts into as [many parts](super::Options::text_parts).
///
/// # Errors
/// [`DetectError::OtherParts`] if the parts are not those of one turn of so many pages; [`DetectError::PagesFull`].
pub fn join_parts(next: Sequence, pages: usize, parts: &[SettledPart]) -> Result<Vec<JoinedAnswer>, DetectError> {
    let mut by_place: Vec<Option<(usize, PartAnswer)>> = vec![None; pages];
    for (part, settled) in parts.iter().enumerate() {
        for (place, answer) in &settled.answers {
            let free = by_place.get_mut(*place as usize).filter(|free| free.is_none());
            *free.ok_or(DetectError::OtherParts { place: *place })? = Some((part, *answer));
        }
    }
    let mut new: Vec<Vec<(Sequence, Verdict)>> = vec![Vec::new(); parts.len()];
    let (mut joined, mut number) = (Vec::with_capacity(pages), next);
    for (place, answer) in (0..).zip(by_place) {
        let other = DetectError::OtherParts { place };
        let Some((part, answer)) = answer else { return Err(other) };
        let known = |place: u32| new[part].get(place as usize).copied();
        joined.push(match answer {
            PartAnswer::Known(sequence, verdict) => {
                let answer = TurnAnswer { sequence, verdict, redelivered: true, displaced: None };
                JoinedAnswer { answer, least_weight: 0 }
            }
            PartAnswer::Repeated(place) => {
                let (sequence, verdict) = known(place).ok_or(other)?;
                let answer = TurnAnswer { sequence, verdict, redelivered: true, displaced: None };
                JoinedAnswer { answer, least_weight: 0 }
            }
            PartAnswer::New { verdict, in_turn, least_weight } => {
                let of = in_turn.map(|place| known(place).ok_or(other)).transpose()?;
                let verdict = verdict.renumbered(|page| of.map_or(page, |(of, _)| of));
                let sequence = number;
                if sequence.as_earlier().is_some() {
                    return Err(DetectError::PagesFull);
                }
                number.0 += 1;
                new[part].push((sequence, verdict));
                let answer = TurnAnswer { sequence, verdict, redelivered: false, displaced: None };
                JoinedAnswer { answer, least_weight }
            }
        });
    }
    Ok(joined)
}
