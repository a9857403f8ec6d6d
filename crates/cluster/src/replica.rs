//! A replica: the whole index of a crawl, as one process has it from the log of turns.
//!
//! Whoever has taken in all turns may decide the next one: it locks the log, decides what has arrived, and commits the
//! turn with its verdicts. The others take it in as it is logged. So the order of commits is the order of decisions, and
//! one process that replays the log gives the same verdicts.
//!
//! A replica that finds its last turn missing from the log, after a failover or an attempt that failed, has to be replaced
//! by a new one, which reads the log from its beginning.

use std::path::Path;
use std::time::Duration;

use super::computing::computing;
use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use super::record_file::RecordFile;
use super::test_point::test_point;
use super::turn_arrivals::arriving_of;
use super::turn_body::{DecidedArrival, TurnArrivals, TurnVerdicts};
use super::turn_log::{ArrivalRange, Attempt, TurnRow, is_in_log, turns_behind};
use super::turn_state::{TurnContent, TurnState};
use ndcrawl_model::{Judged, Sequence};
use neardup::detect::{Decider, LoggedPage, Options, Settling, TurnAnswer, TurnInput};

/// Turns that are read at once.
const AT_ONCE: i64 = 16;

/// The index of a crawl.
pub struct Replica {
    decider: Decider<RecordFile>,
    records: RecordFile,
    /// The last turn that was taken in, and the attempt by which it was decided.
    applied: (i64, Attempt),
    /// Attempts of this replica so far.
    attempts: u32,
    /// The number of the next page.
    next: Sequence,
    /// Decisions that nobody was told: of turns of this replica that may not be in the log.
    untold: Vec<DecidedArrival>,
}

/// Who decides a turn, and for how long it may pause before others go on.
#[derive(Clone, Copy, Debug)]
pub struct Deciding {
    /// The run.
    pub run: RunId,
    /// The longest pause.
    pub patience: Duration,
}

impl Replica {
    /// Creates a replica before the first turn. Its records are on the disk of this folder.
    ///
    /// # Errors
    /// [`ClusterError::Folder`] if there can be no file.
    pub fn new(options: Options, folder: &Path) -> Result<Self, ClusterError> {
        let records = RecordFile::create(folder).map_err(|error| {
            ClusterError::Folder(format!("no records can be kept in {}: {error}", folder.display()))
        })?;
        let options = Options { settling: Settling::AtMarks, ..options };
        let decider = Decider::new(options, records.clone());
        let (applied, next, untold) = ((0, Attempt(0)), Sequence(0), Vec::new());
        Ok(Self { decider, records, applied, attempts: 0, next, untold })
    }

    /// Returns the number of the last turn that was taken in.
    pub fn applied(&self) -> i64 {
        self.applied.0
    }

