//! Sessions with the server that takes writes.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Transaction};

use super::address::ServerAddress;
use super::crawl_name::CrawlName;
use super::error::{ClusterError, io_error};
use super::refusal::Refusal;
use super::tls;

/// The first pause between two attempts to connect, which doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What each session begins with.
///
/// A commit waits for the standby. A timeout would end that wait, and the commit would be reported as done: so there is
/// none in the server.
const SETTINGS: &str = "SET synchronous_commit = on; SET statement_timeout = 0; SET lock_timeout = 0; \
                        SET idle_in_transaction_session_timeout = '60s'";

/// Opens sessions.
#[derive(Clone, Debug)]
pub struct Connector {
    address: ServerAddress,
}

impl Connector {
    /// A connector to these servers.
    pub fn new(address: ServerAddress) -> Self {
        Self { address }
    }

    /// Opens a session with the server that takes writes. Asks each server once.
    pub async fn connect(&self) -> Result<Session, ClusterError> {
        let unreachable = |source| self.unreachable(source);
        let session = if self.address.needs_tls {
            let tls = tls::connector(self.address.issuers.as_deref())?;
            let (client, connection) = self.address.config.connect(tls).await.map_err(unreachable)?;
            Session::new(client, connection)
        } else {
            let (client, connection) = self.address.config.connect(NoTls).await.map_err(unreachable)?;
            Session::new(client, connection)
        };
        session.client.batch_execute(SETTINGS).await.map_err(ClusterError::query("set up a session"))?;
        Ok(session)
    }

    /// Opens a session, and tries again with growing pauses for at most this time.
    ///
    /// # Errors
    /// The last error, or the first that does not pass, such as a wrong password.
    pub async fn connect_patiently(&self, longest: Duration) -> Result<Session, ClusterError> {
        let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
        loop {
            match self.connect().await {
                Err(error) if error.is_passing() && began.elapsed() + pause < longest => {
                    tracing::warn!(address = %self.address, "no connection to the database: {}", causes(&error));
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                result => return result,
            }
        }
    }

    fn unreachable(&self, source: tokio_postgres::Error) -> ClusterError {
        let is_read_only = io_error(&source).is_some_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied);
        if is_read_only {
            return Refusal::InRecovery.into();
        }
        ClusterError::Connect { address: self.address.to_string(), source }
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

/// A session. It ends when it is dropped.
#[derive(Debug)]
pub struct Session {
    client: Client,
    /// Whether a commit has not waited for the standby.
    unreplicated: Arc<AtomicBool>,
    news: Arc<Notify>,
    driver: JoinHandle<()>,
}

impl Session {
    fn new<S, T>(client: Client, connection: Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let unreplicated = Arc::new(AtomicBool::new(false));
        let news = Arc::new(Notify::new());
        let driver = tokio::spawn(drive(connection, Arc::clone(&unreplicated), Arc::clone(&news)));
        Self { client, unreplicated, news, driver }
    }

    /// The client, for reading.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Has the names of tables mean those of a crawl.
    pub async fn use_crawl(&self, name: &CrawlName) -> Result<(), ClusterError> {
        let statement = format!("SET search_path = {}", name.schema());
        self.client.batch_execute(&statement).await.map_err(ClusterError::query("choose the crawl"))
    }

    /// Has the judge of the crawl wake this session.
    pub async fn listen(&self, name: &CrawlName) -> Result<(), ClusterError> {
        let statement = format!("LISTEN {}", name.schema());
        self.client.batch_execute(&statement).await.map_err(ClusterError::query("listen to the judge"))
    }

    /// Waits until the judge has told something since the last call, for at most this time. Look into the log in any
    /// case: news are lost with a connection.
    pub async fn wait_for_news(&self, longest: Duration) {
        // Either end is a reason to look.
        let _ = tokio::time::timeout(longest, self.news.notified()).await;
    }

    /// Begins a transaction. End it with [`OpenTransaction::commit`].
    pub async fn begin(&mut self) -> Result<OpenTransaction<'_>, ClusterError> {
        let transaction = self.client.transaction().await.map_err(ClusterError::query("begin a transaction"))?;
        Ok(OpenTransaction { transaction, unreplicated: &self.unreplicated })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A transaction that is durable on both servers once it is committed.
pub struct OpenTransaction<'a> {
    transaction: Transaction<'a>,
    unreplicated: &'a AtomicBool,
}

impl<'a> OpenTransaction<'a> {
    /// The transaction, for statements.
    pub fn sql(&self) -> &Transaction<'a> {
        &self.transaction
    }

    /// Wakes all sessions that listen, once the transaction is committed.
    pub(super) async fn tell(&self) -> Result<(), ClusterError> {
        let statement = "SELECT pg_notify(current_schema(), '')";
        self.transaction.execute(statement, &[]).await.map(drop).map_err(ClusterError::query("tell the news"))
    }

    /// Commits.
    ///
    /// # Errors
    /// [`ClusterError::Unreplicated`] if the commit was made and is not known to be on the standby. After another error
    /// nobody knows whether the commit was made: look into the log.
    pub async fn commit(self) -> Result<(), ClusterError> {
        self.transaction.commit().await.map_err(ClusterError::query("commit"))?;
        // The server sends the warning before the confirmation.
        if self.unreplicated.swap(false, Ordering::AcqRel) { Err(ClusterError::Unreplicated) } else { Ok(()) }
    }
}

/// Moves messages between client and server until the connection ends.
async fn drive<S, T>(mut connection: Connection<S, T>, unreplicated: Arc<AtomicBool>, news: Arc<Notify>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            // Whatever the language of the server is, the function that warns has this name.
            Ok(AsyncMessage::Notice(notice)) if notice.routine() == Some("SyncRepWaitForLSN") => {
                unreplicated.store(true, Ordering::Release);
            }
            Ok(AsyncMessage::Notice(notice)) => tracing::debug!("notice of the database: {}", notice.message()),
            Ok(AsyncMessage::Notification(_)) => news.notify_one(),
            Ok(_) => {}
            Err(error) => {
                tracing::debug!("connection to the database ended: {error}");
                return;
            }
        }
    }
}
