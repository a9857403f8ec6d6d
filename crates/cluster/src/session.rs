//! A session with a server, and its transactions.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinHandle};
use tokio_postgres::{AsyncMessage, Client, Connection, SimpleQueryMessage, Transaction};

use super::crawl_name::CrawlName;
use super::error::ClusterError;
use super::watched::{InFlight, Watched};

const OWN_PROCESS: &str =
    "SELECT pid, extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// The process of the server that works for a session. No other one has the same number and beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerProcess {
    pub pid: i32,
    pub began: String,
}

/// A session. It ends when it is dropped.
#[derive(Debug)]
pub struct Session {
    client: Watched<Client>,
    in_flight: InFlight,
    /// Whether a commit has not waited for the standby.
    unreplicated: Arc<AtomicBool>,
    news: Arc<Notify>,
    driver: JoinHandle<()>,
    watch: Option<JoinHandle<()>>,
}

impl Session {
    pub(super) fn new<S, T>(client: Client, connection: Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let unreplicated = Arc::new(AtomicBool::new(false));
        let news = Arc::new(Notify::new());
        let driver = tokio::spawn(drive(connection, Arc::clone(&unreplicated), Arc::clone(&news)));
        let in_flight = InFlight::new();
        let client = Watched::new(client, in_flight.clone());
        Self { client, in_flight, unreplicated, news, driver, watch: None }
    }

    /// The client, for reading.
    pub fn client(&self) -> &Watched<Client> {
        &self.client
    }

    /// Returns the process of the server that works for this session. Without a prepared statement: a pooler may lose
    /// these.
    pub(super) async fn process(&self) -> Result<ServerProcess, ClusterError> {
        let doing = ClusterError::query("set up a session");
        for message in self.client.simple_query(OWN_PROCESS).await.map_err(&doing)? {
            if let SimpleQueryMessage::Row(row) = message
                && let (Some(pid), Some(began)) = (row.try_get(0).map_err(&doing)?, row.try_get(1).map_err(&doing)?)
                && let Ok(pid) = pid.parse()
            {
                return Ok(ServerProcess { pid, began: began.to_owned() });
            }
        }
        Err(ClusterError::Damaged("the server does not know the process of a session".to_owned()))
    }

    /// Has this watch for answers. It is given what to watch, and what to abort if no answer comes.
    pub(super) fn watch_by<F>(&mut self, watch: impl FnOnce(InFlight, AbortHandle) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.watch = Some(tokio::spawn(watch(self.in_flight.clone(), self.driver.abort_handle())));
    }

    /// Has the names of tables mean those of a crawl.
    pub async fn use_crawl(&self, name: &CrawlName) -> Result<(), ClusterError> {
        let statement = format!("SET search_path = {}", name.schema());
        self.client.batch_execute(&statement).await.map_err(ClusterError::query("choose the crawl"))
    }

    /// Has each turn of the crawl wake this session.
    pub async fn listen(&self, name: &CrawlName) -> Result<(), ClusterError> {
        let statement = format!("LISTEN {}", name.schema());
        self.client.batch_execute(&statement).await.map_err(ClusterError::query("listen for turns"))
    }

    /// Waits until there was a turn since the last call, for at most this time. Look into the log in any
    /// case: news are lost with a connection.
    pub async fn wait_for_news(&self, longest: Duration) {
        // Either end is a reason to look.
        let _ = tokio::time::timeout(longest, self.news.notified()).await;
    }

    /// Has the session see one state of all tables from here on, and change nothing. Not for long: the server keeps what
    /// others delete meanwhile.
    pub async fn see_one_state(&self) -> Result<(), ClusterError> {
        let statement = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        self.client.batch_execute(statement).await.map_err(ClusterError::query("begin a transaction"))
    }

    /// Begins a transaction. End it with [`OpenTransaction::commit`].
    pub async fn begin(&mut self) -> Result<OpenTransaction<'_>, ClusterError> {
        let begun = self.in_flight.during(self.client.inner().transaction()).await;
        let transaction =
            Watched::new(begun.map_err(ClusterError::query("begin a transaction"))?, self.in_flight.clone());
        Ok(OpenTransaction { transaction, unreplicated: &self.unreplicated })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.abort();
        self.watch.iter().for_each(JoinHandle::abort);
    }
}

/// A transaction that is durable on both servers once it is committed.
pub struct OpenTransaction<'a> {
    transaction: Watched<Transaction<'a>>,
    unreplicated: &'a AtomicBool,
}

impl<'a> OpenTransaction<'a> {
    /// The transaction, for statements.
    pub fn sql(&self) -> &Watched<Transaction<'a>> {
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
        let (transaction, in_flight) = self.transaction.into_parts();
        in_flight.during(transaction.commit()).await.map_err(ClusterError::query("commit"))?;
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
