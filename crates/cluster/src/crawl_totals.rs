//! What all workers of a crawl have done, as the rows of hosts tell.

use serde_json::{Value, json};

use super::connection::Connector;
use super::crawl_name::CrawlName;
use super::error::ClusterError;

/// Returns the sums over all hosts: outcomes by name, requests, pages decided and turns.
///
/// # Errors
/// Those of the session.
pub async fn crawl_totals(connector: &Connector, crawl: &CrawlName) -> Result<Value, ClusterError> {
    let session = connector.connect().await?;
    session.use_crawl(crawl).await?;
    let statement = "SELECT (SELECT coalesce(jsonb_object_agg(name, n), '{}')::text FROM \
                                (SELECT name, sum(n::bigint) AS n FROM host, jsonb_each_text(outcomes) \
                                 AS outcome (name, n) GROUP BY name HAVING sum(n::bigint) > 0) AS sums), \
                            (SELECT coalesce(sum(requests), 0)::bigint FROM host), \
                            pages, turn FROM crawl";
    let row: (String, i64, i64, i64) = session.client().row("add up what is known of hosts", statement, &[]).await?;
    let (outcomes, requests, pages, turns) = row;
    let outcomes: Value = serde_json::from_str(&outcomes).unwrap_or_default();
    Ok(json!({ "outcomes": outcomes, "requests": requests, "pages": pages, "turns": turns }))
}
