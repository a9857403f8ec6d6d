//! Takes in the log of turns, and decides what has arrived, in a task of its own.

use std::path::PathBuf;
use std::time::Duration;

use super::arrivals::all_arrived;
use super::connection::Connector;
use super::crawl_name::CrawlName;
use super::crawl_session::CrawlSession;
use super::error::ClusterError;
use super::lease::RunId;
use super::manifest_order::next_in_manifest;
use super::replica::{Deciding, Replica};
use super::run_status::WaitingPages;
use super::test_point::test_point;
use super::turn_body::DecidedArrival;
use super::turn_log::last_turn;
use super::turn_state::TurnState;
use neardup::detect::Options;

/// How often the process that has decided last looks for arrivals.
const SHORT_LOOK: Duration = Duration::from_millis(2);
/// How often others look, if no turn wakes them.
const LOOK: Duration = Duration::from_millis(100);
/// How long a loop tries to connect. The lease has run out long before.
const PATIENCE: Duration = Duration::from_secs(600);

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
    pub turn_pages: i32,
    pub order: ArrivalOrder,
    /// How long a process may pause while it decides.
    pub patience: Duration,
    /// Where the records of pages are kept.
    pub scratch: PathBuf,
}

/// The part of a run that has to do with turns.
pub(super) struct TurnLoop {
    session: CrawlSession,
    deciding: Deciding,
    plan: TurnPlan,
    waiting: WaitingPages,
    replica: Replica,
    /// Whether the last turn is of this process: it has nothing to take in, so it goes on deciding.
    has_decided: bool,
}

impl TurnLoop {
    /// Creates the loop, which begins with reading the log.
    pub fn start(
        connector: Connector,
        crawl: CrawlName,
        run: RunId,
        plan: TurnPlan,
        waiting: WaitingPages,
    ) -> Result<Self, ClusterError> {
        let session = CrawlSession::listening(connector, crawl, PATIENCE);
        let replica = Replica::new(plan.options.clone(), &plan.scratch)?;
        let deciding = Deciding { run, patience: plan.patience };
        Ok(Self { session, deciding, plan, waiting, replica, has_decided: false })
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
                    let pause = if self.has_decided { SHORT_LOOK } else { LOOK };
                    self.session.wait_for_news(pause).await;
                }
                Err(error) if error.is_passing() => {
                    tracing::warn!("turns are not followed: {error}; connecting again");
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Does what there is to do. Returns whether there was anything.
    async fn step(&mut self) -> Result<bool, ClusterError> {
        let is_new = !self.session.is_open();
        let session = self.session.open().await?;
        if is_new {
            self.replica.check(session).await?;
            self.waiting.deliver(&self.replica.take_untold());
        }
        if last_turn(session).await? == self.replica.applied() {
            let has_decided = self.decide().await?;
            self.has_decided |= has_decided;
            return Ok(has_decided);
        }
        self.has_decided = false;
        self.replica.check(session).await?;
        let mut decided: Vec<DecidedArrival> = Vec::new();
        self.replica.advance(session, &mut decided).await?;
        self.waiting.deliver(&decided);
        Ok(true)
    }

    /// Decides what has arrived, if nobody else does. Returns whether it has decided a turn.
    async fn decide(&mut self) -> Result<bool, ClusterError> {
        let session = self.session.open().await?;
        let state = TurnState::read(session).await?;
        let ranges = match self.plan.order {
            ArrivalOrder::AsTheyCome => state.next_ranges(&all_arrived(session).await?, self.plan.turn_pages),
            ArrivalOrder::OfManifests => next_in_manifest(session, &state, self.plan.turn_pages).await?,
        };
        if ranges.is_empty() || !self.replica.decide(session, self.deciding, &ranges).await? {
            return Ok(false);
        }
        test_point("entered");
        self.waiting.deliver(&self.replica.take_untold());
        Ok(true)
    }
}
