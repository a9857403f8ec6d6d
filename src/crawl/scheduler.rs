//! Leases URLs to workers until nothing is left or a stop is asked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::frontier::EmbeddedFrontier;
use crate::record::{Frontier, Wait};

use super::arrival::Message;
use super::log_access::Urls;
use super::options::Options;
use super::worker::Worker;
use super::{CrawlError, Stop, StopReason};

/// A remote frontier gives a URL to somebody else after this time.
const LEASE_TTL: Duration = Duration::from_secs(600);
/// Before any origin has ever answered, all seeds are tried together, at most this many.
const SEEDS_AT_ONCE: usize = 512;

/// What the scheduler works with.
pub(super) struct Scheduler {
    pub options: Options,
    pub frontier: Arc<EmbeddedFrontier<Urls>>,
    pub worker: Arc<Worker>,
    pub changed: Arc<Notify>,
    pub stop: watch::Receiver<Stop>,
    pub messages: mpsc::Sender<Message>,
}

impl Scheduler {
    /// Runs until the frontier is empty, the time is over or a stop is asked for; then ends the
    /// fetches in flight. When it returns, no worker is alive and the channel to the judge is shut.
    pub async fn run(mut self) -> Result<StopReason, CrawlError> {
        let mut workers = JoinSet::new();
        let ends = self.options.max_time.map(|time| Instant::now() + time);
        let reason = self.hand_out(&mut workers, ends).await?;
        if reason != StopReason::Finished {
            self.end_workers(&mut workers).await?;
        }
        Ok(reason)
    }

    async fn hand_out(
        &mut self,
        workers: &mut JoinSet<Result<(), CrawlError>>,
        ends: Option<Instant>,
    ) -> Result<StopReason, CrawlError> {
        loop {
            // Made before the question, so that nothing that happens in between is missed.
            let changed = self.changed.clone();
            let changed = changed.notified();
            if let Some(reason) = self.reason_to_stop(ends) {
                return Ok(reason);
            }
            let free = self.limit().saturating_sub(workers.len());
            let answer = self.frontier.lease(free, Instant::now(), LEASE_TTL).await?;
            for lease in answer.leases {
                let (worker, messages) = (self.worker.clone(), self.messages.clone());
                workers.spawn(async move { worker.work(lease, messages).await });
            }
            let due = match answer.wait {
                Wait::Done => return Ok(StopReason::Finished),
                Wait::Until(due) if workers.len() < self.limit() => Some(due),
                Wait::Until(_) | Wait::Event => None,
            };
            let timer = [due, ends].into_iter().flatten().min();
            tokio::select! {
                () = changed => {}
                () = sleep_until(timer) => {}
                _ = self.stop.changed() => {}
                Some(ended) = workers.join_next() => ended.map_err(CrawlError::Worker)??,
            }
        }
    }

    fn reason_to_stop(&self, ends: Option<Instant>) -> Option<StopReason> {
        match *self.stop.borrow() {
            Stop::Go => {}
            Stop::DiskFull => return Some(StopReason::DiskFull),
            Stop::Soon | Stop::Now => return Some(StopReason::Signal),
        }
        if self.messages.is_closed() {
            return Some(StopReason::Failed);
        }
        ends.filter(|ends| Instant::now() >= *ends).map(|_| StopReason::Time)
    }

    fn limit(&self) -> usize {
        if self.worker.fetcher.has_heard() {
            self.options.concurrency
        } else {
            self.options.concurrency.max(SEEDS_AT_ONCE)
        }
    }

    /// Lets fetches in flight end, for the time of grace or until a second stop.
    async fn end_workers(&mut self, workers: &mut JoinSet<Result<(), CrawlError>>) -> Result<(), CrawlError> {
        let grace = tokio::time::sleep(self.options.grace);
        tokio::pin!(grace);
        while *self.stop.borrow() != Stop::Now {
            tokio::select! {
                ended = workers.join_next() => match ended {
                    Some(ended) => ended.map_err(CrawlError::Worker)??,
                    None => return Ok(()),
                },
                () = &mut grace => break,
                _ = self.stop.changed() => {}
            }
        }
        workers.shutdown().await;
        Ok(())
    }
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
