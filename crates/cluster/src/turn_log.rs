//! Turns as the database has them.

use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use super::sealed::open_sealed;

/// The name of one attempt to decide a turn. No two have the same.
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

/// A turn that is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its number, from 1.
    pub number: i64,
    /// The number of its first page, or of the next one if it has none.
    pub first_page: i64,
    /// How many pages it has that had not been decided before.
    pub count: i32,
    /// The attempt that led to it.
    pub attempt: Attempt,
    /// Its verdicts, as bytes that this room does not read.
    pub body: Vec<u8>,
}

/// Returns the number of the last turn.
pub async fn last_turn(session: &Session) -> Result<i64, ClusterError> {
    let (turn,) = session.client().row("look at the log of turns", "SELECT turn FROM crawl", &[]).await?;
    Ok(turn)
}

/// Returns at most `most` turns behind this one, without gaps.
pub async fn turns_behind(session: &Session, number: i64, most: i64) -> Result<Vec<TurnRow>, ClusterError> {
    let statement = "SELECT number, first_page, n, attempt, body FROM turn WHERE number > $1 ORDER BY number LIMIT $2";
    let rows = session.client().rows("read turns", statement, &[&number, &most]).await?;
    let turns: Vec<TurnRow> = rows.into_iter().map(turn_row).collect::<Result<_, _>>()?;
    match turns.iter().zip(number + 1..).find(|(turn, expected)| turn.number != *expected) {
        Some((turn, expected)) => Err(ClusterError::Damaged(format!("turn {} follows turn {expected}", turn.number))),
        None => Ok(turns),
    }
}

/// Whether the log has this turn by this attempt. Ask on each new connection about the last turn that was applied: if the
/// log has another one, or none, all that was derived from it must be forgotten.
pub async fn is_in_log(session: &Session, number: i64, attempt: Attempt) -> Result<bool, ClusterError> {
    let statement = "SELECT number FROM turn WHERE number = $1 AND attempt = $2";
    let found = session.client().rows::<(i64,)>("look for a turn", statement, &[&number, &attempt.0]).await?;
    Ok(number == 0 || !found.is_empty())
}

fn turn_row(row: (i64, i64, i32, i64, Vec<u8>)) -> Result<TurnRow, ClusterError> {
    let (number, first_page, count, attempt, body) = row;
    let body = open_sealed(&body, || format!("turn {number}"))?;
    Ok(TurnRow { number, first_page, count, attempt: Attempt(attempt), body })
}
