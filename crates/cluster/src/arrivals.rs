//! Arrivals: rendered pages on their way to their verdicts.
//!
//! A run numbers its arrivals without gaps and inserts them over one session, so whoever has seen a number has seen all
//! below. Their commits do not wait for the disk: the commit of the turn that judges them lies later in the log of the
//! server, and so makes them durable with it. After a crash of the server, the last ones may be gone: a run asks for
//! [`arrived`] then, and sends them again from there.
//!
//! Arrivals that were sent together are a *chunk*: one row.

use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use super::sealed::{open_sealed, seal};

/// Arrivals that were sent together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivalChunk {
    /// The run that sent them.
    pub run: RunId,
    /// The number of the first one.
    pub first: i64,
    /// How many they are.
    pub count: i32,
    /// The arrivals, as bytes that this file does not read.
    pub body: Vec<u8>,
}

/// Inserts arrivals. A chunk that is there already, sent before an answer was lost, is left as it is.
///
/// One statement, so that a process that freezes holds no lock. It has the row of the run until it has ended: whoever
/// locks the row of a dead run afterwards has seen all that the run will ever send.
///
/// # Errors
/// [`ClusterError::RunLost`] if the run is dead. Streams of inputs, which have negative numbers, belong to no run.
pub async fn send_arrivals(session: &mut Session, chunk: &ArrivalChunk) -> Result<(), ClusterError> {
    let alive = match chunk.run.0 {
        ..0 => "SELECT 1",
        _ => "SELECT 1 FROM run WHERE id = $1 AND until > clock_timestamp() FOR SHARE",
    };
    let statement = format!(
        "WITH alive AS ({alive}), \
              sent AS (INSERT INTO arrival (run, first, n, body) \
                       SELECT $1::int, $2::bigint, $3::int, $4::bytea FROM alive ON CONFLICT DO NOTHING) \
         SELECT (SELECT count(*) FROM alive), set_config('synchronous_commit', 'off', true)"
    );
    let body = seal(&chunk.body)?;
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&chunk.run.0, &chunk.first, &chunk.count, &body];
    let (alive,): (i64,) = session.client().row("send arrivals", &statement, &parameters).await?;
    if alive > 0 { Ok(()) } else { Err(ClusterError::RunLost(chunk.run.0)) }
}

/// Returns the runs that are dead. They send nothing any more: those that were just sending have ended.
pub(super) async fn silent_runs(session: &mut Session) -> Result<Vec<RunId>, ClusterError> {
    let doing = "wait for the last arrivals of dead runs";
    // The locks end at once: while they last, nobody takes the slots of these runs.
    let transaction = session.begin().await?;
    let statement = "SELECT id FROM run WHERE until <= clock_timestamp() ORDER BY id FOR UPDATE";
    let runs = transaction.sql().rows(doing, statement, &[]).await?;
    Ok(runs.into_iter().map(|(run,)| RunId(run)).collect())
}

/// Whether all that these runs have sent is judged.
pub(super) async fn are_judged(session: &Session, runs: &[RunId]) -> Result<bool, ClusterError> {
    let runs: Vec<i32> = runs.iter().map(|run| run.0).collect();
    let statement = "SELECT NOT EXISTS (SELECT FROM unnest($1::int[]) AS sender (run) CROSS JOIN LATERAL \
                     (SELECT first + n AS next FROM arrival WHERE run = sender.run ORDER BY first DESC LIMIT 1) AS last \
                     WHERE last.next > coalesce((SELECT (taken ->> sender.run::text)::bigint FROM crawl), 0))";
    let (are_judged,) = session.client().row("look for arrivals that are not judged", statement, &[&runs]).await?;
    Ok(are_judged)
}

/// Returns the number behind the last arrival of a run.
pub async fn arrived(session: &Session, run: RunId) -> Result<i64, ClusterError> {
    let statement = "SELECT coalesce(max(first + n), 0) FROM arrival WHERE run = $1";
    let (next,) = session.client().row("count arrivals", statement, &[&run.0]).await?;
    Ok(next)
}

/// Returns how far the arrivals of each run go.
pub async fn all_arrived(session: &Session) -> Result<Vec<(RunId, i64)>, ClusterError> {
    let statement = "SELECT run.id, last.next FROM run CROSS JOIN LATERAL \
                     (SELECT first + n AS next FROM arrival WHERE run = run.id ORDER BY first DESC LIMIT 1) AS last \
                     ORDER BY run.id";
    let arrived = session.client().rows("count arrivals", statement, &[]).await?;
    Ok(arrived.into_iter().map(|(run, next)| (RunId(run), next)).collect())
}

/// Returns at most `most` chunks of a run, from the one that has the arrival `first` on.
///
/// # Errors
/// [`ClusterError::Damaged`] if there is a gap between them.
pub async fn read_arrivals(
    session: &Session,
    run: RunId,
    from: i64,
    most: i64,
) -> Result<Vec<ArrivalChunk>, ClusterError> {
    let statement = "SELECT first, n, body FROM arrival WHERE run = $1 AND first >= \
                     (SELECT coalesce(max(first), $2) FROM arrival WHERE run = $1 AND first <= $2) \
                     ORDER BY first LIMIT $3";
    let rows: Vec<ChunkRow> = session.client().rows("read arrivals", statement, &[&run.0, &from, &most]).await?;
    let (mut chunks, mut expected) = (Vec::<ArrivalChunk>::new(), from);
    for row in rows {
        let (first, count, _) = row;
        let next = first + i64::from(count);
        if chunks.is_empty() && next <= from {
            // The last chunk of the run, unless there is a gap behind it.
            continue;
        }
        let is_next = if chunks.is_empty() { first <= from } else { first == expected };
        if !is_next || count < 1 {
            let gap = format!("run {} has no arrival {expected}, but {first}", run.0);
            return Err(ClusterError::Damaged(gap));
        }
        expected = next;
        chunks.push(chunk_of(run, row)?);
    }
    Ok(chunks)
}

/// Returns the chunk that has an arrival.
pub(super) async fn find_arrival(
    session: &Session,
    run: RunId,
    number: i64,
) -> Result<Option<ArrivalChunk>, ClusterError> {
    let statement = "SELECT first, n, body FROM arrival WHERE run = $1 \
                     AND first = (SELECT max(first) FROM arrival WHERE run = $1 AND first <= $2) AND first + n > $2";
    let row = session.client().row_if_any("look up an arrival", statement, &[&run.0, &number]).await?;
    row.map(|row| chunk_of(run, row)).transpose()
}

/// The number of the first arrival, how many there are, and the body.
type ChunkRow = (i64, i32, Vec<u8>);

fn chunk_of(run: RunId, (first, count, body): ChunkRow) -> Result<ArrivalChunk, ClusterError> {
    let body = open_sealed(&body, || format!("arrival {first} of run {}", run.0))?;
    Ok(ArrivalChunk { run, first, count, body })
}
