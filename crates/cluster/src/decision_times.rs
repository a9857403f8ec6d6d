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
    let doing = "read the times of turns";
    let statement = "SELECT run, first, n, extract(epoch FROM sent)::float8 FROM arrival";
    let rows: Vec<(i32, i64, i32, f64)> = session.client().rows(doing, statement, &[]).await?;
    let sent: BTreeMap<(i32, i64), (i32, f64)> =
        rows.into_iter().map(|(run, first, count, sent)| ((run, first), (count, sent))).collect();
    let statement = "SELECT number, body, extract(epoch FROM decided)::float8 FROM turn";
    let mut times = Vec::new();
    let turns: Vec<(i64, Vec<u8>, f64)> = session.client().rows(doing, statement, &[]).await?;
    for (number, body, decided) in turns {
        let body = open_sealed(&body, || format!("turn {number}"))?;
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
