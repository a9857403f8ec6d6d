//! A holder: a run that holds a piece of the index, answers turns with it, and takes them in.
//!
//! The piece is derived from the log. A holder that finds its last turn missing from the log, after a failover, has to be
//! replaced by a new one, which reads the log from its beginning.

use std::collections::BTreeSet;

use crate::detect::{DecidedTurn, InMemory, Learnt, Options, Piece, TurnAnswer as PageAnswer, settle_turn};
use crate::model::{PageId, Sequence, Slot};

use super::arrivals::read_arrivals;
use super::connection::Session;
use super::error::ClusterError;
use super::judge::{Judge, TurnContent};
use super::lease::RunId;
use super::turn_body::{Arriving, TurnArrivals, TurnVerdicts, arrivals_in, replies_of, reply_body};
use super::turn_log::{
    ArrivalRange, Attempt, OpenTurn, TurnAnswer, TurnRow, answer_turn, answers, is_in_log, slots_answered, turns_behind,
};

/// Turns that are read at once.
const AT_ONCE: i64 = 16;
/// Chunks of arrivals that are read at once.
const CHUNKS: i64 = 64;

/// The pieces of some slots, and what all pieces know.
pub struct Holder {
    piece: Piece<InMemory>,
    learnt: Learnt,
    /// The slots that it answers for: judged pages go to slots by their names.
    slots: BTreeSet<Slot>,
    all_slots: u16,
    /// The last turn that was taken in, and its opening.
    applied: (i64, Attempt),
    /// The number of the next page.
    next: Sequence,
    /// The arrivals that were read last, for the turn that is open.
    arrivals: Option<(Vec<ArrivalRange>, TurnArrivals)>,
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
    ) -> Result<Self, crate::detect::DetectError> {
        let learnt = Learnt::new(options)?;
        let piece = Piece::new(&learnt, InMemory);
        let (slots, applied) = (slots.into_iter().collect(), (0, Attempt(0)));
        Ok(Self { piece, learnt, slots, all_slots: all_slots.max(1), applied, next: Sequence(0), arrivals: None })
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
        let ranges = verdicts.ranges();
        let arrivals = match self.arrivals.take() {
            Some((read, arrivals)) if read == ranges => arrivals,
            _ => arrivals_of(session, &ranges).await?,
        };
        let turn = verdicts.of(arrivals.clone())?;
        if turn.first != self.next {
            let what = format!("turn {} begins with page {}, not {}", row.number, turn.first, self.next);
            return Err(ClusterError::Damaged(what));
        }
        let numbers =
            ranges.iter().flat_map(|range| (0..i64::from(range.count)).map(|at| (range.run, range.first + at)));
        let answers = arrivals.answers(&turn);
        decided.extend(numbers.zip(answers).map(|((run, number), answer)| (run, number, answer)));
        computing(|| self.apply(&turn))?;
        self.applied = (row.number, row.attempt);
        Ok(())
    }

    fn apply(&mut self, turn: &DecidedTurn) -> Result<(), ClusterError> {
        let Self { piece, learnt, slots, all_slots, .. } = self;
        piece.apply(turn, learnt, |page| slots.contains(&slot_of(page, *all_slots)))?;
        learnt.learn(turn)?;
        self.next.0 += turn.pages.len() as u32;
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
        self.read(session, &turn.ranges).await?;
        let Self { piece, learnt, arrivals, .. } = self;
        let nothing = TurnArrivals::default();
        let arrivals = arrivals.as_ref().map_or(&nothing, |(_, arrivals)| arrivals);
        let body = reply_body(&computing(|| piece.reply(&arrivals.turn, learnt))?)?;
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
        let replies = answers.iter().map(|answer| replies_of(&answer.body)).collect::<Result<Vec<_>, _>>()?;
        self.read(session, ranges).await?;
        let nothing = TurnArrivals::default();
        let arrivals = self.arrivals.as_ref().map_or(&nothing, |(_, arrivals)| arrivals);
        let turn = computing(|| settle_turn(self.next, arrivals.turn.clone(), &replies, &self.learnt))?;
        let (body, pages) = (TurnVerdicts::body(ranges, arrivals, &turn)?, turn.pages.len() as i32);
        judge.commit_turn(session, attempt, ranges, TurnContent { pages, body: &body }).await?;
        Ok(true)
    }

    /// Reads the arrivals of a turn, unless they were read last.
    async fn read(&mut self, session: &Session, ranges: &[ArrivalRange]) -> Result<(), ClusterError> {
        if self.arrivals.as_ref().is_none_or(|(read, _)| read != ranges) {
            self.arrivals = Some((ranges.to_vec(), arrivals_of(session, ranges).await?));
        }
        Ok(())
    }
}

/// Runs what takes long on the processor. Other tasks of this thread, if there are any, move to another one.
fn computing<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
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

/// Reads these arrivals, in order.
async fn arrivals_of(session: &Session, ranges: &[ArrivalRange]) -> Result<TurnArrivals, ClusterError> {
    Ok(arriving_of(session, ranges).await?.into_iter().collect())
}

/// Reads these arrivals, in order, with what duplicates need of a page.
pub(super) async fn arriving_of(session: &Session, ranges: &[ArrivalRange]) -> Result<Vec<Arriving>, ClusterError> {
    let mut pages = Vec::new();
    for range in ranges {
        let (mut next, end) = (range.first, range.first + i64::from(range.count));
        while next < end {
            let before = next;
            for chunk in read_arrivals(session, range.run, next, CHUNKS).await? {
                let found = arrivals_in(&chunk.body)?;
                if found.len() != chunk.count as usize {
                    let what = format!("arrival {} of run {} has {} arrivals", chunk.first, range.run.0, found.len());
                    return Err(ClusterError::Damaged(what));
                }
                let numbered = (chunk.first..).zip(found).filter(|(number, _)| (before..end).contains(number));
                pages.extend(numbered.map(|(_, page)| page));
                next = (chunk.first + i64::from(chunk.count)).min(end);
                if next == end {
                    break;
                }
            }
            if next == before {
                return Err(ClusterError::Damaged(format!("run {} has no arrival {next}", range.run.0)));
            }
        }
    }
    Ok(pages)
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
