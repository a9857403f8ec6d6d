//! Turns as the database has them: those that are committed, the one that is open, and the answers to it.

use std::collections::BTreeSet;

use tokio_postgres::Row;

use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use super::sealed::{open_sealed, seal};
use crate::model::{Sequence, Slot};

/// The name of one opening of a turn. No two openings have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt(pub i64);

/// Arrivals of a run, without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRange {
    /// The run.
    pub run: RunId,
    /// The first one.
    pub first: i64,
    /// How many they are.
    pub count: i32,
}

/// A turn that is open for answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTurn {
    /// Its number.
    pub number: i64,
    /// The opening. Of two, the larger one counts.
    pub attempt: Attempt,
    /// What it is about.
    pub ranges: Vec<ArrivalRange>,
}

/// What a run knows of the pages of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnAnswer {
    /// The run.
    pub run: RunId,
    /// The slots that it answers for.
    pub slots: Vec<Slot>,
    /// The answer, as bytes that this room does not read.
    pub body: Vec<u8>,
}

/// A turn that is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its number, from 1.
    pub number: i64,
    /// The number of its first page, or of the next one if it has none.
    pub first_page: i64,
    /// How many pages it has that had not been decided before.
    pub count: i32,
    /// The opening that led to it.
    pub attempt: Attempt,
    /// Its verdicts, as bytes that this room does not read.
    pub body: Vec<u8>,
}

/// Returns the turn that is open, if there is one.
pub async fn open_turn(session: &Session) -> Result<Option<OpenTurn>, ClusterError> {
    let doing = ClusterError::query("read the open turn");
    let statement = "SELECT number, attempt, ranges FROM turn_open \
                     WHERE number > (SELECT turn FROM crawl) ORDER BY number DESC, attempt DESC LIMIT 1";
    let Some(row) = session.client().query_opt(statement, &[]).await.map_err(&doing)? else { return Ok(None) };
    let flat: Vec<i64> = row.try_get(2).map_err(&doing)?;
    Ok(Some(OpenTurn {
        number: row.try_get(0).map_err(&doing)?,
        attempt: Attempt(row.try_get(1).map_err(&doing)?),
        ranges: ranges_of(&flat)?,
    }))
}

/// Answers an open turn. Of two answers of a run, which may be for different slots, the later one counts.
pub async fn answer_turn(session: &Session, turn: &OpenTurn, answer: &TurnAnswer) -> Result<(), ClusterError> {
    let doing = ClusterError::query("answer a turn");
    let slots: Vec<i32> = answer.slots.iter().map(|slot| i32::from(slot.0)).collect();
    session
        .client()
        .execute(
            "INSERT INTO answer (number, attempt, run, slots, body) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (number, attempt, run) DO UPDATE SET slots = excluded.slots, body = excluded.body",
            &[&turn.number, &turn.attempt.0, &answer.run.0, &slots, &seal(&answer.body)?],
        )
        .await
        .map(drop)
        .map_err(doing)
}

/// Returns the slots for which there are answers to one opening of a turn.
pub async fn slots_answered(session: &Session, number: i64, attempt: Attempt) -> Result<BTreeSet<Slot>, ClusterError> {
    let doing = ClusterError::query("count the answers to a turn");
    let statement = "SELECT slots FROM answer WHERE number = $1 AND attempt = $2";
    let rows = session.client().query(statement, &[&number, &attempt.0]).await.map_err(&doing)?;
    let mut answered = BTreeSet::new();
    for row in rows {
        let slots: Vec<i32> = row.try_get(0).map_err(&doing)?;
        answered.extend(slots.into_iter().filter_map(|slot| u16::try_from(slot).ok()).map(Slot));
    }
    Ok(answered)
}

/// What the log looks like at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogGlance {
    /// The last turn.
    pub turn: i64,
    /// The judge, if it is alive.
    pub judge: Option<RunId>,
    /// The turn that is open.
    pub open: Option<OpenTurn>,
}

/// Looks at the log, in one question.
pub async fn glance(session: &Session) -> Result<LogGlance, ClusterError> {
    let doing = ClusterError::query("look at the log of turns");
    let statement = "SELECT crawl.turn, \
                            (SELECT id FROM run WHERE id = crawl.judge AND until > clock_timestamp()), \
                            open.number, open.attempt, open.ranges \
                     FROM crawl LEFT JOIN LATERAL \
                     (SELECT * FROM turn_open WHERE number > crawl.turn ORDER BY number DESC, attempt DESC LIMIT 1) \
                     AS open ON true";
    let row = session.client().query_one(statement, &[]).await.map_err(&doing)?;
    let open = match row.try_get::<_, Option<i64>>(2).map_err(&doing)? {
        None => None,
        Some(number) => Some(OpenTurn {
            number,
            attempt: Attempt(row.try_get(3).map_err(&doing)?),
            ranges: ranges_of(&row.try_get::<_, Vec<i64>>(4).map_err(&doing)?)?,
        }),
    };
    Ok(LogGlance {
        turn: row.try_get(0).map_err(&doing)?,
        judge: row.try_get::<_, Option<i32>>(1).map_err(&doing)?.map(RunId),
        open,
    })
}

