//! What a crawl looks like from outside: who works on it, how far it is, and what it waits for.

use serde::{Deserialize, Serialize};
use tokio_postgres::types::ToSql;

use super::connection::Session;
use super::crawl_name::CrawlName;
use super::error::ClusterError;
use super::schema::open;

/// From this many seconds on without an owner, a slot is told.
pub const SLOT_ALARM: f64 = 60.0;

/// A crawl as its database knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterStatus {
    /// Its name.
    pub crawl: String,
    /// `running`, `stopped` or `finished`.
    pub state: String,
    /// Turns so far.
    pub turns: i64,
    /// Judged pages so far.
    pub pages: i64,
    /// Judged pages a second, in the last minute.
    pub pages_per_second: f64,
    /// Pages that wait for their verdict.
    pub waiting: i64,
    /// How long the oldest of them has waited, in seconds.
    pub oldest_waiting: Option<f64>,
    /// The number of slots.
    pub slots: i64,
    /// Slots without an owner that is alive, for [`SLOT_ALARM`] and longer, ascending.
    pub slots_without_owner: Vec<i32>,
    /// How long the first of them has had none, in seconds.
    pub without_owner: Option<f64>,
    /// Runs that are alive, ascending.
    pub runs: Vec<RunLine>,
    /// Inputs of `dedup`, and how many of them are done.
    pub inputs: i64,
    /// Inputs that are done, at least without the second look.
    pub inputs_done: i64,
    /// Inputs that wait to be written again, since the second look has decided pages of theirs otherwise.
    pub inputs_again: i64,
    /// Whether a manifest's second look is under way.
    pub is_looking_again: bool,
}

/// A run that is alive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    /// Its number.
    pub run: i32,
    /// Where it runs.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// How many slots it owns.
    pub slots: i64,
    /// How many inputs of `dedup` it works on, without those that wait for it alone to be written again.
    pub inputs: i64,
}

/// Looks at a crawl, at one moment.
///
/// # Errors
/// [`Refusal::NoCrawl`](super::Refusal::NoCrawl), among others.
pub async fn status(session: &Session, name: &CrawlName) -> Result<ClusterStatus, ClusterError> {
    open(session, name).await?;
    let parameters: [&(dyn ToSql + Sync); 2] = [&name.text(), &SLOT_ALARM];
    let (status,): (String,) = session.client().row("read the status of the crawl", STATUS, &parameters).await?;
    serde_json::from_str(&status).map_err(|error| ClusterError::Damaged(format!("the status of the crawl: {error}")))
}

/// The arrivals behind what is judged are few, and are found by the key of their table. Of the inputs of `dedup`, all
/// before the last one of which something is judged are judged whole.
/// One statement sees one state.
const STATUS: &str = "
WITH stream AS (
    SELECT id AS run, coalesce((taken ->> id::text)::bigint, 0) AS judged FROM crawl, run
    UNION ALL
    SELECT -1 - number, coalesce((taken ->> (-1 - number)::text)::bigint, 0) FROM crawl, input
    WHERE number >= coalesce((SELECT max(-1 - key::int) FROM jsonb_object_keys(taken) AS key WHERE key::int < 0), 0)),
waiting AS (
    SELECT arrival.first + n - greatest(first, judged) AS pages, sent
    FROM stream JOIN arrival ON arrival.run = stream.run AND first > judged - 4096 AND first + n > judged),
free AS (
    SELECT slot, age FROM (
        SELECT slot, extract(epoch FROM clock_timestamp() - greatest(freed, until))::float8 AS age
        FROM slot LEFT JOIN run ON run.id = owner WHERE owner IS NULL OR until <= clock_timestamp()) AS slots
    WHERE age >= $2 AND (SELECT state = 'running' FROM crawl)),
alive AS (
    SELECT id AS run, run.name, version, (SELECT count(*) FROM slot WHERE owner = id) AS slots,
        (SELECT count(*) FROM input WHERE owner = id AND NOT is_done AND NOT is_spooled) AS inputs
    FROM run WHERE until > clock_timestamp())
SELECT json_build_object('crawl', $1::text, 'state', state, 'turns', turn, 'pages', pages, 'slots', slots,
    'pages_per_second', (SELECT coalesce(sum(n), 0)::float8 / 60
        FROM (SELECT n, decided FROM turn ORDER BY number DESC LIMIT 20000) AS last
        WHERE decided > clock_timestamp() - interval '60 s'),
    'waiting', (SELECT coalesce(sum(waiting.pages), 0)::bigint FROM waiting),
    'oldest_waiting', (SELECT extract(epoch FROM clock_timestamp() - min(sent))::float8 FROM waiting),
    'slots_without_owner', (SELECT coalesce(json_agg(slot ORDER BY slot), '[]') FROM free),
    'without_owner', (SELECT max(age) FROM free),
    'runs', (SELECT coalesce(json_agg(alive ORDER BY run), '[]') FROM alive),
    'inputs', (SELECT count(name) FROM input),
    'inputs_done', (SELECT count(name) FROM input WHERE is_done OR look IS NOT NULL),
    'inputs_again', (SELECT count(name) FROM input WHERE NOT is_done AND look IS NOT NULL),
    'is_looking_again', EXISTS (SELECT FROM input JOIN run ON run.id = owner WHERE input.name IS NULL AND NOT is_done
        AND until > clock_timestamp()))::text
FROM crawl";
