//! Leases URLs to workers until nothing is left or a stop is requested.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::futures::Notified;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use crate::pipeline::{Stop, StopReason};
use ndcrawl_frontier::EmbeddedFrontier;
use ndcrawl_model::Wait;

use super::CrawlError;
use super::early_failures::EarlyFailure;
use super::external_engine::ExternalEngine;
use super::messages::{DispatchMessage, FetchOutcome, WhenIdle};
use super::options::Options;
use super::url_log::StoredUrls;
use super::worker::Worker;

/// Seeds that are tried together while no origin has answered and the first seeds fail or are silent for [`SILENCE`].
/// Then the network itself is likely down, and few seeds at a time would take long to show it.
const SEEDS_AT_ONCE: usize = 512;
/// See [`SEEDS_AT_ONCE`].
pub(super) const SILENCE: Duration = Duration::from_secs(2);
/// Pause of a process that has nothing to do between two looks whether the crawl of all is over.
const IDLE_PAUSE: Duration = Duration::from_millis(200);

/// Hands leases to workers.
pub(super) struct Scheduler {
    pub options: Options,
    pub frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    pub worker: Arc<Worker>,
    /// Signals that the frontier may have something to lease.
    pub changed: Arc<Notify>,
    /// The engine that decides what is fetched next, if that is not the frontier.
    pub external: Option<Arc<ExternalEngine>>,
    /// The task of the external engine. It never ends by itself.
    pub engine: JoinSet<()>,
    pub stop: watch::Receiver<Stop>,
    /// While this is true, nothing is leased.
    pub paused: watch::Receiver<bool>,
    /// When the first answer is overdue. It is overdue as soon as one lease has ended without an answer.
    pub answer_overdue: Instant,
}

