//! Runs a process's part in a crawl: its lease and slots, its arrivals, and turns.
//!
//! ```text
//! pages ─► arrival sender ─► database ─► turn loop (takes in, decides) ─► decisions
//!                            lease keeper (renews, takes slots) ─► status
//! ```
//!
//! The three tasks have a session each, so that none waits for the other. A run that loses its lease, or finds another log
//! than it took in, ends: those who wait for decisions are told by a closed channel, and the next run begins, with a
//! replica made from the log.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::arrival_sender::{ArrivalSender, Submission};
use super::arriving::{Arriving, ArrivingPage};
use super::connection::Connector;
use super::crawl_name::CrawlName;
use super::error::{ClusterError, ErrorClass};
use super::lease::{Run, RunDescription, RunId};
use super::lease_keeper::{LeaseKeeper, LeaseRequest};
use super::question::Question;
use super::refusal::Refusal;
use super::retry_pauses::RetryPauses;
use super::run_status::{DecisionObserver, PageDecision, RunClock, RunStatus, Waiting, WaitingPages};
use super::schema::{CrawlRow, CrawlState};
use super::turn_loop::{ArrivalOrder, TurnLoop, TurnPlan};
use ndcrawl_model::{Sequence, Slot};
use neardup::detect::Options;

/// A run that lives for so many leases is no short one.
const LONG_LIFE: u32 = 20;
/// The longest lease after short runs, in leases as they were asked for.
const LONGEST_LEASE: u32 = 8;

/// How a process takes part in a crawl.
#[derive(Clone, Debug)]
pub struct RunnerSettings {
    /// What it tells of itself.
    pub description: RunDescription,
    /// The detector, as the settings of the crawl say.
    pub options: Options,
    /// How long a run lives without renewing its lease.
    pub ttl: Duration,
    /// How long it tries to begin a run while the database does not answer.
    pub patience: Duration,
    /// A folder on whose disk the records of pages are kept while the process lives.
    pub scratch: PathBuf,
}

/// The part of a process in a crawl. Dropping it stops it without clean-up, as if the process were killed.
pub struct TurnRunner {
    status: watch::Receiver<RunStatus>,
    clock: RunClock,
    submissions: mpsc::UnboundedSender<Submission>,
    requests: mpsc::UnboundedSender<LeaseRequest>,
    /// Whether no further run is to begin.
    is_ending: Arc<AtomicBool>,
    task: JoinHandle<Result<(), ClusterError>>,
}

impl TurnRunner {
    /// Begins with the first run.
    ///
    /// # Errors
    /// If it cannot begin: [`Refusal::ArchiveInUse`], among others.
    pub async fn start(connector: Connector, crawl: &CrawlRow, settings: RunnerSettings) -> Result<Self, ClusterError> {
        Self::start_with(connector, crawl, settings, ArrivalOrder::default(), None).await
    }

    /// Begins with the first run, which judges arrivals in this order. `observer` is told all decisions.
    ///
    /// # Errors
    /// See [`start`](Self::start).
    pub async fn start_with(
        connector: Connector,
        crawl: &CrawlRow,
        settings: RunnerSettings,
        order: ArrivalOrder,
        observer: Option<DecisionObserver>,
    ) -> Result<Self, ClusterError> {
        let (status_in, status) = watch::channel(RunStatus::without_run(crawl.state));
        let (submissions, submitted) = mpsc::unbounded_channel();
        let (requests, requested) = mpsc::unbounded_channel();
        let (clock, is_ending) = (RunClock::stopped(), Arc::<AtomicBool>::default());
        let plan = TurnPlan {
            options: settings.options.clone(),
            turn_pages: crawl.plan.turn_pages,
            order,
            patience: settings.ttl,
            scratch: settings.scratch.clone(),
        };
        let lives = Lives {
            connector,
            crawl: crawl.plan.name.clone(),
            plan,
            observer,
            settings,
            status: status_in,
            clock: clock.clone(),
            submitted: Arc::new(Mutex::new(submitted)),
            requested: Arc::new(Mutex::new(requested)),
            is_ending: Arc::clone(&is_ending),
        };
        let first = lives.begin(lives.settings.ttl).await?;
        let task = tokio::spawn(lives.live(first));
        Ok(Self { status, clock, submissions, requests, is_ending, task })
    }

