//! A holder: a run that holds a piece of the index, answers turns with it, and takes them in.
//!
//! If the index is divided by hosts, it holds a piece for each slot: a page is compared with what its slot has alone.
//!
//! The piece is derived from the log. A holder that finds its last turn missing from the log, after a failover, has to be
//! replaced by a new one, which reads the log from its beginning.

use std::collections::{BTreeMap, BTreeSet};

use crate::detect::{
    DecidedTurn, InMemory, Learnt, Options, Piece, SettledPart, TurnAnswer as PageAnswer, join_parts, settle_turn,
};
use crate::model::{PageId, Sequence, Slot};

use super::computing::computing;
use super::connection::Session;
use super::division::{Division, OwnPage, read_own, slot_of_host};
use super::error::ClusterError;
use super::judge::{Judge, TurnContent};
use super::lease::RunId;
use super::questions;
use super::turn_arrivals::arriving_of;
use super::turn_body::{TurnArrivals, TurnVerdicts, parts_body, parts_of, replies_of, reply_body};
use super::turn_log::{
    ArrivalRange, Attempt, OpenTurn, TurnAnswer, TurnRow, answer_turn, answers, is_in_log, slots_answered, turns_behind,
};

/// Turns that are read at once.
const AT_ONCE: i64 = 16;

/// The pieces of some slots, and what all pieces know.
pub struct Holder {
    pieces: HeldPieces,
    learnt: Learnt,
    /// The slots that it answers for.
    slots: BTreeSet<Slot>,
    all_slots: u16,
    division: Division,
    /// The last turn that was taken in, and its opening.
    applied: (i64, Attempt),
    /// The number of the next page.
    next: Sequence,
    /// The arrivals that were read last, for the turn that is open.
    arrivals: Option<(Vec<ArrivalRange>, HeldArrivals)>,
}

/// What a holder has of the index.
enum HeldPieces {
    /// The pages of its slots.
    OfPages(Box<Piece<InMemory>>),
    /// The pages of the hosts of each slot.
    OfHosts(BTreeMap<Slot, Piece<InMemory>>),
}

/// The arrivals of a turn that a holder needs.
enum HeldArrivals {
    /// All: the index is divided by pages.
    OfAll(TurnArrivals),
    /// The pages of its slots: the index is divided by hosts.
    OfHosts(Vec<OwnPage>),
}

/// The decision on an arrival: its run and number, and what was decided of its page, if it is no withdrawal.
pub type DecidedArrival = (RunId, i64, Option<PageAnswer>);

impl Holder {
    /// Creates a holder of these of `all_slots` slots, before the first turn.
    ///
    /// # Errors
    /// If verdicts with these options cannot be divided.
    pub fn new(
        options: Options,
        slots: impl IntoIterator<Item = Slot>,
        all_slots: u16,
        division: Division,
    ) -> Result<Self, crate::detect::DetectError> {
        let learnt = Learnt::new(options)?;
        let slots: BTreeSet<Slot> = slots.into_iter().collect();
        let piece = || Piece::new(&learnt, InMemory);
        let pieces = match division {
            Division::ByPages => HeldPieces::OfPages(Box::new(piece())),
            Division::ByHosts => HeldPieces::OfHosts(slots.iter().map(|slot| (*slot, piece())).collect()),
        };
        let applied = (0, Attempt(0));
        let (all_slots, next) = (all_slots.max(1), Sequence(0));
        Ok(Self { pieces, learnt, slots, all_slots, division, applied, next, arrivals: None })
    }

    /// Returns the number of the last turn that was taken in.
    pub fn applied(&self) -> i64 {
        self.applied.0
    }

    /// Returns the slots that it answers for.
    pub fn slots(&self) -> &BTreeSet<Slot> {
        &self.slots
    }

    /// Takes in all turns behind the last one. Returns the decisions on their arrivals.
    ///
    /// # Errors
    /// [`ClusterError::OtherLog`] if the log does not continue what was taken in.
    pub async fn follow(&mut self, session: &Session) -> Result<Vec<DecidedArrival>, ClusterError> {
        self.check(session).await?;
        let mut decided = Vec::new();
        while self.advance(session, &mut decided).await? {}
        Ok(decided)
    }

    /// Checks that the last turn that was taken in is in the log.
    ///
    /// # Errors
    /// [`ClusterError::OtherLog`] if it is not.
    pub async fn check(&self, session: &Session) -> Result<(), ClusterError> {
        let (number, attempt) = self.applied;
        if is_in_log(session, number, attempt).await? { Ok(()) } else { Err(ClusterError::OtherLog(number)) }
    }

