//! How long pages wait for their verdicts, by the clock of the server.

use std::collections::BTreeMap;
use std::time::Duration;

use super::connection::Session;
use super::error::ClusterError;
use super::sealed::open_sealed;
use super::turn_body::TurnVerdicts;

/// Returns the times from the sending of each page to its verdict, ascending.
///
/// Cost: reads all turns, and a row without its body for each chunk of arrivals.
pub async fn decision_times(session: &Session) -> Result<Vec<Duration>, ClusterError> {
    let doing = ClusterError::query("read the times of turns");
    let statement = "SELECT run, first, n, extract(epoch FROM sent)::float8 FROM arrival";
    let mut sent: BTreeMap<(i32, i64), (i32, f64)> = BTreeMap::new();
    for row in session.client().query(statement, &[]).await.map_err(&doing)? {
        let (run, first): (i32, i64) = (row.try_get(0).map_err(&doing)?, row.try_get(1).map_err(&doing)?);
        sent.insert((run, first), (row.try_get(2).map_err(&doing)?, row.try_get(3).map_err(&doing)?));
    }
    let statement = "SELECT number, body, extract(epoch FROM decided)::float8 FROM turn";
    let mut times = Vec::new();
    for row in session.client().query(statement, &[]).await.map_err(&doing)? {
        let number: i64 = row.try_get(0).map_err(&doing)?;
        let body = open_sealed(row.try_get(1).map_err(&doing)?, || format!("turn {number}"))?;
        let decided: f64 = row.try_get(2).map_err(&doing)?;
        for range in TurnVerdicts::read(&body)?.ranges() {
            let end = range.first + i64::from(range.count);
            for (_, (count, sent)) in sent.range((range.run.0, range.first)..(range.run.0, end)) {
                let time = Duration::from_secs_f64((decided - sent).max(0.0));
                times.extend(std::iter::repeat_n(time, usize::try_from(*count).unwrap_or_default()));
            }
        }
    }
    times.sort_unstable();
    Ok(times)
}
