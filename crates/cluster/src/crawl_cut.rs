//! The state of a crawl that a folder is gathered from, kept so that an interrupted `gather` goes on with the same one.
//!
//! Workers may go on meanwhile. Logs only grow, so the state is a snapshot as PostgreSQL has them. What does not last is
//! part of it: the links on their way, and the rests of hosts.

use serde::{Deserialize, Serialize};
use tokio_postgres::types::ToSql;

use super::archive_files::{ArchiveFile, archive_files};
use super::connection::Session;
use super::error::ClusterError;
use super::hosts::lasting_rests;
use super::mail::letters;
use super::schema::{CrawlRow, CrawlState};
use ndcrawl_model::{Mailed, RestRow};

/// A consistent cut through the logs of a crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlCut {
    /// The program that reads it. Another one may divide the folder into other commits.
    program: String,
    identity: CrawlIdentity,
    is_over: bool,
    /// Which transactions are seen.
    snapshot: String,
    pub(super) files: Vec<ArchiveFile>,
    mail: Vec<Mailed>,
    rests: Vec<RestRow>,
}

/// What tells a crawl from another one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CrawlIdentity {
    name: String,
    /// The number of its schema in the database.
    schema: i64,
    /// The last turn.
    turn: i64,
    /// When that was decided, by the clock of the server.
    decided: Option<String>,
}

impl CrawlIdentity {
    async fn at_turn(session: &Session, crawl: &CrawlRow, turn: i64) -> Result<Self, ClusterError> {
        let statement = "SELECT (SELECT oid::bigint FROM pg_namespace WHERE nspname = $1), \
                                (SELECT decided::text FROM turn WHERE number = $2)";
        let parameters: [&(dyn ToSql + Sync); 2] = [&crawl.plan.name.schema(), &turn];
        let (schema, decided) = session.client().row("identify the crawl", statement, &parameters).await?;
        Ok(Self { name: crawl.plan.name.text().to_owned(), schema, turn, decided })
    }
}

impl CrawlCut {
    /// Reads the present state. The session must see one state of all tables.
    ///
    /// # Errors
    /// Those of the session.
    pub async fn read(session: &Session, crawl: &CrawlRow) -> Result<Self, ClusterError> {
        let doing = "read how far the logs of slots are";
        let (snapshot,) = session.client().row(doing, "SELECT pg_current_snapshot()::text", &[]).await?;
        Ok(Self {
            program: program(),
            identity: CrawlIdentity::at_turn(session, crawl, crawl.turn).await?,
            is_over: crawl.state == CrawlState::Finished,
            snapshot,
            files: archive_files(session).await?,
            mail: letters(session).await?,
            rests: lasting_rests(session, crawl.slot_map().slots()).await?,
        })
    }

    /// Returns whether this is a state of the crawl that the session uses, and this program has read it.
    ///
    /// # Errors
    /// Those of the session.
    pub async fn is_of(&self, session: &Session, crawl: &CrawlRow) -> Result<bool, ClusterError> {
        let identity = CrawlIdentity::at_turn(session, crawl, self.turn()).await?;
        Ok(self.program == program() && self.identity == identity && self.turn() <= crawl.turn)
    }

    /// Whether the crawl was complete.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Links that were on their way between slots.
    pub fn mail(&self) -> &[Mailed] {
        &self.mail
    }

    /// Rests of hosts that lasted.
    pub fn rests(&self) -> &[RestRow] {
        &self.rests
    }

    /// The last turn.
    pub(super) fn turn(&self) -> i64 {
        self.identity.turn
    }

    /// Returns the snapshot of the database in which the logs are read.
    pub(super) fn snapshot(&self) -> &str {
        &self.snapshot
    }
}

fn program() -> String {
    format!("ndcrawl {}, format {}", env!("CARGO_PKG_VERSION"), ndcrawl_store::FORMAT)
}
