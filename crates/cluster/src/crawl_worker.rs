//! A process at work on a crawl that it shares.
//!
//! It crawls the URLs of its slots as a process alone would, in *generations*: each begins with a folder that is made
//! from the logs of the slots, and ends when the slots change, the run is lost or the crawl is over. A folder is scratch,
//! but for the archive in it.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::arrivals::{are_judged, silent_runs};
use super::cluster_decider::ClusterDecider;
use super::connection::Connector;
use super::crawl_log::CrawlLog;
use super::crawl_session::CrawlSession;
use super::error::ClusterError;
use super::failure::Failure;
use super::hosts::{known_hosts, lasting_rests};
use super::lease::{Fence, HeldSlot, RunId};
use super::mail::Mailbox;
use super::moving::expect_moved;
use super::open_pages::OpenPages;
use super::page_grants::return_pages;
use super::request_starts::RequestStarts;
use super::revised_pages::RevisedPages;
use super::revisions::Rounds;
use super::run_status::RunStatus;
use super::schema::{CrawlRow, CrawlState};
use super::slot_encoder::SlotEncoder;
use super::slot_log::{SlotLogReader, await_commits};
use super::slot_restore::SlotRestore;
use super::turn_runner::{RunnerSettings, TurnRunner};
use ndcrawl_engine::crawl::SharedParts;
use ndcrawl_engine::pipeline::SharedRests;
use ndcrawl_model::{Batch, OwnSlots, PageId, Slot};
use ndcrawl_store::{Identity, Options as StoreOptions, Store};
use neardup::detect::DeciderStats;

/// Time in which further changes of the slots are waited for.
const SETTLES: Duration = Duration::from_millis(500);
/// How long a session is tried to be had again.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a new owner looks whether all is judged that others have sent for its slots.
const LOOK: Duration = Duration::from_millis(20);
/// Letters that wait for the crawl.
const LETTERS: usize = 4;

/// A folder that was made from the logs of slots.
type Restored = (Store, SlotEncoder, BTreeMap<Slot, RevisedPages>, OpenPages, Rounds);

/// A process at work on a crawl.
pub struct CrawlWorker {
    connector: Connector,
    crawl: CrawlRow,
    runner: TurnRunner,
    starts: RequestStarts,
    /// Where the folders of generations are.
    folder: PathBuf,
    store: StoreOptions,
    identity: Identity,
    limit: Option<u64>,
    /// By what a task of this process has ended.
    failure: Failure,
    generations: u32,
    /// Rests of hosts that are in no commit yet.
    rests: SharedRests,
}

/// What a worker needs.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// How it takes part in turns.
    pub runner: RunnerSettings,
    /// Where the folders of generations are made.
    pub folder: PathBuf,
    /// The options of these folders.
    pub store: StoreOptions,
    /// Which crawl they belong to: the same for all processes.
    pub identity: Identity,
    /// The most pages of the crawl.
    pub limit: Option<u64>,
}

/// What a worker is to do next.
pub enum Assignment {
    /// To crawl these slots.
    Crawl(Box<Generation>),
    /// Nothing any more.
    Nothing(CrawlState),
}

/// A crawl of the slots that a process holds.
pub struct Generation {
    /// The slots.
    pub own: OwnSlots,
    /// The folder, with all that the logs of the slots have.
    pub store: Store,
    /// What the crawl has in place of a decider and a log of its own.
    pub shared: SharedParts,
    /// Who keeps the requests of all processes apart.
    pub starts: RequestStarts,
    /// Ends when the slots change or the crawl is over.
    pub change: SlotsChange,
    /// Hands on mail while the generation lasts.
    pub mail: JoinSet<()>,
}

impl CrawlWorker {
    /// Takes part in a crawl.
    ///
    /// # Errors
    /// If it cannot: see [`TurnRunner::start`].
    pub async fn start(connector: Connector, crawl: CrawlRow, settings: WorkerSettings) -> Result<Self, ClusterError> {
        let WorkerSettings { runner, folder, store, identity, limit } = settings;
        expect_moved(&crawl)?;
        let runner = TurnRunner::start(connector.clone(), &crawl, runner).await?;
        let (name, failure) = (crawl.plan.name.clone(), Failure::default());
        let starts = RequestStarts::start(connector.clone(), name, runner.clock(), failure.clone());
        Ok(Self {
            connector,
            crawl,
            runner,
            starts,
            folder,
            store,
            identity,
            limit,
            generations: 0,
            failure,
            rests: SharedRests::default(),
        })
    }

