//! Shares of the pages that a crawl may have, so that all processes together never fetch more.
//!
//! What is granted and not yet committed counts as fetched while the run that has it is alive. What a dead run had left
//! is free again: it can commit no page any more. A page that is to be fetched once more keeps its place, whoever fetches
//! it.

use super::connection::Session;
use super::error::ClusterError;
use super::lease::RunId;

/// Most pages of one grant.
const MOST: i64 = 256;

/// Grants a run some of at most `limit` pages. Returns how many; 0 if others have the rest.
pub async fn grant_pages(session: &mut Session, run: RunId, limit: u64) -> Result<u64, ClusterError> {
    let doing = "grant pages";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let transaction = session.begin().await?;
    // One grant after the other.
    transaction.sql().change(doing, "SELECT one FROM crawl FOR UPDATE", &[]).await?;
    let left = "SELECT $1 - (SELECT coalesce(sum(pages + revising), 0)::bigint FROM slot) \
                       - (SELECT coalesce(sum(granted - used), 0)::bigint FROM run WHERE until > clock_timestamp()), \
                       (SELECT count(*) FROM run WHERE until > clock_timestamp())";
    let (left, runs): (i64, i64) = transaction.sql().row(doing, left, &[&limit]).await?;
    // Towards the end the grants get smaller, so that no run has all that is left.
    let granted = MOST.min((left + 2 * runs - 1) / (2 * runs).max(1)).min(left).max(0);
    let statement = "UPDATE run SET granted = granted + $2 WHERE id = $1 AND until > clock_timestamp()";
    let changed = transaction.sql().change(doing, statement, &[&run.0, &granted]).await?;
    if changed == 0 {
        return Err(ClusterError::RunLost(run.0));
    }
    transaction.commit().await?;
    Ok(granted.unsigned_abs())
}

/// Gives back what a run has left. All pages that it has fetched are committed.
pub async fn return_pages(session: &mut Session, run: RunId) -> Result<(), ClusterError> {
    let transaction = session.begin().await?;
    let statement = "UPDATE run SET granted = used WHERE id = $1 AND granted <> used";
    transaction.sql().change("give granted pages back", statement, &[&run.0]).await?;
    transaction.commit().await
}
