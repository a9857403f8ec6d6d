//! Follows the log, answers open turns and judges, in a task of its own.
//!
//! The piece of the index is that of the slots held. When slots are added, a new holder reads the log in the background
//! while the present one goes on answering. A slot that was given back is still answered for until then: two answers for
//! one slot are the same. So a change of owner costs no pause, and for a while memory for two.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::arrivals::all_arrived;
use super::connection::{Connector, Session};
use super::crawl_name::CrawlName;
use super::crawl_session::CrawlSession;
use super::division::Division;
use super::error::ClusterError;
use super::holder::{DecidedArrival, Holder, next_ranges};
use super::judge::Judge;
use super::lease::RunId;
use super::manifest_order::next_in_manifest;
use super::run_status::{RunStatus, WaitingPages};
use super::test_point::test_point;
use super::turn_log::{Attempt, OpenTurn, glance};
use crate::detect::Options;
use crate::model::Slot;

/// How often a judge looks for answers and arrivals.
const JUDGE_LOOK: Duration = Duration::from_millis(2);
/// How often others look into the log, if the judge does not wake them.
const LOOK: Duration = Duration::from_millis(100);
/// How long a loop tries to connect. The lease has run out long before.
const PATIENCE: Duration = Duration::from_secs(600);
/// A holder is replaced if it answers for so many times as many slots as are held.
const TOO_MANY: usize = 2;

/// Which arrivals the next turn is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrivalOrder {
    /// Those that are there, as many of each run.
    #[default]
    AsTheyCome,
    /// Those of the inputs of `dedup`, in the order of their numbers, in full turns.
    OfManifests,
}

/// What turns of a crawl have in common.
#[derive(Clone, Debug)]
pub(super) struct TurnPlan {
    pub options: Options,
    pub slots: u16,
    pub division: Division,
    pub turn_pages: i32,
    pub order: ArrivalOrder,
}

/// The part of a run that has to do with turns.
pub(super) struct TurnLoop {
    connector: Connector,
    crawl: CrawlName,
    session: CrawlSession,
    run: RunId,
    plan: TurnPlan,
    status: watch::Receiver<RunStatus>,
    waiting: WaitingPages,
    holder: Holder,
    /// A holder of other slots, which reads the log.
    rebuilding: Option<Rebuilding>,
    judge: Option<Judge>,
    /// The opening that was answered last, and for how many slots.
    answered: Option<(Attempt, usize)>,
}

impl TurnLoop {
    /// Creates the loop. Reads the log for the slots that are held.
    pub async fn start(
        connector: Connector,
        crawl: CrawlName,
        run: RunId,
        plan: TurnPlan,
        status: watch::Receiver<RunStatus>,
        waiting: WaitingPages,
    ) -> Result<Self, ClusterError> {
        let mut session = CrawlSession::listening(connector.clone(), crawl.clone(), PATIENCE);
        let held: BTreeSet<Slot> = status.borrow().slots.keys().copied().collect();
        let holder = read_log(session.open().await?, &plan, held, &waiting).await;
        let holder = session.after(holder)?;
        let (rebuilding, judge, answered) = (None, None, None);
        Ok(Self { connector, crawl, session, run, plan, status, waiting, holder, rebuilding, judge, answered })
    }