    /// Waits until there is something to do. The generation before has ended.
    ///
    /// # Errors
    /// Those that do not pass.
    pub async fn next(&mut self) -> Result<Assignment, ClusterError> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        loop {
            let (run, slots) = match self.held_slots().await? {
                Ok(held) => held,
                Err(state) => return Ok(Assignment::Nothing(state)),
            };
            match self.generation(run, slots).await {
                Ok(generation) => return Ok(Assignment::Crawl(Box::new(generation))),
                Err(error) if error.is_passing() => tracing::warn!("the logs of the slots cannot be read: {error}"),
                Err(ClusterError::RunLost(_)) => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(SETTLES).await;
        }
    }

    /// Ends the part of this process. Its slots are free at once.
    ///
    /// # Errors
    /// What has ended it before.
    pub async fn end(self) -> Result<(), ClusterError> {
        self.runner.end().await
    }

    /// Gives back what is beyond the share, and waits for slots. Returns the state of the crawl if it does not go on.
    async fn held_slots(&mut self) -> Result<Result<(RunId, BTreeMap<Slot, Fence>), CrawlState>, ClusterError> {
        let mut status = self.runner.status();
        loop {
            let now: RunStatus = status.borrow_and_update().clone();
            if now.state != CrawlState::Running {
                return Ok(Err(now.state));
            }
            if let (Some(run), false, true) = (now.run, now.slots.is_empty(), now.surplus.is_empty()) {
                let fences = now.slots.iter().map(|(slot, HeldSlot { fence, .. })| (*slot, *fence));
                return Ok(Ok((run, fences.collect())));
            }
            for slot in now.surplus {
                self.runner.give_back(slot);
            }
            tokio::select! {
                changed = status.changed() => if changed.is_err() {
                    self.runner.ended().await?;
                    return Ok(Err(CrawlState::Stopped));
                },
                ended = self.runner.ended() => {
                    ended?;
                    return Ok(Err(CrawlState::Stopped));
                }
            }
        }
    }

    async fn generation(&mut self, run: RunId, fences: BTreeMap<Slot, Fence>) -> Result<Generation, ClusterError> {
        let own = OwnSlots::new(self.crawl.slot_map(), fences.keys().copied());
        // The folder may have those of another crawl, whose runs have the same numbers.
        let name = loop {
            self.generations += 1;
            let name = format!("run-{}-{}", run.0, self.generations);
            if !self.folder.join(&name).exists() {
                break name;
            }
        };
        let (store, encoder, revised, open, rounds) = self.restore(run, &self.folder.join(&name), own.clone()).await?;
        let (connector, crawl) = (self.connector.clone(), self.crawl.plan.name.clone());
        let (letters, mail) = mpsc::channel(LETTERS);
        let mailbox = Mailbox::new(connector.clone(), crawl.clone(), &own);
        let mut mailing = JoinSet::new();
        let failure = self.failure.clone();
        mailing.spawn(async move {
            if let Err(error) = mailbox.hand_on(letters).await {
                failure.tell(error);
            }
        });
        let runtime = Handle::current();
        let decider = ClusterDecider {
            runtime: runtime.clone(),
            session: CrawlSession::new(connector.clone(), crawl.clone(), PATIENCE),
            run,
            submitter: self.runner.submitter_of(run),
            map: own.map(),
            open,
            limit: self.limit,
            own: own.clone(),
            rounds,
            stats: DeciderStats::default(),
        };
        let change =
            SlotsChange { failure: self.failure.clone(), status: self.runner.status(), run, slots: fences.clone() };
        let session = CrawlSession::new(connector, crawl, PATIENCE);
        let mut resting = self.rests.noted();
        let known = self.connector.connect().await?;
        known.use_crawl(&self.crawl.plan.name).await?;
        resting.extend(lasting_rests(&known, own.slots()).await?);
        let rests = self.rests.clone();
        let log = CrawlLog { runtime, session, run, fences, encoder, revised, folder: name, rests: rests.clone() };
        let is_limited = self.limit.is_some();
        let shared = SharedParts { decider: Box::new(decider), log: Box::new(log), mail, is_limited, rests, resting };
        Ok(Generation { own, store, shared, starts: self.starts.clone(), change, mail: mailing })
    }

