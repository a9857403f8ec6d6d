//! How far turns are: the row of the crawl, which whoever decides has locked until the turn is committed.
//!
//! A turn is a numbered commit of verdicts about some arrivals. There is one order of turns: whoever decides one has taken
//! in all before it, holds the row of the crawl, and is alive. A process that freezes meanwhile loses its session, and
//! with it the row, when its lease would have run out.

use std::collections::BTreeMap;
use std::time::Duration;

use super::connection::{OpenTransaction, Session};
use super::error::ClusterError;
use super::lease::RunId;
use super::question::Conclusion;
use super::refusal::Refusal;
use super::sealed::seal;
use super::turn_log::{ArrivalRange, Attempt};

/// The most pages of a crawl. Pages have numbers of 32 bits.
const MOST_PAGES: i64 = 1 << 31;

/// How far turns are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnState {
    /// The last turn.
    pub turn: i64,
    /// Pages decided in all turns.
    pub pages: i64,
    judged: BTreeMap<RunId, i64>,
}

/// What a turn has decided.
#[derive(Clone, Copy, Debug)]
pub struct TurnContent<'a> {
    /// The name of this attempt to decide it. No two have the same.
    pub attempt: Attempt,
    /// Pages that had not been decided before.
    pub pages: i32,
    /// The verdicts, as bytes that this file does not read.
    pub body: &'a [u8],
    /// How a round of questions ends, if one does.
    pub concluded: Option<Conclusion>,
}

impl TurnState {
    /// Reads how far turns are.
    pub async fn read(session: &Session) -> Result<Self, ClusterError> {
        let statement = "SELECT turn, pages, taken::text FROM crawl";
        Self::of(session.client().row("read how far turns are", statement, &[]).await?)
    }

    /// As [`read`](Self::read), for a run that is alive. Nobody else changes it before the transaction has ended, which it
    /// does after a pause of `patience`. `None` if another process has it.
    ///
    /// # Errors
    /// [`ClusterError::RunLost`] if the run is dead.
    pub async fn lock(
        transaction: &OpenTransaction<'_>,
        run: RunId,
        patience: Duration,
    ) -> Result<Option<Self>, ClusterError> {
        let doing = "lock the log of turns";
        // A setting takes no parameter.
        let pause = format!("SET LOCAL idle_in_transaction_session_timeout = {}", patience.as_millis().max(1));
        transaction.sql().change(doing, &pause, &[]).await?;
        let statement = "SELECT turn, pages, taken::text FROM crawl FOR UPDATE SKIP LOCKED";
        let Some(row) = transaction.sql().row_if_any(doing, statement, &[]).await? else { return Ok(None) };
        // It cannot renew its lease before the transaction has ended.
        let alive = "SELECT id FROM run WHERE id = $1 AND until > clock_timestamp() FOR SHARE";
        match transaction.sql().row_if_any::<(i32,)>(doing, alive, &[&run.0]).await? {
            Some(_) => Self::of(row).map(Some),
            None => Err(ClusterError::RunLost(run.0)),
        }
    }

    fn of((turn, pages, taken): (i64, i64, String)) -> Result<Self, ClusterError> {
        let judged: BTreeMap<i32, i64> = serde_json::from_str(&taken)
            .map_err(|error| ClusterError::Damaged(format!("how far runs are judged: {error}")))?;
        Ok(Self { turn, pages, judged: judged.into_iter().map(|(run, next)| (RunId(run), next)).collect() })
    }

    /// Returns how far the arrivals of a run are judged.
    pub fn judged(&self, run: RunId) -> i64 {
        self.judged.get(&run).copied().unwrap_or_default()
    }

    /// Returns the number of the last input of which something is judged. All before it are judged whole.
    pub(super) fn last_input(&self) -> Option<i32> {
        self.judged.keys().next().filter(|stream| stream.0 < 0).map(|stream| -1 - stream.0)
    }

