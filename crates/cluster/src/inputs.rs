//! Inputs of `dedup`: files that are numbered by manifests, and leased one by one.
//!
//! The pages of an input are arrivals of a *stream*, which is a run with a negative number. They are the same whoever
//! reads the input, so two workers that send them do no harm, and an input of a dead run is read again by another one.
//!
//! Behind the inputs of a manifest comes its *second look*, which is leased as they are when all before it are done. It
//! has the inputs done again in which it has found other decisions.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio_postgres::types::ToSql;

use super::connection::{OpenTransaction, Session};
use super::error::ClusterError;
use super::lease::RunId;
use super::refusal::Refusal;

/// The flags on which the files of an input depend, with their values. All workers of a manifest have the same.
pub type ManifestFlags = BTreeMap<String, String>;

/// An input that a run works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedInput {
    /// Its place in the order of inputs and second looks, over all manifests of the crawl.
    pub number: i32,
    /// What is to be done.
    pub task: InputTask,
    /// How often it was leased.
    pub fence: i64,
    /// Turns before this one have none of its pages. Of a second look: its first turn.
    pub first_turn: i64,
    /// How many arrivals it has, if all are sent.
    pub records: Option<i64>,
}

/// What is to be done with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputTask {
    /// To write the files of an input.
    Write {
        /// Its name, as the manifest gives it.
        name: String,
        /// Its number among the inputs.
        file: i32,
        /// The second look whose decisions the files have.
        look: Option<i32>,
    },
    /// To look at the decisions of the manifest once more.
    LookAgain,
}

impl LeasedInput {
    /// Returns the stream of its arrivals.
    pub fn stream(&self) -> RunId {
        stream_of(self.number)
    }
}

/// Returns the stream of an input.
pub(super) fn stream_of(number: i32) -> RunId {
    RunId(-1 - number)
}

/// Returns the number of the input whose stream this is.
pub fn number_of_stream(stream: RunId) -> i32 {
    -1 - stream.0
}

/// Enters the inputs of a manifest, in order, and its second look. Those that are there already stay as they
/// are; the new ones are a manifest of their own.
///
/// # Errors
/// [`Refusal::OtherFlag`] if some inputs of the crawl are not done, and entered by a worker with other flags.
pub async fn register_inputs(
    session: &mut Session,
    names: &[String],
    flags: &ManifestFlags,
) -> Result<(), ClusterError> {
    let doing = "enter the inputs of the manifest";
    let transaction = session.begin().await?;
    // Of workers that enter one manifest at once, the first one does.
    transaction.sql().change(doing, "LOCK TABLE input IN SHARE ROW EXCLUSIVE MODE", &[]).await?;
    let statement = "INSERT INTO input (number, manifest, name, file) \
                     SELECT (SELECT count(*) FROM input)::int - 1 + row_number() OVER (ORDER BY place)::int, \
                            (SELECT coalesce(max(manifest), -1) FROM input) + 1, name, \
                            (SELECT count(file) FROM input)::int - 1 + row_number() OVER (ORDER BY place)::int \
                     FROM unnest($1::text[]) WITH ORDINALITY AS given (name, place) \
                     WHERE NOT EXISTS (SELECT FROM input WHERE input.name = given.name)";
    let entered = transaction.sql().change(doing, statement, &[&names]).await?;
    if entered > 0 {
        let statement = "INSERT INTO manifest SELECT max(manifest), $1::text::jsonb FROM input";
        let text = serde_json::to_string(flags).map_err(|error| ClusterError::Damaged(error.to_string()))?;
        transaction.sql().change(doing, statement, &[&text]).await?;
        let statement = "INSERT INTO input (number, manifest) SELECT count(*)::int, max(manifest) FROM input";
        transaction.sql().change(doing, statement, &[]).await?;
    }
    // This worker may be given any input that is not done.
    let statement = "SELECT flags::text FROM manifest WHERE number IN \
                     (SELECT manifest FROM input WHERE NOT is_done) ORDER BY number";
    let flags_of_all: Vec<(String,)> = transaction.sql().rows(doing, statement, &[]).await?;
    for (text,) in flags_of_all {
        let there = serde_json::from_str(&text)
            .map_err(|error| ClusterError::Damaged(format!("the flags of a manifest: {error}")))?;
        expect_same(&there, flags)?;
    }
    transaction.commit().await
}

