//! A holder: a run that holds a piece of the index, answers turns with it, and takes them in.
//!
//! The piece is derived from the log. A holder that finds its last turn missing from the log, after a failover, has to be
//! replaced by a new one, which reads the log from its beginning.

use std::collections::BTreeSet;

use crate::detect::{DecidedTurn, InMemory, Learnt, Options, Piece, TurnAnswer as PageAnswer, settle_turn};
use crate::model::{PageId, PageInput, Sequence, Slot};

use super::arrivals::read_arrivals;
use super::connection::Session;
use super::error::ClusterError;
use super::judge::Judge;
use super::lease::RunId;
use super::turn_body::{TurnVerdicts, pages_of, replies_of, reply_body};
use super::turn_log::{
    ArrivalRange, Attempt, OpenTurn, TurnAnswer, TurnRow, answer_turn, answers, is_in_log, turns_behind,
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
}

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
        Ok(Self { piece, learnt, slots, all_slots: all_slots.max(1), applied, next: Sequence(0) })
    }

    /// Returns the number of the last turn that was taken in.
    pub fn applied(&self) -> i64 {
        self.applied.0
    }

    /// Takes in all turns behind the last one. Returns the decisions on the pages, by run and number of arrival.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] if the log does not continue what was taken in.
    pub async fn follow(&mut self, session: &Session) -> Result<Vec<(RunId, i64, PageAnswer)>, ClusterError> {
        let (number, attempt) = self.applied;
        if !is_in_log(session, number, attempt).await? {
            return Err(ClusterError::Damaged(format!("the log has another turn {number} than was taken in")));
        }
        let mut decided = Vec::new();
        loop {
            let turns = turns_behind(session, self.applied.0, AT_ONCE).await?;
            if turns.is_empty() {
                return Ok(decided);
            }
            for row in turns {
                self.take_in(session, &row, &mut decided).await?;
            }
        }
    }

    async fn take_in(
        &mut self,
        session: &Session,
        row: &TurnRow,
        decided: &mut Vec<(RunId, i64, PageAnswer)>,
    ) -> Result<(), ClusterError> {
        let verdicts = TurnVerdicts::read(&row.body)?;
        let ranges = verdicts.ranges();
        let turn = verdicts.of(arrivals_of(session, &ranges).await?)?;
        if turn.first != self.next {
            let what = format!("turn {} begins with page {}, not {}", row.number, turn.first, self.next);
            return Err(ClusterError::Damaged(what));
        }
        let arrivals =
            ranges.iter().flat_map(|range| (0..i64::from(range.count)).map(|at| (range.run, range.first + at)));
        decided.extend(arrivals.zip(&turn.answers).map(|((run, number), answer)| (run, number, *answer)));
        self.apply(&turn)?;
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
        let pages = arrivals_of(session, &turn.ranges).await?;
        let body = reply_body(&self.piece.reply(&pages, &self.learnt)?)?;
        let answer = TurnAnswer { run, slots: self.slots.iter().copied().collect(), body };
        answer_turn(session, turn, &answer).await
    }

    /// Settles an open turn and commits it, if the answers cover all slots. Returns whether they do.
    ///
    /// # Errors
    /// [`ClusterError::JudgeLost`], and those of the detector.
    pub async fn settle(
        &self,
        session: &mut Session,
        judge: &mut Judge,
        attempt: Attempt,
        ranges: &[ArrivalRange],
    ) -> Result<bool, ClusterError> {
        let answers = answers(session, judge.next_turn(), attempt).await?;
        let covered: BTreeSet<Slot> = answers.iter().flat_map(|answer| answer.slots.iter().copied()).collect();
        if covered.len() < usize::from(self.all_slots) {
            return Ok(false);
        }
        let replies = answers.iter().map(|answer| replies_of(&answer.body)).collect::<Result<Vec<_>, _>>()?;
        let pages = arrivals_of(session, ranges).await?;
        let turn = settle_turn(self.next, pages, &replies, &self.learnt)?;
        judge.commit_turn(session, attempt, ranges, &TurnVerdicts::body(ranges, &turn)?).await?;
        Ok(true)
    }
}

/// Returns the slot of a judged page.
pub fn slot_of(page: PageId, slots: u16) -> Slot {
    Slot((page.0 % u128::from(slots.max(1))) as u16)
}

/// Returns the arrivals that wait for their turn: whole chunks, at most `most` pages unless one chunk has more.
///
/// # Errors
/// Those of the session, and [`ClusterError::Damaged`] for a gap between chunks.
pub async fn next_ranges(
    session: &Session,
    judge: &Judge,
    all: &[(RunId, i64)],
    most: i32,
) -> Result<Vec<ArrivalRange>, ClusterError> {
    let (mut ranges, mut pages) = (Vec::new(), 0);
    for &(run, next) in all {
        let first = judge.judged(run);
        if first >= next || pages >= most {
            continue;
        }
        let mut count = 0;
        for chunk in read_arrivals(session, run, first, CHUNKS).await? {
            if pages + count > 0 && pages + count + chunk.count > most {
                break;
            }
            count += chunk.count;
        }
        if count > 0 {
            ranges.push(ArrivalRange { run, first, count });
            pages += count;
        }
    }
    Ok(ranges)
}

/// Reads the pages of these arrivals, in order.
async fn arrivals_of(session: &Session, ranges: &[ArrivalRange]) -> Result<Vec<PageInput>, ClusterError> {
    let mut pages = Vec::new();
    for range in ranges {
        let (mut next, end) = (range.first, range.first + i64::from(range.count));
        while next < end {
            let chunks = read_arrivals(session, range.run, next, CHUNKS).await?;
            let before = next;
            for chunk in chunks.into_iter().take_while(|chunk| chunk.first < end) {
                next = chunk.first + i64::from(chunk.count);
                let found = pages_of(&chunk.body)?;
                if found.len() != chunk.count as usize {
                    let what = format!("arrival {} of run {} has {} pages", chunk.first, range.run.0, found.len());
                    return Err(ClusterError::Damaged(what));
                }
                pages.extend(found);
            }
            if next == before {
                return Err(ClusterError::Damaged(format!("run {} has no arrival {next}", range.run.0)));
            }
        }
        if next != end {
            return Err(ClusterError::Damaged(format!(
                "a turn ends within arrival chunk {next} of run {}",
                range.run.0
            )));
        }
    }
    Ok(pages)
}
