//! The turn of questions at the end of a crawl: which decisions are to be made again?
//!
//! When nobody has anything to do, one run sends a question as an arrival, so that it has a place in the order of turns.
//! First each piece names near-duplicates that are unlike the page of its own that they name. Then each piece says of
//! all these whether it has another match, and which of its duplicates outrank the page that they name. The judge unites
//! the answers, and the turn has the result. Both are answered as of the end of the turn before.
//!
//! Stored pages that gave their place away come first, alone: what is compared next must know whether they are stored.

use std::collections::BTreeSet;

use super::computing::computing;
use super::connection::Session;
use super::error::ClusterError;
use super::question::{Asked, Found, Question, QuestionReply};
use super::turn_arrivals::arriving_of;
use super::turn_body::{TurnArrivals, TurnVerdicts};
use super::turn_log::{turn_before, turns_behind};
use crate::detect::{DecidedPage, Decider, DetectError, InMemory, Learnt, Piece, best_outranking, outdated};
use crate::model::{Sequence, Verdict};

/// Turns that are read at once.
const AT_ONCE: i64 = 64;

/// Answers questions by a piece.
pub(super) async fn reply_to(
    session: &Session,
    piece: &mut Piece<InMemory>,
    learnt: &Learnt,
    questions: &[Question],
) -> Result<Vec<QuestionReply>, ClusterError> {
    let mut replies = Vec::new();
    for question in questions {
        replies.push(match question {
            Question::Suspects(asked) => QuestionReply::Suspects(suspects(session, piece, learnt, *asked).await?),
            Question::Revisions(asked, suspects) => {
                let pages = decided_pages(session, suspects).await?;
                let looks = computing(|| piece.look_again(&pages, learnt))?;
                let mut outranking = piece.outranking(asked.from, learnt);
                outranking.retain(|duplicate| duplicate.of >= asked.settled);
                QuestionReply::Revisions(looks, outranking)
            }
        });
    }
    Ok(replies)
}

/// Unites what all pieces say. `replies` has the replies of each piece to all questions.
pub(super) fn settle(questions: &[Question], replies: &[Vec<QuestionReply>], learnt: &Learnt) -> Vec<Found> {
    let settled = |(place, question): (usize, &Question)| {
        let of_pieces = replies.iter().filter_map(|piece| piece.get(place));
        match question {
            Question::Suspects(_) => {
                let named = of_pieces.flat_map(|reply| match reply {
                    QuestionReply::Suspects(suspects) => &suspects[..],
                    QuestionReply::Revisions(..) => &[],
                });
                Found::Suspects(named.copied().collect::<BTreeSet<_>>().into_iter().collect())
            }
            Question::Revisions(asked, suspects) => {
                let (mut looks, mut named) = (Vec::new(), Vec::new());
                for reply in of_pieces {
                    if let QuestionReply::Revisions(piece_looks, outranking) = reply {
                        looks.push(piece_looks.clone());
                        named.extend_from_slice(outranking);
                    }
                }
                revisions(*asked, learnt.displaced(), outdated(suspects, &looks), best_outranking(named))
            }
        }
    };
    questions.iter().enumerate().map(settled).collect()
}

/// Returns what one process, which has decided all pages so far, says to a question that ends a round.
pub(super) fn of_one_process(
    decider: &mut Decider<InMemory>,
    question: &Question,
) -> Result<Option<Found>, DetectError> {
    let Question::Revisions(asked, _) = *question else { return Ok(None) };
    let (outdated, mut outranking) = (decider.outdated_duplicates(asked.from)?, decider.outranking(asked.from));
    outranking.retain(|page| {
        let of = decider.verdict(*page).and_then(|verdict| verdict.duplicate_of());
        of.is_some_and(|of| of >= asked.settled)
    });
    Ok(Some(revisions(asked, decider.displaced(), outdated, outranking)))
}

fn revisions(asked: Asked, displaced: Vec<Sequence>, outdated: Vec<Sequence>, outranking: Vec<Sequence>) -> Found {
    if !displaced.is_empty() {
        return Found::Displaced(displaced);
    }
    let found: BTreeSet<Sequence> = outdated.into_iter().chain(outranking).collect();
    Found::Revisions(found.into_iter().filter(|page| *page >= asked.settled).collect())
}

/// Returns near-duplicates that name a page of the piece and are unlike it by now.
///
/// Cost: a read of the turns that may have such duplicates, and of the arrivals of those that have some.
async fn suspects(
    session: &Session,
    piece: &mut Piece<InMemory>,
    learnt: &Learnt,
    asked: Asked,
) -> Result<Vec<Sequence>, ClusterError> {
    let mut suspects = Vec::new();
    let Some(suspicion) = piece.suspicion(asked.from, learnt).filter(|_| learnt.displaced().is_empty()) else {
        return Ok(suspects);
    };
    let mut last = turn_before(session, suspicion.first().max(asked.settled)).await?;
    loop {
        let turns = turns_behind(session, last, AT_ONCE).await?;
        let Some(turn) = turns.last() else { return Ok(suspects) };
        last = turn.number;
        for row in &turns {
            let is_due = |page: Sequence, verdict: &Verdict| {
                page >= asked.settled
                    && suspicion.concerns(page, verdict)
                    && verdict.duplicate_of().is_some_and(|of| piece.has(of))
            };
            let pages = pages_of(session, &row.body, is_due).await?;
            for (number, page) in pages {
                if computing(|| piece.is_suspect(&page, learnt))? {
                    suspects.push(number);
                }
            }
        }
    }
}

/// Reads these decided pages, which are given ascending.
async fn decided_pages(session: &Session, wanted: &[Sequence]) -> Result<Vec<DecidedPage>, ClusterError> {
    let first = wanted.first().copied().unwrap_or_default();
    let (mut found, mut last) = (std::collections::BTreeMap::new(), turn_before(session, first).await?);
    while found.len() < wanted.len() {
        let turns = turns_behind(session, last, AT_ONCE).await?;
        let Some(turn) = turns.last() else { break };
        last = turn.number;
        for row in &turns {
            let is_wanted = |page: Sequence, _: &Verdict| wanted.binary_search(&page).is_ok();
            found.extend(pages_of(session, &row.body, is_wanted).await?);
        }
    }
    let missing = |page: &Sequence| ClusterError::Damaged(format!("no turn has decided page {page}"));
    wanted.iter().map(|page| found.remove(page).ok_or_else(|| missing(page))).collect()
}

/// Reads the pages of a turn that are wanted. Its arrivals are read only if there are any.
async fn pages_of(
    session: &Session,
    body: &[u8],
    is_wanted: impl Fn(Sequence, &Verdict) -> bool,
) -> Result<Vec<(Sequence, DecidedPage)>, ClusterError> {
    let verdicts = TurnVerdicts::read(body)?;
    let wanted: BTreeSet<Sequence> =
        verdicts.decided().filter(|(page, verdict)| is_wanted(*page, verdict)).map(|(page, _)| page).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let arrivals: TurnArrivals = arriving_of(session, &verdicts.ranges()).await?.into_iter().collect();
    let turn = verdicts.of(arrivals)?;
    let numbered = turn.pages.into_iter().map(|page| (page.sequence, page));
    Ok(numbered.filter(|(number, _)| wanted.contains(number)).collect())
}
