//! The judge: the run that opens turns and commits them.
//!
//! A turn is a numbered commit of verdicts about some arrivals. There is one order of turns: the commit compares the
//! number of the last turn and the fence of the judge, and sets both the turn and how far the arrivals of each run are
//! judged. A judge that was frozen has another fence by then and commits nothing. A judge has no state of its own, so the
//! next one goes on where the log ends.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::connection::{OpenTransaction, Session};
use super::error::ClusterError;
use super::lease::{Fence, RunId};
use super::question::Conclusion;
use super::refusal::Refusal;
use super::sealed::seal;
use super::turn_log::{ArrivalRange, Attempt, TurnRow};

/// The most pages of a crawl. Pages have numbers of 32 bits.
const MOST_PAGES: i64 = 1 << 31;

/// What a turn has decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnContent<'a> {
    /// Pages that had not been decided before.
    pub pages: i32,
    /// The verdicts, as bytes that this file does not read.
    pub body: &'a [u8],
    /// How a round of questions ends, if one does.
    pub concluded: Option<Conclusion>,
}

/// The office of the judge, which one run holds at a time.
#[derive(Debug)]
pub struct Judge {
    run: RunId,
    fence: Fence,
    attempts: u32,
    /// The last turn in the log.
    turn: i64,
    /// Pages judged in all turns.
    pages: i64,
    /// How far the arrivals of each run are judged.
    judged: BTreeMap<RunId, i64>,
}

impl Judge {
    /// Takes the office if nobody who is alive holds it, or if this run does.
    pub async fn take(session: &mut Session, run: RunId) -> Result<Option<Self>, ClusterError> {
        let doing = ClusterError::query("take the office of the judge");
        let transaction = session.begin().await?;
        let state = CrawlTurns::lock(&transaction).await?;
        if let Some(judge) = state.judge.filter(|judge| *judge != run)
            && is_alive(&transaction, judge).await?
        {
            return Ok(None);
        }
        if !is_alive(&transaction, run).await? {
            return Err(ClusterError::RunLost(run.0));
        }
        let fence = Fence(state.fence.0 + 1);
        let statement = "UPDATE crawl SET judge = $1, judge_fence = $2";
        transaction.sql().execute(statement, &[&run.0, &fence.0]).await.map_err(doing)?;
        transaction.commit().await?;
        let CrawlTurns { turn, pages, judged, .. } = state;
        Ok(Some(Self { run, fence, attempts: 0, turn, pages, judged }))
    }

    /// A judge that has judged this much, for tests.
    #[cfg(test)]
    pub(super) fn of_judged(judged: impl IntoIterator<Item = (RunId, i64)>) -> Self {
        let judged = judged.into_iter().collect();
        Self { run: RunId(0), fence: Fence(0), attempts: 0, turn: 0, pages: 0, judged }
    }

    /// Returns the number of the next turn.
    pub fn next_turn(&self) -> i64 {
        self.turn + 1
    }

    /// Returns how far the arrivals of a run are judged.
    pub fn judged(&self, run: RunId) -> i64 {
        self.judged.get(&run).copied().unwrap_or_default()
    }

    /// Returns the number of the last input of which something is judged. All before it are judged whole.
    pub(super) fn last_input(&self) -> Option<i32> {
        self.judged.keys().next().filter(|stream| stream.0 < 0).map(|stream| -1 - stream.0)
    }

    /// Opens the next turn about these arrivals, and tells all runs. A turn that was opened before is forgotten: answers
    /// to it name another attempt.
    pub async fn open_turn(&mut self, session: &mut Session, ranges: &[ArrivalRange]) -> Result<Attempt, ClusterError> {
        let doing = ClusterError::query("open a turn");
        self.check_ranges(ranges)?;
        let arrivals: i64 = ranges.iter().map(|range| i64::from(range.count)).sum();
        if self.pages + arrivals > MOST_PAGES {
            return Err(Refusal::TooManyPages(MOST_PAGES).into());
        }
        self.attempts += 1;
        // A fence is far below 2^31, and no judge opens 2^32 turns.
        let attempt = Attempt(self.fence.0 << 32 | i64::from(self.attempts));
        let flat: Vec<i64> =
            ranges.iter().flat_map(|range| [i64::from(range.run.0), range.first, i64::from(range.count)]).collect();
        let transaction = session.begin().await?;
        // Without a lock, which would have the commit wait for the standby. Of two openings the later one counts.
        self.check(&CrawlTurns::read(&transaction, "").await?)?;
        let statement = "INSERT INTO turn_open (number, attempt, ranges) VALUES ($1, $2, $3)";
        transaction.sql().execute(statement, &[&self.next_turn(), &attempt.0, &flat]).await.map_err(&doing)?;
        transaction.tell().await?;
        transaction.commit().await?;
        Ok(attempt)
    }