    /// Returns what the run holds, as it changes.
    pub fn status(&self) -> watch::Receiver<RunStatus> {
        self.status.clone()
    }

    /// Returns the clock of the run. Ask it before each request to a web server.
    pub fn clock(&self) -> RunClock {
        self.clock.clone()
    }

    /// Sends a page. The channel gives its decision, and is closed without one if the run is lost: the page may have been
    /// judged all the same. Wait for it with `.await` or `blocking_recv`.
    pub fn submit(&self, page: ArrivingPage) -> oneshot::Receiver<PageDecision> {
        PageSubmitter { submissions: self.submissions.clone(), of: None }.submit(page)
    }

    /// Returns what sends pages of one run from other tasks and threads. When the run has ended, nothing is sent.
    pub fn submitter_of(&self, run: RunId) -> PageSubmitter {
        PageSubmitter { submissions: self.submissions.clone(), of: Some(run) }
    }

    /// Gives a slot back, after its last commit.
    pub fn give_back(&self, slot: Slot) {
        // If the task has ended, so have its slots.
        let _ = self.requests.send(LeaseRequest::GiveBack(slot));
    }

    /// Waits until the process can take no part any more.
    ///
    /// # Errors
    /// What has ended it.
    pub async fn ended(&mut self) -> Result<(), ClusterError> {
        result_of((&mut self.task).await)
    }

    /// Ends the run: its slots are free at once. Pages that wait for their decision get none here.
    ///
    /// # Errors
    /// What has ended it before.
    pub async fn end(mut self) -> Result<(), ClusterError> {
        self.is_ending.store(true, Ordering::Release);
        let _ = self.requests.send(LeaseRequest::End);
        self.ended().await
    }
}

impl Drop for TurnRunner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends pages to the run of this process.
#[derive(Clone, Debug)]
pub struct PageSubmitter {
    submissions: mpsc::UnboundedSender<Submission>,
    of: Option<RunId>,
}

impl PageSubmitter {
    /// See [`TurnRunner::submit`].
    pub fn submit(&self, page: ArrivingPage) -> oneshot::Receiver<PageDecision> {
        let (decision, receiver) = oneshot::channel();
        self.send(page.into(), Waiting::Page(decision));
        receiver
    }

    /// Has a judged page leave the index. The channel tells the run that has sent it when a turn has done so.
    pub fn withdraw(&self, page: Sequence) -> oneshot::Receiver<RunId> {
        let (done, receiver) = oneshot::channel();
        self.send(Arriving::Withdrawal(page), Waiting::Withdrawal(done));
        receiver
    }

    /// Asks. The channel tells the run that has asked when a turn has the answer.
    pub fn ask(&self, question: Question) -> oneshot::Receiver<RunId> {
        let (done, receiver) = oneshot::channel();
        self.send(Arriving::Question(question), Waiting::Withdrawal(done));
        receiver
    }

    fn send(&self, arriving: Arriving, waits: Waiting) {
        // If the task has ended, the channel is closed.
        let _ = self.submissions.send(Submission { of: self.of, arriving, waits });
    }
}

fn result_of(ended: Result<Result<(), ClusterError>, tokio::task::JoinError>) -> Result<(), ClusterError> {
    match ended {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // It was stopped.
            Err(_) => Ok(()),
        },
    }
}

/// Begins one run after the other.
struct Lives {
    connector: Connector,
    crawl: CrawlName,
    settings: RunnerSettings,
    plan: TurnPlan,
    observer: Option<DecisionObserver>,
    status: watch::Sender<RunStatus>,
    clock: RunClock,
    submitted: Arc<Mutex<mpsc::UnboundedReceiver<Submission>>>,
    requested: Arc<Mutex<mpsc::UnboundedReceiver<LeaseRequest>>>,
    is_ending: Arc<AtomicBool>,
}

