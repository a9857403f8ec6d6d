//! Reserves the starts of requests in groups: all that ask while one question to the database is under way ask together
//! with the next.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::address_gaps::reserve_starts;
use super::connection::{Connector, Session};
use super::crawl_name::CrawlName;
use super::error::ClusterError;
use super::run_status::RunClock;
use crate::fetch::SharedStarts;

/// Most starts of one question.
const AT_ONCE: usize = 256;
/// How long a session is tried to be had again.
const PATIENCE: Duration = Duration::from_secs(60);

type Question = (IpAddr, Duration, oneshot::Sender<Instant>);

/// Asks for starts. Clones ask the same task.
#[derive(Clone, Debug)]
pub struct RequestStarts {
    questions: mpsc::UnboundedSender<Question>,
    clock: RunClock,
}

impl RequestStarts {
    /// Starts the task that asks the database, which ends with the last clone. No request starts unless the run of
    /// `clock` is alive.
    pub fn start(connector: Connector, crawl: CrawlName, clock: RunClock) -> Self {
        let (questions, asked) = mpsc::unbounded_channel();
        tokio::spawn(answer(connector, crawl, asked));
        Self { questions, clock }
    }

    async fn reserved(&self, address: Option<IpAddr>, gap: Duration) -> Option<Instant> {
        let start = match address {
            Some(address) if !gap.is_zero() => {
                let (answer, answered) = oneshot::channel();
                self.questions.send((address, gap, answer)).ok()?;
                answered.await.ok()?
            }
            _ => Instant::now(),
        };
        // The lease of a run that is frozen now is looked at again after the wait for the start.
        tokio::time::sleep_until(start.into()).await;
        self.clock.is_alive().then_some(start)
    }
}

impl SharedStarts for RequestStarts {
    fn reserve(&self, address: Option<IpAddr>, gap: Duration) -> Pin<Box<dyn Future<Output = Instant> + Send + '_>> {
        Box::pin(async move {
            match self.reserved(address, gap).await {
                Some(start) => start,
                // The process gives all of its work up, this request included.
                None => std::future::pending().await,
            }
        })
    }
}

async fn answer(connector: Connector, crawl: CrawlName, mut asked: mpsc::UnboundedReceiver<Question>) {
    let mut session = None;
    loop {
        let mut questions = Vec::new();
        if asked.recv_many(&mut questions, AT_ONCE).await == 0 {
            return;
        }
        let wanted: Vec<(IpAddr, Duration)> = questions.iter().map(|(address, gap, _)| (*address, *gap)).collect();
        let starts = loop {
            match reserve(&connector, &crawl, &mut session, &wanted).await {
                Ok(starts) => break starts,
                Err(error) => {
                    tracing::warn!("no request can start: {error}");
                    session = None;
                    if !error.is_passing() {
                        // Whoever asks gets no answer, and starts no request.
                        return;
                    }
                }
            }
        };
        for ((_, _, answer), start) in questions.into_iter().zip(starts) {
            // Nobody may wait any more: then the start is left unused.
            let _ = answer.send(start);
        }
    }
}

async fn reserve(
    connector: &Connector,
    crawl: &CrawlName,
    session: &mut Option<Session>,
    wanted: &[(IpAddr, Duration)],
) -> Result<Vec<Instant>, ClusterError> {
    let session = match session {
        Some(session) => session,
        None => {
            let opened = connector.connect_patiently(PATIENCE).await?;
            opened.use_crawl(crawl).await?;
            session.insert(opened)
        }
    };
    reserve_starts(session, wanted).await
}
