//! When a crawl is over: nobody has anything to do, and no mail is on its way.

use super::connection::Session;
use super::error::ClusterError;

/// Sets a crawl to finished if it is over: it has its pages, or no slot has anything to do and no mail is on its way.
/// Returns whether it is finished.
pub(super) async fn finish_if_over(session: &mut Session, limit: Option<u64>) -> Result<bool, ClusterError> {
    let doing = ClusterError::query("look for the end of the crawl");
    let limit = limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    // One statement sees one state of all tables.
    let is_over = "SELECT state = 'finished' OR (state = 'running' AND ( \
                       (SELECT sum(pages) FROM slot) >= $1::bigint \
                       OR NOT EXISTS (SELECT FROM slot WHERE NOT is_idle) AND NOT EXISTS (SELECT FROM mail))), \
                       state = 'finished' FROM crawl";
    let row = session.client().query_one(is_over, &[&limit]).await.map_err(&doing)?;
    let (is_over, is_known): (Option<bool>, bool) = (row.try_get(0).map_err(&doing)?, row.try_get(1).map_err(&doing)?);
    if is_over != Some(true) || is_known {
        return Ok(is_known);
    }
    let transaction = session.begin().await?;
    let statement = "UPDATE crawl SET state = 'finished' WHERE state = 'running'";
    transaction.sql().execute(statement, &[]).await.map_err(doing)?;
    transaction.commit().await?;
    Ok(true)
}
