//! Reserves the starts of requests in groups: all that ask while one question to the database is under way ask together
//! with the next.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::address_gaps::reserve_starts;
use super::connection::Connector;
use super::crawl_name::CrawlName;
use super::crawl_session::CrawlSession;
use super::error::ClusterError;
use super::failure::Failure;
use super::run_status::RunClock;
use ndcrawl_fetch::SharedStarts;

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
    /// Starts the task that asks the database, which ends with the last clone, or with an error that it tells to
    /// `failure`. No request starts unless the run of `clock` is alive.
    pub(super) fn start(connector: Connector, crawl: CrawlName, clock: RunClock, failure: Failure) -> Self {
        let (questions, asked) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            if let Err(error) = answer(CrawlSession::new(connector, crawl, PATIENCE), asked).await {
                failure.tell(error);
            }
        });
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

/// Answers until nobody asks any more, or an error does not pass: who has asked gets no answer then.
async fn answer(mut session: CrawlSession, mut asked: mpsc::UnboundedReceiver<Question>) -> Result<(), ClusterError> {
    loop {
        let mut questions = Vec::new();
        if asked.recv_many(&mut questions, AT_ONCE).await == 0 {
            return Ok(());
        }
        let wanted: Vec<(IpAddr, Duration)> = questions.iter().map(|(address, gap, _)| (*address, *gap)).collect();
        let starts = loop {
            match reserve(&mut session, &wanted).await {
                Ok(starts) => break starts,
                Err(error) if error.is_passing() => tracing::warn!("no request can start: {error}"),
                Err(error) => return Err(error),
            }
        };
        for ((_, _, answer), start) in questions.into_iter().zip(starts) {
            // Nobody may wait any more: then the start is left unused.
            let _ = answer.send(start);
        }
    }
}

async fn reserve(session: &mut CrawlSession, wanted: &[(IpAddr, Duration)]) -> Result<Vec<Instant>, ClusterError> {
    let reserved = reserve_starts(session.open().await?, wanted).await;
    session.after(reserved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerAddress;

    const GAP: Duration = Duration::from_millis(200);

    /// A run that is frozen while it waits for the start of a request to a host, and wakes up when another run has taken
    /// the host. Returns the shortest gap between two requests to it. `clock`: what the frozen run takes its life to be.
    async fn shortest_gap(clock: RunClock) -> Duration {
        let connector = Connector::new(ServerAddress::parse("postgres://me@127.0.0.1:1/x").unwrap());
        let frozen = RequestStarts::start(connector, CrawlName::parse("x").unwrap(), clock, Failure::default());
        let mut starts = vec![Instant::now()];
        // The other run makes a request at the end of each gap; the frozen one wakes up between two of them.
        tokio::time::sleep(GAP).await;
        starts.push(Instant::now());
        tokio::time::sleep(GAP / 2).await;
        // The gap of the host has long ended for it, and the address has none.
        if let Ok(start) = tokio::time::timeout(GAP / 4, frozen.reserve(None, Duration::ZERO)).await {
            starts.push(start);
        }
        tokio::time::sleep_until((starts[1] + GAP).into()).await;
        starts.push(Instant::now());
        starts.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap()
    }

    #[tokio::test]
    async fn a_run_that_wakes_up_after_its_lease_starts_no_request() {
        let expired = RunClock::stopped();
        expired.set(Instant::now() + GAP);
        assert!(shortest_gap(expired).await >= GAP);
        // The control: without a look at the lease two runs are within the gap.
        let endless = RunClock::stopped();
        endless.set(Instant::now() + GAP * 100);
        assert!(shortest_gap(endless).await < GAP);
    }
}