/// Returns the answers to one opening of a turn, ascending by run.
pub async fn answers(session: &Session, number: i64, attempt: Attempt) -> Result<Vec<TurnAnswer>, ClusterError> {
    let doing = ClusterError::query("read the answers to a turn");
    let statement = "SELECT run, slots, body FROM answer WHERE number = $1 AND attempt = $2 ORDER BY run";
    let rows = session.client().query(statement, &[&number, &attempt.0]).await.map_err(&doing)?;
    let mut answers = Vec::new();
    for row in rows {
        let run = RunId(row.try_get(0).map_err(&doing)?);
        let slots: Vec<i32> = row.try_get(1).map_err(&doing)?;
        let slot = |slot: i32| u16::try_from(slot).map(Slot);
        let slots: Result<Vec<Slot>, _> = slots.into_iter().map(slot).collect();
        let name = || format!("the answer of run {} to turn {number}", run.0);
        answers.push(TurnAnswer {
            run,
            slots: slots.map_err(|_| ClusterError::Damaged(name()))?,
            body: open_sealed(row.try_get(2).map_err(&doing)?, name)?,
        });
    }
    Ok(answers)
}

/// Returns at most `most` turns behind this one, without gaps.
pub async fn turns_behind(session: &Session, number: i64, most: i64) -> Result<Vec<TurnRow>, ClusterError> {
    let doing = ClusterError::query("read turns");
    let statement = "SELECT number, first_page, n, attempt, body FROM turn WHERE number > $1 ORDER BY number LIMIT $2";
    let rows = session.client().query(statement, &[&number, &most]).await.map_err(&doing)?;
    let turns: Vec<TurnRow> = rows.iter().map(turn_row).collect::<Result<_, _>>()?;
    match turns.iter().zip(number + 1..).find(|(turn, expected)| turn.number != *expected) {
        Some((turn, expected)) => Err(ClusterError::Damaged(format!("turn {} follows turn {expected}", turn.number))),
        None => Ok(turns),
    }
}

/// Returns the number of the last turn that has no page from this one on.
pub(super) async fn turn_before(session: &Session, page: Sequence) -> Result<i64, ClusterError> {
    let doing = ClusterError::query("look up the turn of a page");
    // Of turns with the same first page, all but the last one are without pages, and may have questions.
    let statement = "SELECT coalesce(min(number) - 1, 0) FROM turn WHERE first_page = \
                     (SELECT first_page FROM turn WHERE first_page <= $1 ORDER BY first_page DESC LIMIT 1)";
    let row = session.client().query_one(statement, &[&i64::from(page.0)]).await.map_err(&doing)?;
    row.try_get(0).map_err(doing)
}

/// Whether the log has this turn by this opening. Ask on each new connection about the last turn that was applied: if the
/// log has another one, or none, all that was derived from it must be forgotten.
pub async fn is_in_log(session: &Session, number: i64, attempt: Attempt) -> Result<bool, ClusterError> {
    let doing = ClusterError::query("look for a turn");
    let statement = "SELECT FROM turn WHERE number = $1 AND attempt = $2";
    Ok(number == 0 || session.client().query_opt(statement, &[&number, &attempt.0]).await.map_err(doing)?.is_some())
}

fn ranges_of(flat: &[i64]) -> Result<Vec<ArrivalRange>, ClusterError> {
    let damaged = || ClusterError::Damaged("the ranges of an open turn".to_owned());
    let range = |part: &[i64]| match *part {
        [run, first, count] => Ok(ArrivalRange {
            run: RunId(i32::try_from(run).map_err(|_| damaged())?),
            first,
            count: i32::try_from(count).map_err(|_| damaged())?,
        }),
        _ => Err(damaged()),
    };
    flat.chunks(3).map(range).collect()
}

fn turn_row(row: &Row) -> Result<TurnRow, ClusterError> {
    let doing = ClusterError::query("read a turn");
    let number: i64 = row.try_get(0).map_err(&doing)?;
    let body = open_sealed(row.try_get(4).map_err(&doing)?, || format!("turn {number}"))?;
    Ok(TurnRow {
        number,
        first_page: row.try_get(1).map_err(&doing)?,
        count: row.try_get(2).map_err(&doing)?,
        attempt: Attempt(row.try_get(3).map_err(&doing)?),
        body,
    })
}