    /// Commits the next turn with its verdicts, and tells all runs.
    ///
    /// # Errors
    /// [`ClusterError::JudgeLost`] if another run is the judge by now. Nothing was committed then.
    pub async fn commit_turn(
        &mut self,
        session: &mut Session,
        attempt: Attempt,
        ranges: &[ArrivalRange],
        verdicts: TurnContent<'_>,
    ) -> Result<TurnRow, ClusterError> {
        let doing = ClusterError::query("commit a turn");
        self.check_ranges(ranges)?;
        let TurnContent { pages: count, body, concluded } = verdicts;
        let mut judged = self.judged.clone();
        judged.extend(ranges.iter().map(|range| (range.run, range.first + i64::from(range.count))));
        // Inputs are judged one after the other: of those before the last one nothing is left to know.
        if let Some(last) = judged.keys().next().copied().filter(|stream| stream.0 < 0) {
            judged.retain(|stream, _| stream.0 >= 0 || *stream == last);
        }
        let row = TurnRow { number: self.next_turn(), first_page: self.pages, count, attempt, body: body.to_vec() };
        let transaction = session.begin().await?;
        self.check(&CrawlTurns::lock(&transaction).await?)?;
        if !is_alive(&transaction, self.run).await? {
            return Err(ClusterError::JudgeLost(self.run.0));
        }
        let (pages, taken) = (self.pages + i64::from(count), taken_json(&judged));
        transaction
            .sql()
            .execute("UPDATE crawl SET turn = $1, pages = $2, taken = $3::text::jsonb", &[&row.number, &pages, &taken])
            .await
            .map_err(&doing)?;
        transaction
            .sql()
            .execute(
                "INSERT INTO turn (number, first_page, n, attempt, body) VALUES ($1, $2, $3, $4, $5)",
                &[&row.number, &row.first_page, &row.count, &attempt.0, &seal(body)?],
            )
            .await
            .map_err(&doing)?;
        if let Some(conclusion) = concluded {
            // The questions were about all pages before the turn.
            let looked = Some(row.first_page).filter(|_| conclusion != Conclusion::Displaced);
            let rounds = i32::from(conclusion != Conclusion::Nothing);
            let statement = "UPDATE crawl SET looked = coalesce($1, looked), round = round + $2";
            transaction.sql().execute(statement, &[&looked, &rounds]).await.map_err(&doing)?;
        }
        for under_way in ["turn_open", "answer"] {
            let statement = format!("DELETE FROM {under_way} WHERE number <= $1");
            transaction.sql().execute(&statement, &[&row.number]).await.map_err(&doing)?;
        }
        transaction.tell().await?;
        transaction.commit().await?;
        (self.turn, self.pages, self.judged) = (row.number, pages, judged);
        Ok(row)
    }

    /// Checks that the log is as this judge left it.
    fn check(&self, state: &CrawlTurns) -> Result<(), ClusterError> {
        let is_same = state.judge == Some(self.run) && state.fence == self.fence && state.turn == self.turn;
        if is_same { Ok(()) } else { Err(ClusterError::JudgeLost(self.run.0)) }
    }

    /// Checks that these arrivals are the next ones of their runs.
    fn check_ranges(&self, ranges: &[ArrivalRange]) -> Result<(), ClusterError> {
        let mut next = self.judged.clone();
        for range in ranges {
            let expected = next.entry(range.run).or_default();
            if range.first != *expected || range.count < 1 {
                let what = format!("a turn takes arrival {} of run {}, not {expected}", range.first, range.run.0);
                return Err(ClusterError::Damaged(what));
            }
            *expected += i64::from(range.count);
        }
        Ok(())
    }
}

/// The row of the crawl as far as turns are concerned.
struct CrawlTurns {
    turn: i64,
    pages: i64,
    judged: BTreeMap<RunId, i64>,
    judge: Option<RunId>,
    fence: Fence,
}

impl CrawlTurns {
    /// Reads the row. Nobody else changes it before the transaction has ended.
    async fn lock(transaction: &OpenTransaction<'_>) -> Result<Self, ClusterError> {
        Self::read(transaction, "FOR UPDATE").await
    }

    async fn read(transaction: &OpenTransaction<'_>, lock: &str) -> Result<Self, ClusterError> {
        let doing = ClusterError::query("read how far turns are");
        let statement = format!("SELECT turn, pages, taken::text, judge, judge_fence FROM crawl {lock}");
        let row = transaction.sql().query_one(&statement, &[]).await.map_err(&doing)?;
        Self::of(&row).map_err(doing)?.ok_or_else(|| ClusterError::Damaged("how far runs are judged".to_owned()))
    }

    fn of(row: &Row) -> Result<Option<Self>, tokio_postgres::Error> {
        let judge: Option<i32> = row.try_get(3)?;
        let taken: &str = row.try_get(2)?;
        let Ok(judged) = serde_json::from_str::<BTreeMap<i32, i64>>(taken) else { return Ok(None) };
        Ok(Some(Self {
            turn: row.try_get(0)?,
            pages: row.try_get(1)?,
            judged: judged.into_iter().map(|(run, next)| (RunId(run), next)).collect(),
            judge: judge.map(RunId),
            fence: Fence(row.try_get(4)?),
        }))
    }
}

fn taken_json(judged: &BTreeMap<RunId, i64>) -> String {
    let pairs: Vec<String> = judged.iter().map(|(run, next)| format!("\"{}\":{next}", run.0)).collect();
    format!("{{{}}}", pairs.join(","))
}

/// Whether a run is alive. It cannot renew its lease before the transaction has ended.
async fn is_alive(transaction: &OpenTransaction<'_>, run: RunId) -> Result<bool, ClusterError> {
    let doing = ClusterError::query("ask whether a run is alive");
    let statement = "SELECT FROM run WHERE id = $1 AND until > clock_timestamp() FOR SHARE";
    Ok(transaction.sql().query_opt(statement, &[&run.0]).await.map_err(doing)?.is_some())
}
