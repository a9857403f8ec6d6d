//! Finds the server that takes writes, and opens sessions whose answers nobody watches for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio_postgres::{Config, NoTls};

use super::address::ServerAddress;
use super::error::{ClusterError, io_error};
use super::refusal::Refusal;
use super::session::Session;
use super::tls;

/// Until a server that takes a connection has to be ready for statements.
pub(super) const LONGEST_GREETING: Duration = Duration::from_secs(8);

/// What each session begins with.
///
/// A commit waits for the standby. A timeout would end that wait, and the commit would be reported as done: so there is
/// none in the server. A process of the server whose client is gone must not keep its locks.
const SETTINGS: &str = "SET synchronous_commit = on; SET statement_timeout = 0; SET lock_timeout = 0; \
                        SET idle_in_transaction_session_timeout = '20s'; SET tcp_user_timeout = '10s'; \
                        SET tcp_keepalives_idle = '10s'; SET tcp_keepalives_interval = '2s'";

/// Greets the servers of an address.
#[derive(Clone, Debug)]
pub(super) struct Greeter {
    pub address: ServerAddress,
    /// The place of the server that took writes last, which is asked first.
    primary: Arc<AtomicUsize>,
}

impl Greeter {
    pub fn new(address: ServerAddress) -> Self {
        Self { address, primary: Arc::default() }
    }

    /// Opens a session with the server that takes writes. Asks each server once, the one that answered last first.
    pub async fn greet_each(&self) -> Result<Session, ClusterError> {
        let servers = self.address.servers();
        let first = self.primary.load(Ordering::Relaxed).min(servers.len());
        let mut failed = ClusterError::Silent { address: self.address.to_string() };
        for place in (first..servers.len()).chain(0..first) {
            match tokio::time::timeout(LONGEST_GREETING, self.greet(&servers[place])).await {
                Ok(Ok(session)) => {
                    self.primary.store(place, Ordering::Relaxed);
                    return Ok(session);
                }
                Ok(Err(error)) => failed = error,
                Err(_) => failed = ClusterError::Silent { address: self.address.to_string() },
            }
        }
        Err(failed)
    }

    async fn greet(&self, server: &Config) -> Result<Session, ClusterError> {
        let unreachable = |source| self.unreachable(source);
        let session = if self.address.needs_tls {
            let tls = tls::connector(self.address.issuers.as_deref())?;
            let (client, connection) = server.connect(tls).await.map_err(unreachable)?;
            Session::new(client, connection)
        } else {
            let (client, connection) = server.connect(NoTls).await.map_err(unreachable)?;
            Session::new(client, connection)
        };
        session.client().batch_execute(SETTINGS).await.map_err(ClusterError::query("set up a session"))?;
        Ok(session)
    }

    fn unreachable(&self, source: tokio_postgres::Error) -> ClusterError {
        let is_read_only = io_error(&source).is_some_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied);
        if is_read_only {
            return Refusal::InRecovery.into();
        }
        ClusterError::Connect { address: self.address.to_string(), source }
    }
}
