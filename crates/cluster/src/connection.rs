//! Sessions with the server that takes writes.

use std::time::{Duration, Instant};

use tokio::task::AbortHandle;

use super::address::ServerAddress;
use super::error::ClusterError;
use super::greeting::{Greeter, LONGEST_GREETING};
use super::retry_pauses::RetryPauses;
use super::session::ServerProcess;
pub use super::session::{OpenTransaction, Session};
use super::session_watch::until_lost;
use super::watched::InFlight;

/// Opens sessions.
#[derive(Clone, Debug)]
pub struct Connector {
    greeter: Greeter,
}

impl Connector {
    /// A connector to these servers.
    pub fn new(address: ServerAddress) -> Self {
        Self { greeter: Greeter::new(address) }
    }

    /// Returns the servers, without a password.
    pub fn servers(&self) -> String {
        self.greeter.address.to_string()
    }

    /// Opens a session with the server that takes writes. Asks each server once.
    pub async fn connect(&self) -> Result<Session, ClusterError> {
        let mut session = self.greeter.greet_each().await?;
        let process = tokio::time::timeout(LONGEST_GREETING, session.process()).await;
        let process = process.map_err(|_| ClusterError::Silent { address: self.greeter.address.to_string() })??;
        session.watch_by(|in_flight, connection| watch(self.greeter.clone(), process, in_flight, connection));
        Ok(session)
    }

    /// Opens a session, and tries again with growing pauses for at most this time.
    ///
    /// # Errors
    /// The last error, or the first that does not pass, such as a wrong password.
    pub async fn connect_patiently(&self, longest: Duration) -> Result<Session, ClusterError> {
        let (began, mut pauses) = (Instant::now(), RetryPauses::new());
        loop {
            let error = match self.connect().await {
                Err(error) if error.is_passing() => error,
                result => return result,
            };
            let pause = pauses.next();
            if began.elapsed() + pause >= longest {
                return Err(error);
            }
            tracing::warn!(address = %self.greeter.address, "no connection to the database: {}", causes(&error));
            tokio::time::sleep(pause).await;
        }
    }
}

/// An error with its causes, in one line.
fn causes(error: &ClusterError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// Ends the connection of a session if it is lost, so that whoever waits for an answer is told.
async fn watch(greeter: Greeter, process: ServerProcess, in_flight: InFlight, connection: AbortHandle) {
    until_lost(&greeter, &process, &in_flight).await;
    tracing::warn!(address = %greeter.address, "a connection to the database is lost: no answer comes, and none is made");
    connection.abort();
}
