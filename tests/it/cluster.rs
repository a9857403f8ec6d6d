//! Several processes that share a crawl, on real database servers.

mod commands;
mod connection;
mod crawl;
mod dedup;
mod dedup_output;
mod dedup_revised;
mod dedup_within;
mod failed_tasks;
mod failover;
mod forwarder;
mod gaps;
mod gathering;
mod grants;
mod handover;
mod inputs;
mod lease;
mod least_rights;
mod lost_connections;
mod lost_pages;
mod metrics;
mod moving;
mod rebalance;
mod refusals;
mod replica;
mod revisions;
mod schema;
mod servers;
mod turn_runner;
mod turns;
mod verify;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::time::Duration;

use ndcrawl::cluster::{
    ClusterError, Connector, CrawlName, CrawlPlan, Fence, OpenTransaction, Run, RunDescription, RunId, Session,
    SlotChange, hold_slots, init,
};
use ndcrawl::model::Slot;

use servers::LocalServers;

/// A plan with this many slots.
fn plan(name: &str, slots: u16) -> CrawlPlan {
    CrawlPlan {
        name: CrawlName::parse(name).unwrap(),
        settings: serde_json::json!({"threshold": 0.8}),
        rendering: "1".to_owned(),
        slots: NonZeroU16::new(slots).unwrap(),
        turn_pages: 256,
        one_copy: false,
    }
}

/// A session that uses a crawl, which is made if need be.
async fn session(servers: &LocalServers, plan: &CrawlPlan) -> Session {
    let mut session = Connector::new(servers.address()).connect().await.unwrap();
    init(&mut session, plan).await.unwrap();
    session
}

/// A run with an archive of its own.
async fn begin(session: &mut Session, name: &str, ttl: Duration) -> Result<Run, ClusterError> {
    let description =
        RunDescription { name: name.to_owned(), version: "0".to_owned(), archive: format!("here:/archive/{name}") };
    Run::begin(session, &description, ttl).await
}

/// Has a run hold one slot, as each of its commits does. Returns the number of the commit.
async fn hold(
    transaction: &OpenTransaction<'_>,
    run: RunId,
    (slot, fence): (Slot, Fence),
) -> Result<i64, ClusterError> {
    let change = BTreeMap::from([(slot, SlotChange::of(fence))]);
    let numbers = hold_slots(transaction, run, &change, (false, None)).await?;
    Ok(numbers[&slot])
}

/// An error with all its causes, as people and logs may see it.
fn everything(error: &ClusterError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text} {error} {error:?}");
        source = error.source();
    }
    text
}
