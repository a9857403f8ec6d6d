//! Errors of the cluster.

use super::address::AddressError;
use super::refusal::Refusal;
use ndcrawl_engine::pipeline::SharingError;
use ndcrawl_model::Slot;

/// Why something in the cluster failed.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The address of the servers cannot be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Something that a crawl must not be trusted to.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No server could be reached.
    #[error("cannot connect to {address}")]
    Connect {
        /// The servers, without password.
        address: String,
        /// The last server's error.
        source: tokio_postgres::Error,
    },
    /// A server takes connections and does not speak.
    #[error(
        "cannot connect to {address}: a server, or what is between it and this machine, takes the connection and does not \
         answer"
    )]
    Silent {
        /// The servers, without password.
        address: String,
    },
    /// The server did not do what it was asked.
    #[error("cannot {doing}")]
    Query {
        /// What was asked, as a verb.
        doing: &'static str,
        /// The server's error.
        source: tokio_postgres::Error,
    },
    /// The primary has committed without waiting for the standby.
    #[error(
        "a commit is on the primary alone: somebody has ended its wait for the standby. If the primary is lost before \
         the standby has caught up, so is the commit"
    )]
    Unreplicated,
    /// Another run owns the slot by now, or this run's lease has run out.
    #[error("slot {} is not held any more: the lease of run {run} has run out, or another run has taken the slot", slot.0)]
    SlotLost {
        /// The slot.
        slot: Slot,
        /// The run that held it.
        run: i32,
    },
    /// The lease of this run has run out.
    #[error("the lease of run {0} has run out: begin a new run")]
    RunLost(i32),
    /// The log has another turn than was taken in, or none: all that was derived from it must be forgotten.
    #[error("the log has another turn {0} than was taken in: begin a new run")]
    OtherLog(i64),
    /// The server answers too slowly to keep gaps between requests.
    #[error(
        "the database took {} ms to reserve the start of a request, too long to keep the gaps: bring the workers nearer to \
         it, or give it more power",
        .0.as_millis()
    )]
    Slow(std::time::Duration),
    /// The detector failed.
    #[error(transparent)]
    Detect(#[from] neardup::detect::DetectError),
    /// The folder of this process failed.
    #[error("the folder of this process: {0}")]
    Folder(String),
    /// The server has something that no version of this program writes.
    #[error("the database is damaged: {0}")]
    Damaged(String),
}

impl ClusterError {
    /// Names what was asked of the server.
    pub(super) fn query(doing: &'static str) -> impl Fn(tokio_postgres::Error) -> Self {
        move |source| Self::Query { doing, source }
    }

    /// What has failed in a folder.
    pub(super) fn folder(error: ndcrawl_store::Error) -> Self {
        Self::Folder(error.to_string())
    }

    /// Returns what helps against the error.
    pub fn class(&self) -> ErrorClass {
        let passes = match self {
            Self::RunLost(_) | Self::SlotLost { .. } | Self::OtherLog(_) | Self::Unreplicated => {
                return ErrorClass::BeginAgain;
            }
            Self::Refused(refusal) => *refusal == Refusal::InRecovery,
            Self::Slow(_) | Self::Silent { .. } => true,
            Self::Connect { source, .. } | Self::Query { source, .. } => is_passing(source),
            _ => false,
        };
        if passes { ErrorClass::Passing } else { ErrorClass::Broken }
    }

    /// Whether another attempt, on another connection, may succeed.
    pub fn is_passing(&self) -> bool {
        self.class() == ErrorClass::Passing
    }
}

/// What helps against an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Another attempt, on another connection.
    Passing,
    /// A new run, which begins with what the log has.
    BeginAgain,
    /// Nothing but a person.
    Broken,
}

impl From<ClusterError> for SharingError {
    fn from(error: ClusterError) -> Self {
        Self::new(error)
    }
}

/// Beginnings of the codes of errors that pass: a server that starts, stops, fails over or is a standby by now, or has no
/// place; a conflict between transactions; a statement or a session that somebody has ended, also for being idle.
const PASSING: [&str; 7] = ["57P", "08", "53", "40", "57014", "25P03", "25006"];

fn is_passing(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(code) => PASSING.iter().any(|class| code.code().starts_with(class)),
        // No answer, or an end of the connection. A password or certificate that is wrong stays wrong.
        None => error.is_closed() || io_error(error).is_some(),
    }
}

/// Returns the error of the system behind an error of the client.
pub(super) fn io_error(error: &tokio_postgres::Error) -> Option<&std::io::Error> {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref::<std::io::Error>() {
            // A certificate that is refused is no matter of the network.
            return found.get_ref().is_none_or(|inner| !inner.is::<rustls::Error>()).then_some(found);
        }
        source = error.source();
    }
    None
}