fn expect_same(there: &ManifestFlags, here: &ManifestFlags) -> Result<(), Refusal> {
    let value = |flags: &ManifestFlags, flag: &str| flags.get(flag).cloned().unwrap_or_default();
    match there.keys().chain(here.keys()).find(|flag| there.get(*flag) != here.get(*flag)) {
        None => Ok(()),
        Some(flag) => {
            Err(Refusal::OtherFlag { flag: flag.clone(), there: value(there, flag), here: value(here, flag) })
        }
    }
}

/// Leases the first input that nobody works on, if there is one. `under_way` has the numbers of those that this run works
/// on: others that it owns were leased by a commit whose answer was lost, or are to be written again. With `is_full` only
/// an input that one of these may wait for is leased.
pub async fn lease_input(
    session: &mut Session,
    run: RunId,
    under_way: &[i32],
    is_full: bool,
) -> Result<Option<LeasedInput>, ClusterError> {
    let transaction = session.begin().await?;
    let statement = "WITH free AS (SELECT number FROM input LEFT JOIN run ON run.id = owner \
                           WHERE NOT is_done AND (owner IS NULL OR until <= clock_timestamp() \
                                                OR (owner = $1 AND number <> ALL ($2))) \
                             AND (NOT $3 OR number < ANY ($2)) \
                             AND (input.name IS NOT NULL OR NOT EXISTS \
                                  (SELECT FROM input AS before WHERE before.number < input.number AND NOT before.is_done)) \
                           ORDER BY number LIMIT 1 FOR UPDATE OF input SKIP LOCKED) \
             UPDATE input SET owner = $1, fence = fence + 1, is_spooled = false, \
                    first_turn = CASE fence WHEN 0 THEN (SELECT turn + 1 FROM crawl) ELSE first_turn END \
             FROM free WHERE input.number = free.number \
               AND EXISTS (SELECT FROM run WHERE id = $1 AND until > clock_timestamp()) \
             RETURNING input.number, name, file, look, fence, first_turn, records";
    let row = transaction.sql().row_if_any("lease an input", statement, &[&run.0, &under_way, &is_full]).await?;
    transaction.commit().await?;
    Ok(row.map(leased))
}

/// Number, name, number among the inputs, second look, fence, first turn and records.
type InputRow = (i32, Option<String>, Option<i32>, Option<i32>, i64, i64, Option<i64>);

fn leased((number, name, file, look, fence, first_turn, records): InputRow) -> LeasedInput {
    let task = match name.zip(file) {
        Some((name, file)) => InputTask::Write { name, file, look },
        None => InputTask::LookAgain,
    };
    LeasedInput { number, task, fence, first_turn, records }
}

/// Changes the row of an input that is still this run's, and nothing else.
async fn change_leased(
    transaction: &OpenTransaction<'_>,
    doing: &'static str,
    set: &str,
    (run, input): (RunId, &LeasedInput),
    values: &[&(dyn ToSql + Sync)],
) -> Result<(), ClusterError> {
    let statement = format!(
        "UPDATE input SET {set} WHERE number = $1 AND owner = $2 AND fence = $3 AND NOT is_done \
         AND EXISTS (SELECT FROM run WHERE id = $2 AND until > clock_timestamp())"
    );
    let leased: [&(dyn ToSql + Sync); 3] = [&input.number, &run.0, &input.fence];
    match transaction.sql().change(doing, &statement, &[&leased, values].concat()).await? {
        0 => Err(ClusterError::RunLost(run.0)),
        _ => Ok(()),
    }
}

/// Says how many arrivals an input has: all of them are sent.
///
/// # Errors
/// [`ClusterError::RunLost`] if the input is another run's by now.
pub async fn all_sent(
    session: &mut Session,
    run: RunId,
    input: &LeasedInput,
    records: i64,
) -> Result<(), ClusterError> {
    let transaction = session.begin().await?;
    let doing = "say that an input is sent";
    change_leased(&transaction, doing, "records = $4", (run, input), &[&records]).await?;
    transaction.commit().await
}

