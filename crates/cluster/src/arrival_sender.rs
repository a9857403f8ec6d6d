//! Sends the arrivals of a run, in a task of its own, and sends again what a failover has lost.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc;

use super::arrivals::{ArrivalChunk, arrived, send_arrivals};
use super::arriving::{Arriving, chunk_of};
use super::connection::Connector;
use super::crawl_name::CrawlName;
use super::crawl_session::CrawlSession;
use super::error::ClusterError;
use super::lease::RunId;
use super::run_status::{Waiting, WaitingPages};
use super::test_point::test_point;

/// Pages that are sent together, if so many are there.
const CHUNK: usize = 32;
/// How often a sender looks whether what it has sent is still there.
const LOOK: Duration = Duration::from_secs(1);
/// How long it tries to connect. The lease has run out long before.
const PATIENCE: Duration = Duration::from_secs(600);

/// A page or a withdrawal, and who waits for its decision.
#[derive(Debug)]
pub(super) struct Submission {
    /// The run that alone may send it; else any.
    pub of: Option<RunId>,
    pub arriving: Arriving,
    pub waits: Waiting,
}

/// The arrivals of a run.
pub(super) struct ArrivalSender {
    session: CrawlSession,
    run: RunId,
    waiting: WaitingPages,
    /// The number of the next arrival.
    next: i64,
    /// What was sent and is not judged: it is not known to be durable.
    sent: VecDeque<ArrivalChunk>,
}

impl ArrivalSender {
    pub fn new(connector: Connector, crawl: CrawlName, run: RunId, waiting: WaitingPages) -> Self {
        let session = CrawlSession::new(connector, crawl, PATIENCE);
        Self { session, run, waiting, next: 0, sent: VecDeque::new() }
    }

    /// Sends what is submitted until nobody submits any more.
    ///
    /// # Errors
    /// Those that do not pass.
    pub async fn send_all(mut self, submissions: &mut mpsc::UnboundedReceiver<Submission>) -> Result<(), ClusterError> {
        let mut submitted = Vec::new();
        loop {
            match tokio::time::timeout(LOOK, submissions.recv_many(&mut submitted, CHUNK)).await {
                Ok(0) => return Ok(()),
                Ok(_) => self.send(submitted.drain(..)).await?,
                Err(_) => {}
            }
            self.forget_judged();
            if submissions.is_empty() && !self.sent.is_empty() {
                self.repair().await?;
            }
        }
    }

    async fn send(&mut self, submitted: impl Iterator<Item = Submission>) -> Result<(), ClusterError> {
        let (first, mut pages) = (self.next, Vec::new());
        // What a run before has left is dropped: its slots may be another's by now. Who waits sees a closed channel.
        let run = self.run;
        for Submission { arriving, waits, .. } in submitted.filter(|one| one.of.is_none_or(|of| of == run)) {
            self.waiting.expect(self.next, waits);
            self.next += 1;
            pages.push(arriving);
        }
        if pages.is_empty() {
            return Ok(());
        }
        let chunk = chunk_of(self.run, first, &pages)?;
        // On a new session it is not known what is there.
        let is_sent = self.session.is_open() && {
            let sent = send_arrivals(self.session.open().await?, &chunk).await;
            self.session.after(sent).is_ok()
        };
        self.sent.push_back(chunk);
        if !is_sent {
            self.repair().await?;
        }
        test_point("sent");
        Ok(())
    }

    /// Sends again what is missing behind the last arrival that is there, on a new connection if need be.
    async fn repair(&mut self) -> Result<(), ClusterError> {
        loop {
            match self.send_missing().await {
                Err(error) if error.is_passing() => {
                    tracing::warn!("arrivals are not sent: {error}; connecting again");
                }
                result => return result,
            }
        }
    }

    async fn send_missing(&mut self) -> Result<(), ClusterError> {
        let session = self.session.open().await?;
        let sent = async {
            let there = arrived(session, self.run).await?;
            for chunk in self.sent.iter().filter(|chunk| chunk.first >= there) {
                send_arrivals(session, chunk).await?;
            }
            Ok(())
        };
        let sent = sent.await;
        self.session.after(sent)
    }

    /// Forgets chunks that are judged: the commit of their turn has made them durable.
    fn forget_judged(&mut self) {
        let first = self.waiting.first().unwrap_or(self.next);
        while self.sent.front().is_some_and(|chunk| chunk.first + i64::from(chunk.count) <= first) {
            self.sent.pop_front();
        }
    }
}
