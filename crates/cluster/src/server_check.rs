//! Whether a crawl may be trusted to a server.

use tokio_postgres::Client;

use super::connection::{Connector, Session};
use super::error::ClusterError;
use super::refusal::Refusal;
use super::watched::Watched;

/// The oldest version of PostgreSQL that is supported, as `server_version_num` counts.
const OLDEST_VERSION: i32 = 150_000;

/// What is to be known of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFacts {
    /// The version, as `server_version_num` counts.
    pub version_number: i32,
    /// The version, for people.
    pub version: String,
    /// Whether the server waits for its disk.
    pub fsync: bool,
    /// Whether the server can repair pages that a power failure has torn.
    pub full_page_writes: bool,
    /// Whether the server is a standby.
    pub in_recovery: bool,
    /// Whether commits wait for a standby.
    pub has_standby_names: bool,
    /// Synchronous standbys that are connected; `None` if this user may not know.
    pub standbys: Option<i64>,
}

impl ServerFacts {
    /// Refuses a server that a crawl must not be trusted to. `one_copy`: whether one server alone is enough.
    pub fn check(&self, one_copy: bool) -> Result<(), Refusal> {
        if self.version_number < OLDEST_VERSION {
            return Err(Refusal::TooOld(self.version.clone()));
        }
        if self.in_recovery {
            return Err(Refusal::InRecovery);
        }
        if !self.fsync {
            return Err(Refusal::SettingOff("fsync"));
        }
        if !self.full_page_writes {
            return Err(Refusal::SettingOff("full_page_writes"));
        }
        match self.standbys {
            // With names and without a standby no commit ends, so one copy does not help either.
            Some(0) if self.has_standby_names => Err(Refusal::StandbyAway),
            _ if one_copy || self.has_standby_names => Ok(()),
            _ => Err(Refusal::NoStandby),
        }
    }
}

/// Opens a session, after a check that a crawl may be trusted to the server. `one_copy`: whether the crawl may lie on one
/// server alone.
pub async fn connect_checked(connector: &Connector, one_copy: bool) -> Result<Session, ClusterError> {
    let session = connector.connect().await?;
    // First of all: behind a pooler the other questions may fail.
    if is_pooled(&session, &connector.connect().await?).await? {
        return Err(Refusal::Pooler.into());
    }
    facts(&session).await?.check(one_copy)?;
    Ok(session)
}

/// Asks a server for the facts.
async fn facts(session: &Session) -> Result<ServerFacts, ClusterError> {
    let statement = "SELECT current_setting('server_version_num')::int, current_setting('server_version'), \
                    current_setting('fsync')::bool, current_setting('full_page_writes')::bool, pg_is_in_recovery(), \
                    current_setting('synchronous_standby_names') <> '', \
                    (SELECT CASE WHEN count(*) = count(state) \
                                 THEN count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) END \
                     FROM pg_stat_replication)";
    let row = session.client().row("read the settings of the server", statement, &[]).await?;
    let (version_number, version, fsync, full_page_writes, in_recovery, has_standby_names, standbys) = row;
    Ok(ServerFacts { version_number, version, fsync, full_page_writes, in_recovery, has_standby_names, standbys })
}

/// Whether a pooler gives the server process of one session to another between transactions.
///
/// The first session leaves a mark in its server process. While the second one has a transaction open, the first one must
/// still have the mark, and the second one must not have it.
async fn is_pooled(first: &Session, second: &Session) -> Result<bool, ClusterError> {
    let looked = async {
        first.client().batch_execute("SET ndcrawl.mark = 'first'").await?;
        second.client().batch_execute("BEGIN").await?;
        let leaked = has_mark(second.client()).await?;
        let kept = has_mark(first.client()).await?;
        second.client().batch_execute("ROLLBACK").await?;
        Ok(leaked || !kept)
    };
    looked.await.map_err(ClusterError::query("look for a connection pooler"))
}

/// Without a prepared statement: a pooler may lose these.
async fn has_mark(client: &Watched<Client>) -> Result<bool, tokio_postgres::Error> {
    let answer = client.simple_query("SELECT current_setting('ndcrawl.mark', true)").await?;
    Ok(answer.iter().any(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0) == Some("first"),
        _ => false,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> ServerFacts {
        ServerFacts {
            version_number: 150_018,
            version: "15.18".to_owned(),
            fsync: true,
            full_page_writes: true,
            in_recovery: false,
            has_standby_names: true,
            standbys: Some(1),
        }
    }

    #[test]
    fn each_fault_is_refused_with_what_to_do() {
        assert_eq!(sound().check(false), Ok(()));
        let old = ServerFacts { version_number: 140_012, version: "14.12".to_owned(), ..sound() };
        for (facts, message) in [
            (old, "PostgreSQL 14.12 is too old: upgrade the server to 15 or newer"),
            (ServerFacts { fsync: false, ..sound() }, "fsync is off on this server"),
            (ServerFacts { full_page_writes: false, ..sound() }, "full_page_writes is off on this server"),
            (ServerFacts { in_recovery: true, ..sound() }, "promote a standby"),
            (ServerFacts { standbys: Some(0), ..sound() }, "start the standby"),
        ] {
            for one_copy in [false, true] {
                let refusal = facts.check(one_copy).unwrap_err().to_string();
                assert!(refusal.contains(message), "{refusal}");
            }
        }
    }

    #[test]
    fn one_copy_must_be_asked_for() {
        let alone = ServerFacts { has_standby_names: false, standbys: Some(0), ..sound() };
        assert_eq!(alone.check(false), Err(Refusal::NoStandby));
        assert_eq!(alone.check(true), Ok(()));
        // A standby that is connected and not waited for is no second copy.
        let lagging = ServerFacts { has_standby_names: false, standbys: Some(0), ..sound() };
        assert_eq!(lagging.check(false), Err(Refusal::NoStandby));
        // A user without pg_read_all_stats does not see the standbys.
        assert_eq!(ServerFacts { standbys: None, ..sound() }.check(false), Ok(()));
    }
}
