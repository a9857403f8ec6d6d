//! Sets the parts up, runs them, and takes them down in order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::detect;
use crate::fetch::{self, Fetcher};
use crate::frontier::{self, EmbeddedFrontier};
use crate::model::{CanonicalUrl, Deferral, HostRow, Normaliser, Sequence};
use crate::pagetext::{self, Renderer};
use crate::pipeline::{
    Against, ArchivePolicy, DecisionStage, HostStats, IndexSnapshots, Stop, StopReason, restore_decider,
    snapshot_signature,
};
use crate::store::{Identity, Store};

use super::commit::Committer;
use super::conditional_fetch::Archived;
use super::dispatcher::Dispatcher;
use super::enqueue::Enqueuer;
use super::external_engine::Asked;
use super::finish::{Ending, Unfetched};
#[cfg(feature = "browser")]
use super::headless_fetch::{Drawing, DrawingOptions};
use super::options::{Engine, Options};
use super::outcomes::{FocusFilter, LeaseOutcomes};
use super::scheduler::{SILENCE, Scheduler};
use super::soft_404::Probes;
#[cfg(feature = "spider")]
use super::spider::Spider;
use super::topic::{self, FocusOptions};
use super::url_log::Urls;
use super::watch::Watch;
use super::worker::Worker;
use super::{CrawlError, restore};

/// Messages that may wait for the dispatcher. Workers wait when it is full, so that bodies do not pile up.
const MESSAGES_WAITING: usize = 16;

/// Where a crawl begins.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The URL.
    pub url: CanonicalUrl,
    /// What to try if it was given without a scheme and https does not work.
    pub fallback: Option<CanonicalUrl>,
}

/// Everything that a crawl is set up with; each room gets its own options.
#[allow(missing_docs)]
pub struct Setup {
    pub seeds: Vec<Seed>,
    pub normaliser: Normaliser,
    pub crawl: Options,
    pub frontier: frontier::Options,
    pub fetch: fetch::Options,
    pub render: pagetext::Options,
    pub detect: detect::Options,
    /// Pages of earlier crawls that are compared with.
    pub against: Option<Arc<Against>>,
    /// Pages of the generation before, which servers need not send again.
    pub archived: Option<Arc<Archived>>,
    /// What is looked for; without it all pages are alike.
    pub focus: Option<FocusOptions>,
    /// Which pages are drawn by a browser, if any.
    #[cfg(feature = "browser")]
    pub drawing: Option<DrawingOptions>,
}

impl Setup {
    /// Names everything that makes records incomparable: a folder made otherwise is refused.
    pub fn rendering(&self) -> String {
        let renderer = Renderer::new(self.render.clone(), self.normaliser.clone());
        format!("{}, weights {:?}", renderer.signature(), self.detect.weights.0)
    }
}

/// A crawl whose state is restored and that is ready to run.
pub struct Crawl {
    options: Options,
    seeds: Vec<Seed>,
    crawl: String,
    store: Store,
    frontier: Arc<EmbeddedFrontier<Urls>>,
    stage: DecisionStage,
    fetcher: Fetcher,
    renderer: Arc<Renderer>,
    normaliser: Normaliser,
    archived: Option<Arc<Archived>>,
    focus: Option<FocusOptions>,
    #[cfg(feature = "browser")]
    drawing: Option<Arc<Drawing>>,
}

