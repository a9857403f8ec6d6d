//! Leases URLs to workers until nothing is left or a stop is asked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinSet;

use crate::frontier::EmbeddedFrontier;
use crate::model::Wait;

use super::external_engine::Asked;
use super::messages::Message;
use super::options::Options;
use super::url_log::Urls;
use super::worker::Worker;
use crate::pipeline::{Stop, StopReason};

use super::CrawlError;

/// If the first seeds fail, or are silent for [`SILENCE`], and no origin has ever answered, it is likely
/// the network that fails, and so many seeds are tried together: otherwise it would take long to find
/// out.
const SEEDS_AT_ONCE: usize = 512;
/// See [`SEEDS_AT_ONCE`].
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// What the scheduler works with.
pub(super) struct Scheduler {
    pub options: Options,
    pub frontier: Arc<EmbeddedFrontier<Urls>>,
    pub worker: Arc<Worker>,
    pub changed: Arc<Notify>,
    /// What another engine asks for, if one decides what comes next.
    pub asked: Option<Arc<Asked>>,
    /// The task of that engine. It never ends by itself.
    pub engine: JoinSet<()>,
    pub stop: watch::Receiver<Stop>,
    /// When the first answer is overdue: at once when work on a lease has ended without one.
    pub answer_overdue: Instant,
}

impl Scheduler {
    /// Runs until the frontier is empty, the time is over or a stop is asked for; then ends the
    /// fetches in flight. When it returns, no worker is alive and the channel to the judge is shut.
    pub async fn run(mut self) -> Result<StopReason, CrawlError> {
        let mut workers = JoinSet::new();
        // A time that no clock can show is no limit.
        let ends = self.options.max_time.and_then(|time| Instant::now().checked_add(time));
        let handed_out = self.hand_out(&mut workers, ends).await;
        let ended = match handed_out {
            Ok(StopReason::Failed) | Err(_) => Ok(()),
            Ok(_) => self.end_workers(&mut workers).await,
        };
        self.engine.shutdown().await;
        workers.shutdown().await;
        let reason = handed_out?;
        ended.map(|()| reason)
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
            let asked = self.asked.as_ref().map_or(0, |asked| asked.count());
            let free = self.limit().saturating_sub(workers.len());
            let answer = self.frontier.lease(free, Instant::now())?;
            for lease in answer.leases {
                let worker = self.worker.clone();
                workers.spawn(async move { worker.work(lease).await });
            }
            let due = match answer.wait {
                Wait::Done if self.is_being_asked(asked).await => None,
                Wait::Done if self.is_revised().await => continue,
                Wait::Done => return Ok(StopReason::Finished),
                Wait::Until(due) if workers.len() < self.limit() => Some(due),
                Wait::Until(_) | Wait::Event => None,
            };
            let overdue = (!self.worker.fetcher.has_heard()).then_some(self.answer_overdue);
            let overdue = overdue.filter(|moment| *moment > Instant::now());
            let timer = [due, ends, overdue].into_iter().flatten().min();
            tokio::select! {
                () = changed => {}
                () = sleep_until(timer) => {}
                _ = self.stop.changed() => {}
                // Without this a judge that fails while no worker is alive would not be missed.
                () = self.worker.messages.closed() => {}
                Some(ended) = self.engine.join_next() => ended.map_err(CrawlError::Worker)?,
                Some(ended) = workers.join_next() => {
                    ended.map_err(CrawlError::Worker)??;
                    self.answer_overdue = self.answer_overdue.min(Instant::now());
                }
            }
        }
    }

    /// Whether another engine is at work, which may ask for more than the first `count` URLs.
    async fn is_being_asked(&self, count: u64) -> bool {
        match &self.asked {
            Some(asked) => asked.goes_on(count).await,
            None => false,
        }
    }

    /// Whether looking at verdicts again has brought new work.
    async fn is_revised(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        // If the judge is gone, the next look at the channel tells.
        let asked = self.worker.messages.send(Message::Idle(answer)).await;
        asked.is_ok() && answered.await.unwrap_or(false)
    }

    fn reason_to_stop(&self, ends: Option<Instant>) -> Option<StopReason> {
        match *self.stop.borrow() {
            Stop::Go => {}
            Stop::DiskFull => return Some(StopReason::DiskFull),
            Stop::Failed => return Some(StopReason::Failed),
            Stop::Soon | Stop::Now => return Some(StopReason::Signal),
        }
        if self.worker.messages.is_closed() {
            return Some(StopReason::Failed);
        }
        ends.filter(|ends| Instant::now() >= *ends).map(|_| StopReason::Time)
    }

    fn limit(&self) -> usize {
        if !self.worker.fetcher.has_heard() && Instant::now() >= self.answer_overdue {
            self.options.concurrency.max(SEEDS_AT_ONCE)
        } else {
            self.options.concurrency
        }
    }

    /// Waits for fetches in flight, for the time of grace or until a second stop.
    async fn end_workers(&mut self, workers: &mut JoinSet<Result<(), CrawlError>>) -> Result<(), CrawlError> {
        let grace = tokio::time::sleep(self.options.grace);
        tokio::pin!(grace);
        while !matches!(*self.stop.borrow(), Stop::Now | Stop::Failed) {
            tokio::select! {
                ended = workers.join_next() => match ended {
                    Some(ended) => ended.map_err(CrawlError::Worker)??,
                    None => return Ok(()),
                },
                () = &mut grace => break,
                _ = self.stop.changed() => {}
            }
        }
        Ok(())
    }
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