    /// Takes in some turns behind the last one. Returns whether there were any.
    pub async fn advance(
        &mut self,
        session: &Session,
        decided: &mut Vec<DecidedArrival>,
    ) -> Result<bool, ClusterError> {
        let turns = turns_behind(session, self.applied.0, AT_ONCE).await?;
        for row in &turns {
            self.take_in(session, row, decided).await?;
        }
        Ok(!turns.is_empty())
    }

    async fn take_in(
        &mut self,
        session: &Session,
        row: &TurnRow,
        decided: &mut Vec<DecidedArrival>,
    ) -> Result<(), ClusterError> {
        let verdicts = TurnVerdicts::read(&row.body)?;
        if row.first_page != i64::from(self.next.0) {
            let what = format!("turn {} begins with page {}, not {}", row.number, row.first_page, self.next);
            return Err(ClusterError::Damaged(what));
        }
        let ranges = verdicts.ranges();
        let numbers =
            ranges.iter().flat_map(|range| (0..i64::from(range.count)).map(|at| (range.run, range.first + at)));
        let answers = numbers.zip(verdicts.page_answers());
        decided.extend(answers.map(|((run, number), answer)| (run, number, answer)));
        let turn = match self.take_arrivals(session, &ranges).await? {
            HeldArrivals::OfAll(arrivals) => verdicts.of(arrivals)?,
            HeldArrivals::OfHosts(own) => verdicts.of_some(own.into_iter().map(|page| (page.place, page.input)))?,
        };
        computing(|| self.apply(&turn))?;
        self.applied = (row.number, row.attempt);
        self.next.0 += u32::try_from(row.count).unwrap_or(0);
        Ok(())
    }

    fn apply(&mut self, turn: &DecidedTurn) -> Result<(), ClusterError> {
        let Self { pieces, learnt, slots, all_slots, .. } = self;
        match pieces {
            HeldPieces::OfPages(piece) => {
                piece.apply(turn, learnt, |page| slots.contains(&slot_of(page.page, *all_slots)))?;
            }
            HeldPieces::OfHosts(pieces) => {
                for (slot, piece) in pieces {
                    piece.apply(turn, learnt, |page| slot_of_host(page.group, *all_slots) == *slot)?;
                }
            }
        }
        learnt.learn(turn)?;
        Ok(())
    }

    /// Answers an open turn, after all turns before it were taken in.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] if the turn is not the next one.
    pub async fn answer(&mut self, session: &Session, run: RunId, turn: &OpenTurn) -> Result<(), ClusterError> {
        if turn.number != self.applied.0 + 1 {
            return Err(ClusterError::Damaged(format!("turn {} is open behind turn {}", turn.number, self.applied.0)));
        }
        let arrivals = self.take_arrivals(session, &turn.ranges).await?;
        let Self { pieces, learnt, next, .. } = self;
        let body = match (&arrivals, pieces) {
            (HeldArrivals::OfAll(arrivals), HeldPieces::OfPages(piece)) => {
                let of_questions = questions::reply_to(session, piece, learnt, &arrivals.questions).await?;
                reply_body(&(computing(|| piece.reply(&arrivals.turn, learnt))?, of_questions))?
            }
            (HeldArrivals::OfHosts(own), HeldPieces::OfHosts(pieces)) => {
                parts_body(&computing(|| settled(*next, own, pieces, learnt))?)?
            }
            _ => return Err(ClusterError::Damaged("the division of the index".to_owned())),
        };
        self.arrivals = Some((turn.ranges.clone(), arrivals));
        let answer = TurnAnswer { run, slots: self.slots.iter().copied().collect(), body };
        answer_turn(session, turn, &answer).await
    }

