//! What a run tells the tasks of its process: what it holds, whether it is alive, and what was decided.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;

use super::lease::{HeldSlot, RunId};
use super::schema::CrawlState;
use super::turn_body::DecidedArrival;
use ndcrawl_model::{Sequence, Slot, Verdict};

/// What a run holds, and whether the crawl goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStatus {
    /// The run. None between two lives: all slots are lost then, and all that was derived.
    pub run: Option<RunId>,
    /// The slots that it holds. A slot with another fence than before was lost in between.
    pub slots: BTreeMap<Slot, HeldSlot>,
    /// Held slots beyond its share, to be given back after their last commit.
    pub surplus: BTreeSet<Slot>,
    /// Whether the crawl goes on.
    pub state: CrawlState,
}

impl RunStatus {
    /// The status between two lives.
    pub(super) fn without_run(state: CrawlState) -> Self {
        Self { run: None, slots: BTreeMap::new(), surplus: BTreeSet::new(), state }
    }
}

/// Until when a run is alive, by a clock that cannot be set.
#[derive(Clone, Debug)]
pub struct RunClock(Arc<Mutex<Instant>>);

impl RunClock {
    /// A clock of no run.
    pub(super) fn stopped() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    pub(super) fn set(&self, alive_until: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = alive_until;
    }

    /// Returns the moment up to which the run is alive, unless it renews its lease.
    pub fn alive_until(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the run may still act. Ask before each request to a web server.
    pub fn is_alive(&self) -> bool {
        Instant::now() < self.alive_until()
    }
}

/// The decision on a page that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageDecision {
    /// The run that sent it.
    pub run: RunId,
    /// Its number among the arrivals of the run.
    pub arrival: i64,
    /// The page's place in the order of decisions.
    pub sequence: Sequence,
    /// The decision.
    pub verdict: Verdict,
    /// Whether it had been made before, on a page of the same name.
    pub redelivered: bool,
    /// The stored page that left the index for it.
    pub displaced: Option<Sequence>,
}

/// Is told all decisions that a run takes in, some of them twice.
pub type DecisionObserver = Arc<dyn Fn(&[DecidedArrival]) + Send + Sync>;

/// Who waits for the decision on an arrival.
#[derive(Debug)]
pub(super) enum Waiting {
    /// Whoever has sent a page.
    Page(oneshot::Sender<PageDecision>),
    /// Whoever has sent a withdrawal or a question: is told the run that has sent it.
    Withdrawal(oneshot::Sender<RunId>),
}

/// The pages of a run that wait for their decision, by number of arrival.
#[derive(Clone)]
pub(super) struct WaitingPages {
    run: RunId,
    observer: Option<DecisionObserver>,
    waiting: Arc<Mutex<BTreeMap<i64, Waiting>>>,
}

impl WaitingPages {
    pub fn of(run: RunId, observer: Option<DecisionObserver>) -> Self {
        Self { run, observer, waiting: Arc::default() }
    }

    pub fn expect(&self, arrival: i64, waits: Waiting) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(arrival, waits);
    }

    /// Returns the number of the first page that waits.
    pub fn first(&self) -> Option<i64> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).first_key_value().map(|(arrival, _)| *arrival)
    }

    /// Tells those who wait what was decided. Decisions that were told before are passed over.
    pub fn deliver(&self, decided: &[DecidedArrival]) {
        if let Some(observer) = &self.observer {
            observer(decided);
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for (run, arrival, answer) in decided.iter().filter(|(run, ..)| *run == self.run) {
            // Nobody may wait any more.
            match (waiting.remove(arrival), answer) {
                (Some(Waiting::Page(decision)), Some(answer)) => drop(decision.send(PageDecision {
                    run: *run,
                    arrival: *arrival,
                    sequence: answer.sequence,
                    verdict: answer.verdict,
                    redelivered: answer.redelivered,
                    displaced: answer.displaced,
                })),
                (Some(Waiting::Withdrawal(done)), None) => drop(done.send(*run)),
                _ => {}
            }
        }
    }
}