    /// Returns the arrivals that wait for their turn, at most `most`: as many of each run as it has, up to the same number.
    /// `all` says how far the arrivals of each run go.
    pub fn next_ranges(&self, all: &[(RunId, i64)], most: i32) -> Vec<ArrivalRange> {
        let waiting = |&(run, next): &(RunId, i64)| {
            let first = self.judged(run);
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

    /// Checks that a turn may be about these arrivals.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] if they are not the next ones of their runs, and [`Refusal::TooManyPages`].
    pub fn check(&self, ranges: &[ArrivalRange]) -> Result<(), ClusterError> {
        let mut next = self.judged.clone();
        for range in ranges {
            let expected = next.entry(range.run).or_default();
            if range.first != *expected || range.count < 1 {
                let what = format!("a turn takes arrival {} of run {}, not {expected}", range.first, range.run.0);
                return Err(ClusterError::Damaged(what));
            }
            *expected += i64::from(range.count);
        }
        let arrivals: i64 = ranges.iter().map(|range| i64::from(range.count)).sum();
        let is_full = self.pages + arrivals > MOST_PAGES;
        if is_full { Err(Refusal::TooManyPages(MOST_PAGES).into()) } else { Ok(()) }
    }

    /// Enters the next turn, about these arrivals, and tells all runs once the transaction is committed.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub async fn enter_turn(
        mut self,
        transaction: &OpenTransaction<'_>,
        ranges: &[ArrivalRange],
        content: TurnContent<'_>,
    ) -> Result<(), ClusterError> {
        let doing = "enter a turn";
        self.check(ranges)?;
        let (number, first_page) = (self.turn + 1, self.pages);
        self.judged.extend(ranges.iter().map(|range| (range.run, range.first + i64::from(range.count))));
        // Inputs are judged one after the other: of those before the last one nothing is left to know.
        if let Some(last) = self.judged.keys().next().copied().filter(|stream| stream.0 < 0) {
            self.judged.retain(|stream, _| stream.0 >= 0 || *stream == last);
        }
        let TurnContent { attempt, pages, body, concluded } = content;
        // The questions were about all pages before the turn.
        let looked = concluded.filter(|conclusion| *conclusion != Conclusion::Displaced).map(|_| first_page);
        let rounds = i32::from(concluded.is_some_and(|conclusion| conclusion != Conclusion::Nothing));
        let taken: BTreeMap<i32, i64> = self.judged.iter().map(|(run, next)| (run.0, *next)).collect();
        let taken = serde_json::to_string(&taken).map_err(|error| ClusterError::Damaged(error.to_string()))?;
        let statement = "UPDATE crawl SET turn = $1, pages = pages + $2::int, taken = $3::text::jsonb, \
                                looked = coalesce($4, looked), round = round + $5";
        transaction.sql().change(doing, statement, &[&number, &pages, &taken, &looked, &rounds]).await?;
        let statement = "INSERT INTO turn (number, first_page, n, attempt, body) VALUES ($1, $2, $3, $4, $5)";
        let body = seal(body)?;
        transaction.sql().change(doing, statement, &[&number, &first_page, &pages, &attempt.0, &body]).await?;
        transaction.tell().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_many_arrivals_leaves_others_their_share() {
        let state = TurnState { turn: 0, pages: 0, judged: BTreeMap::from([(RunId(1), 10)]) };
        let ranges = state.next_ranges(&[(RunId(1), 1_000), (RunId(2), 3), (RunId(3), 900), (RunId(4), 0)], 64);
        let counts: Vec<_> = ranges.iter().map(|range| (range.run.0, range.first, range.count)).collect();
        assert_eq!(counts, [(1, 10, 30), (2, 0, 3), (3, 0, 31)]);
        state.check(&ranges).unwrap();
        let late = [ArrivalRange { run: RunId(1), first: 11, count: 1 }];
        assert!(matches!(state.check(&late), Err(ClusterError::Damaged(_))));
    }

    #[test]
    fn a_crawl_with_too_many_pages_is_refused() {
        let state = TurnState { turn: 0, pages: MOST_PAGES - 10, judged: BTreeMap::new() };
        let turn = |count| [ArrivalRange { run: RunId(1), first: 0, count }];
        state.check(&turn(10)).unwrap();
        let refused = state.check(&turn(11)).unwrap_err();
        assert!(matches!(refused, ClusterError::Refused(Refusal::TooManyPages(MOST_PAGES))), "{refused:?}");
        let told = refused.to_string();
        assert!(told.contains("the crawl has 2147483648 pages, and can have no more: gather it"), "{told}");
    }
}
