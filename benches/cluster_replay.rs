//! Decides the log of a shared run once more by one decider, and counts the verdicts that differ: there must be none.
//!
//! `cargo bench --bench cluster_replay -- postgres://USER@HOST/DATABASE [NAME]`

use std::time::Instant;

use ndcrawl::cluster::{ClusterError, Connector, CrawlName, Replay, ReplayOptions, ServerAddress, open, replay};
use ndcrawl::detect::Options;
use ndcrawl::model::Detector;

#[tokio::main]
async fn main() -> Result<(), ClusterError> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [address, name @ ..] = &arguments[..] else {
        println!("give the address of the servers, and the name of the run");
        return Ok(());
    };
    let name = CrawlName::parse(name.first().map_or("crawl", String::as_str))?;
    let session = Connector::new(ServerAddress::from_argument(address)?).connect().await?;
    let crawl = open(&session, &name).await?;
    let began = Instant::now();
    let Replay { turns, pages, differing, .. } =
        replay(&session, ReplayOptions::all(Options::of(Detector::Mwo))).await?;
    let seconds = began.elapsed().as_secs_f64();
    let statement = "SELECT sum(pg_total_relation_size(oid))::float8 FROM pg_class \
                     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'";
    let row = session
        .client()
        .query_one(statement, &[])
        .await
        .map_err(|source| ClusterError::Query { doing: "measure the tables", source })?;
    let bytes: f64 = row.get(0);
    println!(
        "{pages} pages in {turns} turns of {}, {} differ; {seconds:.1} s; {:.0} bytes a page in the database",
        crawl.plan.turn_pages,
        differing.len(),
        bytes / (pages.max(1) as f64)
    );
    Ok(())
}
