//! When a crawl is over: nobody has anything to do, no mail is on its way, and nothing is to be decided again.

use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;
use ndcrawl_model::Sequence;

/// What one process is to do when it has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Others have something to do.
    Wait,
    /// Rounds of questions up to this one have ended: their pages may be this process's.
    Revise(i32),
    /// This process is to ask what is to be decided again. The questions before were about the pages below this one.
    Ask(Sequence),
    /// The crawl is finished.
    End,
}

/// Sets a crawl to finished if it is over. `round` is the last round of questions that this process has taken part in.
///
/// A crawl has ended if it has its pages and none is to be fetched once more, or no slot has anything to do and no mail is
/// on its way; if all have taken the pages of the last round; and if no page was decided since the last questions.
pub(super) async fn next_step(
    session: &mut Session,
    run: RunId,
    round: i32,
    limit: Option<u64>,
) -> Result<NextStep, ClusterError> {
    let doing = "look for the end of the crawl";
    let limit = limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    // One statement sees one state of all tables. The run that has the first slot asks: it is alive, or will be replaced.
    let statement = "SELECT state = 'finished', round, looked, looked = pages, \
                            state = 'running' AND NOT EXISTS (SELECT FROM slot WHERE slot.round < crawl.round) \
                            AND coalesce((SELECT sum(pages) >= $1::bigint AND sum(revising) = 0 FROM slot) \
                                         OR NOT EXISTS (SELECT FROM slot WHERE NOT is_idle) \
                                            AND NOT EXISTS (SELECT FROM mail), false), \
                            coalesce((SELECT owner = $2 FROM slot ORDER BY slot LIMIT 1), false) FROM crawl";
    let row: (bool, i32, i64, bool, bool, bool) = session.client().row(doing, statement, &[&limit, &run.0]).await?;
    let (is_finished, last, looked, is_looked, is_over, is_first) = row;
    Ok(match () {
        () if is_finished => NextStep::End,
        () if last > round => NextStep::Revise(last),
        () if !is_over || !is_looked && !is_first => NextStep::Wait,
        () if !is_looked => NextStep::Ask(Sequence(u32::try_from(looked).unwrap_or(u32::MAX))),
        () => {
            let transaction = session.begin().await?;
            let statement =
                "UPDATE crawl SET state = 'finished' WHERE state = 'running' AND round = $1 AND looked = pages";
            let changed = transaction.sql().change(doing, statement, &[&last]).await?;
            transaction.commit().await?;
            if changed > 0 { NextStep::End } else { NextStep::Wait }
        }
    })
}
