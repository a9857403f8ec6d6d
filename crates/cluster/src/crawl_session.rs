//! A session with the tables of a crawl, which is opened when it is needed and again after an error.

use std::time::{Duration, Instant};

use super::connection::{Connector, Session};
use super::crawl_name::CrawlName;
use super::error::ClusterError;
use super::retry_pauses::RetryPauses;

/// The session of a task. Whoever uses it tells how it went ([`after`](Self::after)).
#[derive(Debug)]
pub struct CrawlSession {
    connector: Connector,
    crawl: CrawlName,
    /// How long a session is tried to be had.
    patience: Duration,
    /// Whether turns are to wake the session.
    listens: bool,
    session: Option<Session>,
    /// The pause before the next attempt, after a failure.
    pause: Option<Duration>,
    pauses: RetryPauses,
}

impl CrawlSession {
    /// A session that is not open yet.
    pub fn new(connector: Connector, crawl: CrawlName, patience: Duration) -> Self {
        Self { connector, crawl, patience, listens: false, session: None, pause: None, pauses: RetryPauses::new() }
    }

    /// A session that turns wake.
    pub fn listening(connector: Connector, crawl: CrawlName, patience: Duration) -> Self {
        Self { listens: true, ..Self::new(connector, crawl, patience) }
    }

    /// Whether the next use goes on with the session of the last one.
    pub fn is_open(&self) -> bool {
        self.session.is_some()
    }

    /// Returns the session. Opens it if need be, after a pause that grows with each failure in a row.
    ///
    /// # Errors
    /// Those that do not pass within the patience.
    pub async fn open(&mut self) -> Result<&mut Session, ClusterError> {
        if self.session.is_none() {
            if let Some(pause) = self.pause.take() {
                tokio::time::sleep(pause).await;
            }
            self.session = Some(self.connect().await?);
        }
        match &mut self.session {
            Some(session) => Ok(session),
            None => Err(ClusterError::Damaged("a session that was opened is not there".to_owned())),
        }
    }

    /// See [`Session::wait_for_news`]. Without a session there are none.
    pub async fn wait_for_news(&self, longest: Duration) {
        match &self.session {
            Some(session) => session.wait_for_news(longest).await,
            None => tokio::time::sleep(longest).await,
        }
    }

    /// Works on the session, which is opened if need be.
    pub(super) async fn with<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        let done = work(self.open().await?).await;
        self.after(done)
    }

    /// Takes the result of statements. After an error that passes, the next use opens another session.
    pub fn after<T>(&mut self, done: Result<T, ClusterError>) -> Result<T, ClusterError> {
        match &done {
            Ok(_) => self.pauses = RetryPauses::new(),
            Err(error) if error.is_passing() => {
                self.session = None;
                self.pause = Some(self.pauses.next());
            }
            Err(_) => {}
        }
        done
    }

    async fn connect(&mut self) -> Result<Session, ClusterError> {
        let began = Instant::now();
        loop {
            let left = self.patience.saturating_sub(began.elapsed());
            let session = self.connector.connect_patiently(left).await?;
            match self.enter(&session).await {
                Ok(()) => return Ok(session),
                Err(error) if error.is_passing() && began.elapsed() < self.patience => {
                    tokio::time::sleep(self.pauses.next()).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn enter(&self, session: &Session) -> Result<(), ClusterError> {
        session.use_crawl(&self.crawl).await?;
        if self.listens { session.listen(&self.crawl).await } else { Ok(()) }
    }
}