impl Lives {
    async fn live(self, first: LeaseKeeper) -> Result<(), ClusterError> {
        let (mut keeper, mut ttl) = (first, self.settings.ttl);
        loop {
            let began = Instant::now();
            let result = self.live_once(keeper).await;
            let state = self.status.borrow().state;
            self.status.send_replace(RunStatus::without_run(state));
            match result {
                Ok(()) => return Ok(()),
                // A task of a run that ends may notice that before the others.
                Err(error) if !is_broken(&error) && self.is_ending() => return Ok(()),
                Err(error) if !is_broken(&error) => tracing::warn!("{error}"),
                Err(error) => return Err(error),
            }
            ttl = next_ttl(self.settings.ttl, ttl, began.elapsed());
            match self.begin_patiently(ttl).await? {
                Some(next) => keeper = next,
                None => return Ok(()),
            }
        }
    }

    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    /// Lives until the run is lost, or has ended as it was asked to.
    async fn live_once(&self, keeper: LeaseKeeper) -> Result<(), ClusterError> {
        let run = keeper.run.id();
        let waiting = WaitingPages::of(run, self.observer.clone());
        let mut tasks = JoinSet::new();
        let requested = Arc::clone(&self.requested);
        tasks.spawn(async move { keeper.keep(&mut *requested.lock().await).await });
        let (connector, crawl) = (self.connector.clone(), self.crawl.clone());
        let sender = ArrivalSender::new(connector, crawl, run, waiting.clone());
        let submitted = Arc::clone(&self.submitted);
        tasks.spawn(async move {
            sender.send_all(&mut *submitted.lock().await).await?;
            // Nobody submits any more. The others go on.
            std::future::pending().await
        });
        let (connector, crawl, plan) = (self.connector.clone(), self.crawl.clone(), self.plan.clone());
        tasks.spawn(async move { TurnLoop::start(connector, crawl, run, plan, waiting)?.run().await });
        match tasks.join_next().await {
            Some(ended) => result_of(ended),
            None => Ok(()),
        }
    }

    async fn begin(&self, ttl: Duration) -> Result<LeaseKeeper, ClusterError> {
        let mut session = self.connector.connect().await?;
        session.use_crawl(&self.crawl).await?;
        let run = Run::begin(&mut session, &self.settings.description, ttl).await?;
        self.clock.set(run.alive_until());
        let status = RunStatus { run: Some(run.id()), ..RunStatus::without_run(CrawlState::Running) };
        self.status.send_replace(status);
        Ok(LeaseKeeper {
            connector: self.connector.clone(),
            crawl: self.crawl.clone(),
            session,
            run,
            ttl,
            clock: self.clock.clone(),
            status: self.status.clone(),
        })
    }

    /// Begins the next run, unless none is wanted any more. The one before may be alive by the clock of the server for a
    /// while.
    async fn begin_patiently(&self, ttl: Duration) -> Result<Option<LeaseKeeper>, ClusterError> {
        let (began, mut pauses, mut in_use) = (Instant::now(), RetryPauses::new(), ttl * 2);
        loop {
            if self.is_ending() {
                return Ok(None);
            }
            match self.begin(ttl).await {
                Err(ClusterError::Refused(Refusal::ArchiveInUse(_))) if began.elapsed() < in_use => {}
                Err(error) if error.is_passing() && began.elapsed() < self.settings.patience => {
                    tracing::warn!("no run can begin: {error}");
                    // A run whose beginning was committed without an answer lives for a while.
                    in_use = began.elapsed() + ttl * 2;
                }
                result => return result.map(Some),
            }
            tokio::time::sleep(pauses.next()).await;
        }
    }
}

/// Returns the length of the next lease. Where a machine has so much to do that leases run out one after the other, each
/// run would forget what it has derived before it is of use: so leases grow while runs are short.
fn next_ttl(wanted: Duration, last: Duration, lived: Duration) -> Duration {
    if lived > last * LONG_LIFE { wanted } else { (last * 2).min(wanted * LONGEST_LEASE) }
}

/// Whether no run follows one that has ended so.
fn is_broken(error: &ClusterError) -> bool {
    error.class() == ErrorClass::Broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_grow_while_runs_are_short() {
        let second = Duration::from_secs(1);
        let mut ttl = second;
        let grown = (0..5).map(|_| {
            ttl = next_ttl(second, ttl, second * 3);
            ttl.as_secs()
        });
        assert_eq!(grown.collect::<Vec<_>>(), [2, 4, 8, 8, 8]);
        assert_eq!(next_ttl(second, second * 8, second * 200), second);
    }
}