impl Crawl {
    /// Takes up the crawl that `store` holds, or begins it. Cost: reads all URLs that the store holds,
    /// half a microsecond each, and the records that came after the last snapshot of the index.
    pub fn open(setup: Setup, store: Store, identity: &Identity) -> Result<Self, CrawlError> {
        let reader = store.reader();
        let fetcher = Fetcher::new(setup.fetch)?;
        let frontier = restore::frontier(setup.frontier, &reader, &identity.crawl)?;
        let (decided, covered) =
            restore_decider(&setup.detect, setup.crawl.index_memory, &reader, setup.against.as_ref())?;
        let signature = snapshot_signature(&setup.detect, setup.against.as_deref());
        let snapshots = IndexSnapshots::new(reader.clone(), signature, setup.crawl.snapshot_after, covered);
        let hosts: Vec<HostRow> = reader.all_hosts()?.collect::<Result<_, _>>()?;
        let mark = store.mark();
        let policy =
            ArchivePolicy { obey_noarchive: setup.crawl.obey_noarchive, keep_duplicates: setup.crawl.keep_duplicates };
        let (counters, logged) = ((mark.totals, hosts), (mark.pages, mark.terms));
        let stage = DecisionStage::new(decided, reader, counters, snapshots, setup.against, policy, logged);
        #[cfg(feature = "browser")]
        let drawing = setup.drawing.map(|options| Drawing::new(options, fetcher.clone(), setup.normaliser.clone()));
        Ok(Self {
            #[cfg(feature = "browser")]
            drawing: drawing.map(Arc::new),
            options: setup.crawl,
            seeds: setup.seeds,
            crawl: identity.crawl.clone(),
            frontier: Arc::new(frontier),
            stage,
            fetcher,
            renderer: Arc::new(Renderer::new(setup.render, setup.normaliser.clone())),
            normaliser: setup.normaliser,
            archived: setup.archived,
            focus: setup.focus,
            store,
        })
    }

    /// Something to look at while it runs.
    pub fn watch(&self) -> Watch {
        Watch { live: self.stage.live.clone(), frontier: self.frontier.clone(), fetcher: self.fetcher.clone() }
    }

    /// Crawls until nothing is left, a limit is reached or a stop is asked for. Then everything
    /// that arrived is committed and the store is closed. A crawl that has ended is taken up again:
    /// there may be new seeds or higher limits.
    pub async fn run(mut self, stop: watch::Sender<Stop>) -> Result<Ending, CrawlError> {
        self.store.reopen()?;
        if !self.store.has_room()? {
            stop.send_replace(Stop::DiskFull);
        }
        for host in self.stage.hosts.hosts() {
            if let Some(robots) = &host.robots {
                self.fetcher.restore_robots(&host.origin, robots.clone()).await;
            }
        }
        let (frontier, live, reader) = (self.frontier.clone(), self.stage.live.clone(), self.store.reader());
        let focus = self.focus_filter().await?;
        let (hosts, mut store, reason) = self.crawl(stop, focus).await?;

        let nothing_left = reason == StopReason::Finished;
        let Unfetched { saved, deferred, repeating, predicted } = if nothing_left {
            Unfetched::finish(&mut store, &reader, &frontier)?
        } else {
            Unfetched::so_far(&reader, &frontier)?
        };
        store.close()?;
        let (totals, hosts) = hosts.into_parts();
        Ok(Ending {
            reason,
            budget_used_up: nothing_left && deferred.contains_key(Deferral::Budget.name()),
            totals,
            hosts,
            frontier: frontier.counts(),
            saved,
            deferred,
            repeating,
            predicted,
            rules: frontier.rules(),
            failed_seeds: live.failed_seeds(),
        })
    }

    /// Settles the topic of a focused crawl.
    async fn focus_filter(&mut self) -> Result<Option<FocusFilter>, CrawlError> {
        let Some(options) = &self.focus else { return Ok(None) };
        let topic =
            topic::settle(options, &self.fetcher, &self.renderer, &self.normaliser, &mut self.stage.hosts).await?;
        let focus = topic::restore(topic, &self.store.reader(), &self.stage.decider)?;
        Ok(Some(FocusFilter { focus, least: options.least, renderer: self.renderer.clone() }))
    }

