//! Keeps the lease of a run, and its fair share of slots, in a task of its own.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};

use super::connection::{Connector, Session};
use super::crawl_name::CrawlName;
use super::error::ClusterError;
use super::lease::{Run, SlotBalance};
use super::retry_pauses::RetryPauses;
use super::run_status::{RunClock, RunStatus};
use super::schema::CrawlState;
use ndcrawl_model::Slot;

/// How often a lease is renewed while it lasts.
const RENEWALS: u32 = 5;

/// What others ask of the keeper.
#[derive(Clone, Copy, Debug)]
pub(super) enum LeaseRequest {
    /// To give a slot back: its last commit was made.
    GiveBack(Slot),
    /// To end the run.
    End,
}

/// A run with its session.
pub(super) struct LeaseKeeper {
    pub connector: Connector,
    pub crawl: CrawlName,
    pub session: Session,
    pub run: Run,
    pub ttl: Duration,
    pub clock: RunClock,
    pub status: watch::Sender<RunStatus>,
}

impl LeaseKeeper {
    /// Renews the lease until the run is to end, or is lost.
    ///
    /// # Errors
    /// [`ClusterError::RunLost`], and errors that do not pass.
    pub async fn keep(mut self, requests: &mut mpsc::UnboundedReceiver<LeaseRequest>) -> Result<(), ClusterError> {
        let (mut next, mut pauses) = (Instant::now(), RetryPauses::new());
        loop {
            let request = tokio::time::timeout_at(next.into(), requests.recv()).await;
            let done = match request {
                Ok(None | Some(LeaseRequest::End)) => return self.run.end(&mut self.session).await,
                Ok(Some(LeaseRequest::GiveBack(slot))) => self.give_back(slot).await,
                Err(_) => {
                    next = Instant::now() + self.ttl / RENEWALS;
                    self.renew().await
                }
            };
            match done {
                Ok(()) => pauses = RetryPauses::new(),
                Err(error) if error.is_passing() => {
                    tracing::warn!("the database does not answer: {error}; the lease of this run goes on without it");
                    tokio::time::sleep(pauses.next()).await;
                    self.connect().await?;
                    next = Instant::now();
                }
                Err(ClusterError::Unreplicated) => tracing::warn!("{}", ClusterError::Unreplicated),
                Err(error) => return Err(error),
            }
        }
    }

    /// Connects again, for as long as the lease may last by the clock of the server.
    async fn connect(&mut self) -> Result<(), ClusterError> {
        loop {
            let left = self.run.alive_until().saturating_duration_since(Instant::now());
            self.session = self.connector.connect_patiently(left + self.ttl).await?;
            match self.session.use_crawl(&self.crawl).await {
                Err(error) if error.is_passing() && !left.is_zero() => {}
                result => return result,
            }
        }
    }

    async fn renew(&mut self) -> Result<(), ClusterError> {
        let state = self.run.renew(&mut self.session).await?;
        self.clock.set(self.run.alive_until());
        let SlotBalance { taken, surplus } = self.run.balance(&mut self.session).await?;
        self.publish(state, surplus.into_iter().collect(), &taken);
        Ok(())
    }

    async fn give_back(&mut self, slot: Slot) -> Result<(), ClusterError> {
        // Nobody works on it from here on.
        self.status.send_modify(|status| {
            status.slots.remove(&slot);
            status.surplus.remove(&slot);
        });
        self.run.give_back(&mut self.session, slot).await
    }

    fn publish(&self, state: CrawlState, surplus: BTreeSet<Slot>, taken: &[super::lease::HeldSlot]) {
        self.status.send_if_modified(|status| {
            let before = status.clone();
            status.run = Some(self.run.id());
            (status.state, status.surplus) = (state, surplus);
            status.slots.extend(taken.iter().map(|held| (held.slot, *held)));
            *status != before
        });
    }
}