    /// Takes part in turns until the run is lost.
    ///
    /// # Errors
    /// [`ClusterError::RunLost`], [`ClusterError::OtherLog`], and errors that do not pass.
    pub async fn run(mut self) -> Result<(), ClusterError> {
        loop {
            let done = self.step().await;
            match self.session.after(done) {
                Ok(true) => {}
                Ok(false) => {
                    let pause = if self.judge.is_some() { JUDGE_LOOK } else { LOOK };
                    self.session.wait_for_news(pause).await;
                }
                Err(ClusterError::JudgeLost(_)) => self.judge = None,
                Err(ClusterError::Unreplicated) => {
                    tracing::warn!("{}", ClusterError::Unreplicated);
                    self.judge = None;
                }
                Err(error) if error.is_passing() => {
                    tracing::warn!("turns are not followed: {error}; connecting again");
                    self.judge = None;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Does what there is to do. Returns whether there was anything.
    async fn step(&mut self) -> Result<bool, ClusterError> {
        self.take_slots().await?;
        let is_new = !self.session.is_open();
        let session = self.session.open().await?;
        if is_new {
            self.holder.check(session).await?;
        }
        let seen = glance(session).await?;
        if seen.turn != self.holder.applied() {
            self.holder.check(session).await?;
            let mut decided: Vec<DecidedArrival> = Vec::new();
            self.holder.advance(session, &mut decided).await?;
            self.waiting.deliver(&decided);
            return Ok(true);
        }
        if let Some(open) = &seen.open
            && open.number == seen.turn + 1
            && self.answer(open).await?
        {
            return Ok(true);
        }
        // An office that this run does not hold any more, or whose last turn is not the last one of the log, is no use.
        self.judge.take_if(|judge| seen.judge != Some(self.run) || judge.next_turn() <= seen.turn);
        if self.judge.is_none() && seen.judge.is_none_or(|judge| judge == self.run) {
            self.judge = Judge::take(self.session.open().await?, self.run).await?;
        }
        self.judge_once(seen.open).await
    }

    /// Answers an open turn, if that was not done for the present slots.
    async fn answer(&mut self, open: &OpenTurn) -> Result<bool, ClusterError> {
        let answer = (open.attempt, self.holder.slots().len());
        if self.answered == Some(answer) || answer.1 == 0 {
            return Ok(false);
        }
        self.holder.answer(self.session.open().await?, self.run, open).await?;
        self.answered = Some(answer);
        test_point("answer");
        Ok(true)
    }

    async fn judge_once(&mut self, open: Option<OpenTurn>) -> Result<bool, ClusterError> {
        let Some(judge) = &mut self.judge else { return Ok(false) };
        let session = self.session.open().await?;
        if judge.next_turn() != self.holder.applied() + 1 {
            return Ok(false);
        }
        if let Some(open) = open.filter(|open| open.number == judge.next_turn()) {
            return self.holder.settle(session, judge, open.attempt, &open.ranges).await;
        }
        let ranges = match self.plan.order {
            ArrivalOrder::AsTheyCome => next_ranges(judge, &all_arrived(session).await?, self.plan.turn_pages),
            ArrivalOrder::OfManifests => next_in_manifest(session, judge, self.plan.turn_pages).await?,
        };
        if !ranges.is_empty() {
            judge.open_turn(session, &ranges).await?;
        }
        Ok(!ranges.is_empty())
    }

    /// Has a new holder made for slots that were added, and changes to it when it has read the log.
    async fn take_slots(&mut self) -> Result<(), ClusterError> {
        if let Some(rebuilding) = self.rebuilding.take_if(|rebuilding| rebuilding.0.is_finished()) {
            self.holder = rebuilding.finish().await?;
            // The answer to the open turn has other slots now.
            self.answered = None;
        }
        if self.rebuilding.is_some() {
            return Ok(());
        }
        let held: BTreeSet<Slot> = self.status.borrow_and_update().slots.keys().copied().collect();
        let answered = self.holder.slots();
        if !held.is_subset(answered) || answered.len() > (held.len() * TOO_MANY).max(1) {
            let (connector, crawl) = (self.connector.clone(), self.crawl.clone());
            let (plan, waiting) = (self.plan.clone(), self.waiting.clone());
            self.rebuilding = Some(Rebuilding(tokio::spawn(async move {
                let mut session = CrawlSession::new(connector, crawl, PATIENCE);
                read_log(session.open().await?, &plan, held, &waiting).await
            })));
        }
        Ok(())
    }
}

/// A holder that reads the log. It stops when it is dropped.
struct Rebuilding(JoinHandle<Result<Holder, ClusterError>>);

impl Rebuilding {
    async fn finish(mut self) -> Result<Holder, ClusterError> {
        match (&mut self.0).await {
            Ok(holder) => holder,
            // Without a panic it was stopped, as the whole process is.
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => std::future::pending().await,
            },
        }
    }
}

impl Drop for Rebuilding {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Makes a holder of these slots from the log.
async fn read_log(
    session: &Session,
    plan: &TurnPlan,
    slots: BTreeSet<Slot>,
    waiting: &WaitingPages,
) -> Result<Holder, ClusterError> {
    let mut holder = Holder::new(plan.options.clone(), slots, plan.slots, plan.division)?;
    let mut decided = Vec::new();
    while holder.advance(session, &mut decided).await? {
        waiting.deliver(&decided);
        decided.clear();
    }
    Ok(holder)
}