    /// Takes in all turns behind the last one. Returns the decisions on their arrivals.
    ///
    /// # Errors
    /// [`ClusterError::OtherLog`] if the log does not continue what was taken in.
    pub async fn follow(&mut self, session: &Session) -> Result<Vec<DecidedArrival>, ClusterError> {
        self.check(session).await?;
        let mut decided = self.take_untold();
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

    /// Returns the decisions of this replica that nobody was told. Call it when its last turn is known to be in the log.
    pub fn take_untold(&mut self) -> Vec<DecidedArrival> {
        std::mem::take(&mut self.untold)
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
        if row.first_page != i64::from(self.next.0) {
            let what = format!("turn {} begins with page {}, not {}", row.number, row.first_page, self.next);
            return Err(ClusterError::Damaged(what));
        }
        let verdicts = TurnVerdicts::read(&row.body)?;
        let ranges = verdicts.ranges();
        let arrivals: TurnArrivals = arriving_of(session, &ranges).await?.into_iter().collect();
        decided.extend(numbered(&ranges, verdicts.page_answers()));
        let (turn, verdicts) = verdicts.of(arrivals)?;
        let groups = groups_of(&turn);
        let judged = computing(|| self.decider.take_turn(turn, verdicts.into_iter()))?;
        self.applied = (row.number, row.attempt);
        self.keep(judged, groups)
    }

    /// Decides the next turn about these arrivals, and commits it. Returns whether it was its turn: another process may
    /// decide, or have decided one since.
    ///
    /// # Errors
    /// After an error the turn may be in the log all the same: [`check`](Self::check).
    pub async fn decide(
        &mut self,
        session: &mut Session,
        Deciding { run, patience }: Deciding,
        ranges: &[ArrivalRange],
    ) -> Result<bool, ClusterError> {
        // All that can be done before the log is locked.
        let arrivals: TurnArrivals = arriving_of(session, ranges).await?.into_iter().collect();
        let found = computing(|| arrivals.questions.iter().map(|asked| asked.answer(&mut self.decider)).collect());
        let found: Vec<_> = Result::<Vec<_>, _>::map_err(found, ClusterError::from)?;
        let transaction = session.begin().await?;
        let Some(state) = TurnState::lock(&transaction, run, patience).await? else { return Ok(false) };
        if state.turn != self.applied.0 {
            return Ok(false);
        }
        state.check(ranges)?;
        self.attempts += 1;
        // A run has a number above 0, so that no attempt has the number of a turn that was moved in.
        let attempt = Attempt(i64::from(run.0) << 32 | i64::from(self.attempts));
        self.applied = (state.turn + 1, attempt);
        let (first, turn) = (self.next, arrivals.turn.clone());
        let groups = groups_of(&turn);
        let judged = computing(|| self.decider.decide_turn(turn))?;
        let (body, concluded) =
            (TurnVerdicts::body(ranges, &arrivals, &judged, &found)?, found.iter().map(|found| found.conclusion()));
        let answers = arrivals.answers(&judged);
        self.keep(judged, groups)?;
        let pages = i32::try_from(self.next.0 - first.0).unwrap_or(i32::MAX);
        let content = TurnContent { attempt, pages, body: &body, concluded: concluded.max() };
        self.untold.extend(numbered(ranges, answers.into_iter()));
        test_point("deciding");
        state.enter_turn(&transaction, ranges, content).await?;
        match transaction.commit().await {
            Err(ClusterError::Unreplicated) => tracing::warn!("{}", ClusterError::Unreplicated),
            committed => committed?,
        }
        Ok(true)
    }

    /// Keeps the records of pages that were decided, given with their hosts.
    fn keep(&mut self, judged: Vec<Judged>, groups: Vec<u32>) -> Result<(), ClusterError> {
        let new = judged.into_iter().zip(groups).filter(|(judged, _)| !judged.redelivered);
        let record = |(judged, group): (Judged, u32)| {
            let Judged { terms, order, least_weight, verdict, .. } = judged;
            let is_read = verdict.is_unique() || verdict.is_by_similarity();
            is_read.then_some(LoggedPage { group, terms, least_weight, order })
        };
        let records: Vec<_> = new.map(record).collect();
        self.next.0 += u32::try_from(records.len()).unwrap_or(u32::MAX);
        let failed = |error: std::io::Error| ClusterError::Folder(format!("the records of pages: {error}"));
        self.records.append(records).map_err(failed)?;
        self.decider.committed(self.next);
        Ok(())
    }
}

/// Returns the host of each page.
fn groups_of(turn: &TurnInput) -> Vec<u32> {
    turn.pages.iter().map(|page| page.group).collect()
}

/// Returns the decisions on these arrivals with the numbers of the arrivals.
fn numbered(
    ranges: &[ArrivalRange],
    answers: impl Iterator<Item = Option<TurnAnswer>>,
) -> impl Iterator<Item = DecidedArrival> {
    let numbers = ranges.iter().flat_map(|range| (0..i64::from(range.count)).map(|at| (range.run, range.first + at)));
    numbers.zip(answers).map(|((run, number), answer)| (run, number, answer))
}