    /// Starts the parts and waits until all have ended.
    async fn crawl(
        self,
        stop: watch::Sender<Stop>,
        focus: Option<FocusFilter>,
    ) -> Result<(HostStats, Store, StopReason), CrawlError> {
        let (messages, arriving) = mpsc::channel(MESSAGES_WAITING);
        // Without a place in it: one batch is built while another is committed, and no third waits.
        let (commits, batches) = sync_channel(0);
        let (ready, is_ready) = oneshot::channel();
        let changed = Arc::new(Notify::new());
        let asked = (self.options.engine != Engine::Frontier).then(|| Arc::new(Asked::new(changed.clone())));
        let committer = Committer {
            archive: self.store.archive(),
            store: self.store,
            frontier: self.frontier.clone(),
            progress: self.stage.progress.clone(),
            stop: stop.clone(),
        };
        let fallbacks: HashMap<_, _> =
            self.seeds.iter().filter_map(|seed| Some((seed.url.clone(), seed.fallback.clone()?))).collect();
        let probes = Probes::new(self.options.soft_404, self.stage.hosts.hosts());
        let (runtime, frontier) = (Handle::current(), self.frontier.clone());
        let dispatcher = Dispatcher {
            earlier_millis: self.stage.hosts.totals().millis,
            outcomes: LeaseOutcomes {
                enqueuer: Enqueuer::new(frontier.clone(), asked.clone(), runtime.clone(), &self.options),
                options: self.options.clone(),
                crawl: self.crawl,
                frontier,
                stage: self.stage,
                focus,
                asked: asked.clone(),
                fallbacks,
                runtime,
            },
            commits,
            changed: changed.clone(),
            began: Instant::now(),
            has_warned_of_memory: false,
            checked: Sequence(0),
        };
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let worker = Worker {
            options: self.options.clone(),
            fetcher: self.fetcher,
            renderer: self.renderer,
            normaliser: self.normaliser,
            archived: self.archived,
            #[cfg(feature = "browser")]
            drawing: self.drawing.clone(),
            frontier: self.frontier.clone(),
            changed: changed.clone(),
            rendering: Arc::new(Semaphore::new(cores)),
            robots_told: Default::default(),
            probes,
            stop: stop.subscribe(),
            messages,
        };
        #[cfg_attr(not(feature = "spider"), allow(unused_mut))]
        let mut engine = JoinSet::new();
        #[cfg(feature = "spider")]
        if let Some(asked) = asked.clone() {
            let options = worker.fetcher.options();
            let spider = Spider {
                asked,
                frontier: self.frontier.clone(),
                normaliser: worker.normaliser.clone(),
                host_concurrency: options.host_concurrency,
                user_agent: options.user_agent.clone(),
            };
            engine.spawn(spider.run());
        }
        let scheduler = Scheduler {
            options: self.options,
            frontier: self.frontier,
            worker: Arc::new(worker),
            changed,
            asked,
            engine,
            stop: stop.subscribe(),
            answer_overdue: Instant::now() + SILENCE,
        };
        let seeds = self.seeds.into_iter().map(|seed| seed.url).collect();
        let committing = spawn("commit", move || committer.run(batches))?;
        let deciding = spawn("decide", move || dispatcher.run(seeds, arriving, ready))?;
        // Without the seeds the frontier may look empty. If the dispatcher has failed, the scheduler finds
        // the channel to it closed.
        let _ = is_ready.await;
        // As a task, not here: the thread that waits for the crawl is none of the runtime's, and each
        // lease that ends would have to wake it.
        let mut scheduling = JoinSet::new();
        scheduling.spawn(scheduler.run());
        let scheduled = scheduling.join_next().await;
        #[cfg(feature = "browser")]
        if let Some(drawing) = self.drawing {
            drawing.close().await;
        }
        let decided = join(deciding, "decide").await;
        let committed = join(committing, "commit").await;
        // The first failure is the committer's if there is one: the others stop because of it.
        let (store, committed) = committed?;
        committed?;
        let (hosts, mut snapshots) = decided??;
        snapshots.publish(store.mark().pages);
        let reason = scheduled.transpose().map_err(CrawlError::Worker)?.unwrap_or(Ok(StopReason::Failed))?;
        Ok((hosts, store, reason))
    }
}

fn spawn<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, CrawlError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(|source| CrawlError::Spawn { name, source })
}

/// Waits for a thread without holding a runtime thread that it may need.
async fn join<T: Send + 'static>(thread: JoinHandle<T>, name: &'static str) -> Result<T, CrawlError> {
    let joined = tokio::task::spawn_blocking(move || thread.join()).await;
    joined.ok().and_then(Result::ok).ok_or(CrawlError::Panic(name))
}