impl Scheduler {
    /// Runs until the frontier is empty, the time limit is reached or a stop is requested. Then ends the fetches in
    /// flight. When it returns, no worker is alive and the channel to the dispatcher is closed.
    pub async fn run(mut self) -> Result<StopReason, CrawlError> {
        let mut workers = JoinSet::new();
        // A time beyond the clock's range is no limit.
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

    async fn hand_out(&mut self, workers: &mut JoinSet<()>, ends: Option<Instant>) -> Result<StopReason, CrawlError> {
        loop {
            // Created before the frontier is asked, so that no change in between is missed.
            let changed = self.changed.clone();
            let changed = changed.notified();
            if let Some(reason) = self.reason_to_stop(ends) {
                return Ok(reason);
            }
            if *self.paused.borrow_and_update() {
                self.await_change(workers, changed, ends).await?;
                continue;
            }
            self.retry_early_failures();
            let asked = self.external.as_ref().map_or(0, |engine| engine.count());
            let free = self.limit().saturating_sub(workers.len());
            let answer = self.frontier.lease(free, Instant::now())?;
            for lease in answer.leases {
                let worker = self.worker.clone();
                let span =
                    tracing::trace_span!("page", url = %lease.url, host = lease.url.host(), attempt = lease.attempts);
                workers.spawn(async move { worker.work(lease).await }.instrument(span));
            }
            if workers.is_empty() && answer.wait == Wait::Event && self.conclude_no_network().await {
                continue;
            }
            if self.nothing_is_due_before(ends, answer.wait) && workers.is_empty() {
                return Ok(StopReason::Time);
            }
            let due = match answer.wait {
                Wait::Done if self.is_being_asked(asked).await => None,
                Wait::Done => match self.when_idle().await {
                    WhenIdle::GoOn => continue,
                    WhenIdle::Wait => Some(Instant::now() + IDLE_PAUSE),
                    WhenIdle::End => return Ok(StopReason::Finished),
                },
                Wait::Until(due) if workers.len() < self.limit() => Some(due),
                Wait::Until(_) | Wait::Event => None,
            };
            let overdue = (!self.worker.fetch.fetcher.has_heard()).then_some(self.answer_overdue);
            let overdue = overdue.filter(|moment| *moment > Instant::now());
            let timer = [due, ends, overdue].into_iter().flatten().min();
            self.await_change(workers, changed, timer).await?;
        }
    }

    /// Waits until something may be done, at the latest until `timer`.
    async fn await_change(
        &mut self,
        workers: &mut JoinSet<()>,
        changed: Notified<'_>,
        timer: Option<Instant>,
    ) -> Result<(), CrawlError> {
        tokio::select! {
            () = changed => {}
            () = sleep_until(timer) => {}
            _ = self.stop.changed() => {}
            _ = self.paused.changed() => {}
            // Notices a dispatcher that fails while no worker is alive.
            () = self.worker.fetch.messages.closed() => {}
            Some(ended) = self.engine.join_next() => ended.map_err(CrawlError::Worker)?,
            Some(ended) = workers.join_next() => {
                ended.map_err(CrawlError::Worker)?;
                self.answer_overdue = self.answer_overdue.min(Instant::now());
            }
        }
        Ok(())
    }

    /// Gives URLs that failed before any server had answered another try, once one has.
    fn retry_early_failures(&self) {
        if self.worker.fetch.fetcher.has_heard() {
            let failures = self.worker.early_failures.take();
            failures.iter().for_each(|failure| self.frontier.nak(&failure.lease, Instant::now()));
        }
    }

    /// Makes early failures final if nothing else is left that could bring an answer. Returns whether it did.
    async fn conclude_no_network(&self) -> bool {
        let failures = &self.worker.early_failures;
        // Another lease, whose result the dispatcher has not taken yet, may lead to further seeds.
        let is_over = failures.count() > 0
            && failures.count() == self.frontier.counts().leased
            && !self.worker.fetch.fetcher.has_heard();
        if is_over {
            for EarlyFailure { lease, class, detail } in failures.take() {
                let origin = lease.url.origin();
                if self.worker.fetch.fetcher.is_there(&origin) {
                    self.frontier.give_up(&origin);
                    self.frontier.nak(&lease, Instant::now());
                    continue;
                }
                let outcome = Box::new(FetchOutcome::Failed { class, detail, fetched: None });
                // If the dispatcher is gone, the next look at the channel shows it.
                let message = DispatchMessage::Arrival { lease: Box::new(lease), outcome, requests: None };
                let _ = self.worker.fetch.messages.send(message).await;
            }
        }
        is_over
    }

    /// Returns whether the crawl would only wait for its end: all hosts rest longer, and no lease is alive.
    fn nothing_is_due_before(&self, ends: Option<Instant>, wait: Wait) -> bool {
        match (ends, wait) {
            (Some(ends), Wait::Until(due)) => due >= ends && self.frontier.counts().leased == 0,
            _ => false,
        }
    }

    /// Returns whether an external engine may request more than the first `count` URLs.
    async fn is_being_asked(&self, count: u64) -> bool {
        match &self.external {
            Some(engine) => engine.goes_on(count).await,
            None => false,
        }
    }

    /// Asks the dispatcher what comes next when nothing is queued or leased.
    async fn when_idle(&self) -> WhenIdle {
        let (answer, answered) = oneshot::channel();
        // If the dispatcher is gone, the crawl ends, and its error is told.
        match self.worker.fetch.messages.send(DispatchMessage::Idle(answer)).await {
            Ok(()) => answered.await.unwrap_or(WhenIdle::End),
            Err(_) => WhenIdle::End,
        }
    }

    fn reason_to_stop(&self, ends: Option<Instant>) -> Option<StopReason> {
        match *self.stop.borrow() {
            Stop::Go => {}
            Stop::DiskFull => return Some(StopReason::DiskFull),
            Stop::Failed => return Some(StopReason::Failed),
            Stop::Soon | Stop::Now => return Some(StopReason::Signal),
        }
        if self.worker.fetch.messages.is_closed() {
            return Some(StopReason::Failed);
        }
        ends.filter(|ends| Instant::now() >= *ends).map(|_| StopReason::Time)
    }

    fn limit(&self) -> usize {
        if !self.worker.fetch.fetcher.has_heard() && Instant::now() >= self.answer_overdue {
            self.options.concurrency.max(SEEDS_AT_ONCE)
        } else {
            self.options.concurrency
        }
    }

    /// Waits for fetches in flight, for the grace time or until a second stop.
    async fn end_workers(&mut self, workers: &mut JoinSet<()>) -> Result<(), CrawlError> {
        let grace = tokio::time::sleep(self.options.grace);
        tokio::pin!(grace);
        while !matches!(*self.stop.borrow(), Stop::Now | Stop::Failed) {
            tokio::select! {
                ended = workers.join_next() => match ended {
                    Some(ended) => ended.map_err(CrawlError::Worker)?,
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