    /// Makes a folder from the logs of the slots.
    async fn restore(&self, run: RunId, folder: &Path, own: OwnSlots) -> Result<Restored, ClusterError> {
        let mut session = self.connector.connect().await?;
        session.use_crawl(&self.crawl.plan.name).await?;
        // A commit of the generation before may still wait for the standby, on a connection that is gone.
        await_commits(&mut session, run, own.slots()).await?;
        // What the generation before had left of its grants is not this one's.
        return_pages(&mut session, run).await?;
        // What others have sent for these slots before they were lost is judged first: then it is known what is open.
        let mut senders = silent_runs(&mut session).await?;
        senders.push(run);
        while !are_judged(&session, &senders).await? {
            if self.runner.status().borrow().run != Some(run) {
                return Err(ClusterError::RunLost(run.0));
            }
            tokio::time::sleep(LOOK).await;
        }
        // Archives of all generations may be put together, and their records are named by it.
        let crawl = format!("{}/{}", self.identity.crawl, folder.file_name().unwrap_or_default().to_string_lossy());
        let identity = Identity { crawl, ..self.identity.clone() };
        let (mut store, _) = Store::open(folder, self.store.clone(), &identity).map_err(ClusterError::folder)?;
        let mut commit = |batch: Batch| {
            // Runs of other tasks go on meanwhile.
            tokio::task::block_in_place(|| store.commit(batch)).map(drop).map_err(ClusterError::folder)
        };
        let mut reader = SlotLogReader::new(&session, own.slots()).await?;
        let (mut restore, mut completed) = (SlotRestore::new(own.clone()), HashSet::<PageId>::new());
        loop {
            let commits = reader.next(&session).await?;
            if commits.is_empty() {
                break;
            }
            for entries in commits {
                completed.extend(entries.iter().flat_map(|(_, entry)| &entry.pages).map(|page| page.page));
                if let Some(batch) = restore.take(entries)? {
                    commit(batch)?;
                }
            }
        }
        let (batch, encoder, revised) = restore.end(known_hosts(&session, own.slots()).await?);
        commit(batch)?;
        let open = OpenPages::find(&session, &own, &completed).await?;
        let rounds = Rounds::after(&session, &completed).await?;
        Ok((store, encoder, revised, open, rounds))
    }
}

/// Tells when a generation has to end.
pub struct SlotsChange {
    failure: Failure,
    status: watch::Receiver<RunStatus>,
    run: RunId,
    slots: BTreeMap<Slot, Fence>,
}

/// Why a generation has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndOfGeneration {
    /// There are slots to take or to give back, or the crawl was stopped: commit what is under way.
    Soon,
    /// The slots were lost: nothing can be committed. Or a task that the crawl depends on has failed.
    Now,
}

impl SlotsChange {
    /// Waits for the change.
    pub async fn wait(mut self) -> EndOfGeneration {
        loop {
            if let Some(end) = self.end() {
                if end == EndOfGeneration::Soon {
                    tokio::time::sleep(SETTLES).await;
                }
                return self.end().unwrap_or(end);
            }
            tokio::select! {
                changed = self.status.changed() => if changed.is_err() {
                    return EndOfGeneration::Now;
                },
                () = self.failure.told() => return EndOfGeneration::Now,
            }
        }
    }

    fn end(&mut self) -> Option<EndOfGeneration> {
        let status = self.status.borrow_and_update();
        let is_held = |(slot, fence): (&Slot, &Fence)| status.slots.get(slot).is_some_and(|held| held.fence == *fence);
        if status.run != Some(self.run) || !self.slots.iter().all(is_held) {
            return Some(EndOfGeneration::Now);
        }
        let is_changed = status.slots.len() != self.slots.len() || !status.surplus.is_empty();
        // A finished crawl is noticed by the crawl itself.
        (is_changed || status.state == CrawlState::Stopped).then_some(EndOfGeneration::Soon)
    }
}