/// Marks an input as done: its output is there. `report` is what the input gave; `is_spooled` says whether this run keeps
/// what it has read, so that it is given the input if it is to be written again.
///
/// # Errors
/// [`ClusterError::RunLost`] if the input is another run's by now.
pub async fn finish_input(
    session: &mut Session,
    run: RunId,
    input: &LeasedInput,
    report: &Value,
    is_spooled: bool,
) -> Result<(), ClusterError> {
    let transaction = session.begin().await?;
    let (doing, set) = ("mark an input as done", "is_done = true, report = $4::text::jsonb, is_spooled = $5");
    change_leased(&transaction, doing, set, (run, input), &[&report.to_string(), &is_spooled]).await?;
    transaction.commit().await
}

/// Marks a second look as done, with its number of arrivals, and has these inputs done again.
///
/// # Errors
/// [`ClusterError::RunLost`] if the look is another run's by now.
pub async fn finish_look(
    session: &mut Session,
    run: RunId,
    input: &LeasedInput,
    records: i64,
    again: &[i32],
) -> Result<(), ClusterError> {
    let doing = "mark a second look as done";
    let transaction = session.begin().await?;
    change_leased(&transaction, doing, "is_done = true, records = $4", (run, input), &[&records]).await?;
    // Who has kept what it has read is given it again, if it lives. Another fence ends those who still work on an input
    // since the answer was lost by which it was done.
    let statement = "UPDATE input SET is_done = false, look = $1, fence = fence + 1, \
                            owner = CASE WHEN is_spooled THEN owner END WHERE number = ANY($2)";
    transaction.sql().change(doing, statement, &[&input.number, &again]).await?;
    transaction.commit().await
}

/// Returns how many inputs and second looks are not done.
pub async fn inputs_left(session: &Session) -> Result<i64, ClusterError> {
    let statement = "SELECT count(*) FROM input WHERE NOT is_done";
    let (left,) = session.client().row("count the inputs that are left", statement, &[]).await?;
    Ok(left)
}

/// Whether the pages of the crawl come from inputs, and so have no outcomes in the logs of slots.
pub(super) async fn has_inputs(session: &Session) -> Result<bool, ClusterError> {
    let (has_any,) = session.client().row("look for inputs", "SELECT EXISTS (SELECT FROM input)", &[]).await?;
    Ok(has_any)
}

/// Returns the numbers of these inputs among all inputs, ascending.
pub async fn input_files(session: &Session, names: &[String]) -> Result<Vec<i32>, ClusterError> {
    let statement = "SELECT file FROM input WHERE name = ANY($1) ORDER BY number";
    let files = session.client().rows("read the numbers of the inputs", statement, &[&names]).await?;
    Ok(files.into_iter().map(|(file,)| file).collect())
}

/// Returns the numbers among all inputs of those that are done and whose run is dead.
pub async fn abandoned_files(session: &Session) -> Result<Vec<i32>, ClusterError> {
    let statement = "SELECT file FROM input LEFT JOIN run ON run.id = owner \
                     WHERE is_done AND file IS NOT NULL AND (until IS NULL OR until <= clock_timestamp())";
    let files = session.client().rows("look for inputs of dead runs", statement, &[]).await?;
    Ok(files.into_iter().map(|(file,)| file).collect())
}

/// Returns the names of these inputs that are done, with what they gave, in the order of their numbers.
pub async fn input_reports(session: &Session, names: &[String]) -> Result<Vec<(String, Value)>, ClusterError> {
    let statement = "SELECT name, report::text FROM input WHERE is_done AND name = ANY($1) ORDER BY number";
    let rows: Vec<(String, Option<String>)> =
        session.client().rows("read what the inputs gave", statement, &[&names]).await?;
    let value = |report: Option<String>| report.and_then(|report| serde_json::from_str(&report).ok());
    Ok(rows.into_iter().map(|(name, report)| (name, value(report).unwrap_or_default())).collect())
}