    /// Settles an open turn and commits it, if the answers cover all slots. Returns whether they do.
    ///
    /// # Errors
    /// [`ClusterError::JudgeLost`], and those of the detector.
    pub async fn settle(
        &mut self,
        session: &mut Session,
        judge: &mut Judge,
        attempt: Attempt,
        ranges: &[ArrivalRange],
    ) -> Result<bool, ClusterError> {
        if slots_answered(session, judge.next_turn(), attempt).await?.len() < usize::from(self.all_slots) {
            return Ok(false);
        }
        let answers = answers(session, judge.next_turn(), attempt).await?;
        // An answer may have been replaced since by one for other slots.
        let covered: BTreeSet<Slot> = answers.iter().flat_map(|answer| answer.slots.iter().copied()).collect();
        if covered.len() < usize::from(self.all_slots) {
            return Ok(false);
        }
        let mut concluded = None;
        let (body, pages) = match self.division {
            Division::ByPages => {
                let replies = answers.iter().map(|answer| replies_of(&answer.body)).collect::<Result<Vec<_>, _>>()?;
                let (replies, of_questions): (Vec<_>, Vec<_>) = replies.into_iter().unzip();
                let arrivals = match self.take_arrivals(session, ranges).await? {
                    HeldArrivals::OfAll(arrivals) => arrivals,
                    HeldArrivals::OfHosts(_) => TurnArrivals::default(),
                };
                let turn = computing(|| settle_turn(self.next, arrivals.turn.clone(), &replies, &self.learnt))?;
                let found = questions::settle(&arrivals.questions, &of_questions, &self.learnt);
                concluded = found.iter().filter_map(|found| found.conclusion()).max();
                let body = TurnVerdicts::body(ranges, &arrivals, &turn, found)?;
                self.arrivals = Some((ranges.to_vec(), HeldArrivals::OfAll(arrivals)));
                (body, turn.pages.len())
            }
            Division::ByHosts => {
                // Two processes may have answered for one slot: they say the same.
                let parts = answers.iter().map(|answer| parts_of(&answer.body)).collect::<Result<Vec<_>, _>>()?;
                let parts: BTreeMap<Slot, SettledPart> = parts.into_iter().flatten().collect();
                let pages: i64 = ranges.iter().map(|range| i64::from(range.count)).sum();
                let parts: Vec<SettledPart> = parts.into_values().collect();
                let joined = join_parts(self.next, usize::try_from(pages).unwrap_or(0), &parts)?;
                let new = joined.iter().filter(|joined| !joined.answer.redelivered).count();
                (TurnVerdicts::joined_body(ranges, self.next, &joined)?, new)
            }
        };
        let pages = i32::try_from(pages).unwrap_or(i32::MAX);
        judge.commit_turn(session, attempt, ranges, TurnContent { pages, body: &body, concluded }).await?;
        Ok(true)
    }

    /// Returns the arrivals of a turn. Reads them, unless they were kept.
    async fn take_arrivals(
        &mut self,
        session: &Session,
        ranges: &[ArrivalRange],
    ) -> Result<HeldArrivals, ClusterError> {
        if let Some((_, arrivals)) = self.arrivals.take().filter(|(read, _)| read == ranges) {
            return Ok(arrivals);
        }
        Ok(match self.division {
            Division::ByPages => HeldArrivals::OfAll(arriving_of(session, ranges).await?.into_iter().collect()),
            Division::ByHosts => HeldArrivals::OfHosts(read_own(session, ranges, &self.slots).await?),
        })
    }
}

/// Settles the pages of each slot.
fn settled(
    next: Sequence,
    own: &[OwnPage],
    pieces: &mut BTreeMap<Slot, Piece<InMemory>>,
    learnt: &Learnt,
) -> Result<Vec<(Slot, SettledPart)>, crate::detect::DetectError> {
    let mut by_slot = BTreeMap::<Slot, Vec<_>>::new();
    for OwnPage { place, slot, input } in own {
        by_slot.entry(*slot).or_default().push((*place, input.clone()));
    }
    let mut parts = Vec::new();
    for (slot, pages) in by_slot {
        if let Some(piece) = pieces.get_mut(&slot) {
            parts.push((slot, SettledPart::settle(next, pages, piece, learnt)?));
        }
    }
    Ok(parts)
}

/// Returns the slot of a judged page.
pub fn slot_of(page: PageId, slots: u16) -> Slot {
    Slot((page.0 % u128::from(slots.max(1))) as u16)
}

/// Returns the arrivals that wait for their turn, at most `most`: as many of each run as it has, up to the same number.
pub fn next_ranges(judge: &Judge, all: &[(RunId, i64)], most: i32) -> Vec<ArrivalRange> {
    let waiting = |&(run, next): &(RunId, i64)| {
        let first = judge.judged(run);
        let count = i32::try_from(next - first).unwrap_or(i32::MAX);
        ArrivalRange { run, first, count }
    };
    let mut ranges: Vec<ArrivalRange> = all.iter().map(waiting).filter(|range| range.count > 0).collect();
    ranges.sort_unstable_by_key(|range| (range.count, range.run));
    let (mut left, runs) = (most, ranges.len());
    for (place, range) in ranges.iter_mut().enumerate() {
        // Runs with little to judge leave the rest of their share to the others.
        let behind = i32::try_from(runs - place).unwrap_or(i32::MAX);
        range.count = range.count.min(left.saturating_add(behind - 1) / behind);
        left -= range.count;
    }
    ranges.retain(|range| range.count > 0);
    ranges.sort_unstable_by_key(|range| range.run);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_many_arrivals_leaves_others_their_share() {
        let judge = Judge::of_judged([(RunId(1), 10)]);
        let ranges = next_ranges(&judge, &[(RunId(1), 1_000), (RunId(2), 3), (RunId(3), 900), (RunId(4), 0)], 64);
        let counts: Vec<_> = ranges.iter().map(|range| (range.run.0, range.first, range.count)).collect();
        assert_eq!(counts, [(1, 10, 30), (2, 0, 3), (3, 0, 31)]);
    }
}
