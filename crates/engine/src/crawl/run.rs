//! Sets the parts up, runs them and ends them in order.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tracing::{Instrument as _, Span};

use crate::documents::{self, Readers};
use crate::pipeline::{
    ArchivePolicy, ContentReader, DecisionStage, HostStats, IndexSnapshots, Letter, ReferenceCrawls, SharedDecider,
    SharedLog, SharedRests, Stop, StopReason, restore_decider, snapshot_signature,
};
use ndcrawl_fetch::{self as fetch, Fetcher};
use ndcrawl_frontier::{self as frontier, EmbeddedFrontier};
use ndcrawl_model::{CanonicalUrl, Deferral, HostRow, Normalizer, RestRow, Sequence, UrlId};
use ndcrawl_store::{Identity, Store};
use neardup::detect;
use pagetext::{self, PageReader};

use super::commit::Committer;
use super::conditional_fetch::ArchivedPages;
use super::dispatcher::Dispatcher;
use super::enqueue::Enqueuer;
use super::external_engine::ExternalEngine;
use super::finish::{CrawlEnding, Unfetched};
#[cfg(all(feature = "browser", unix))]
use super::headless_fetch::{HeadlessFetch, HeadlessOptions};
use super::messages::{DispatchMessage, NamedSitemaps};
use super::options::{Engine, Options};
use super::outcomes::{FocusFilter, LeaseOutcomes};
use super::page_fetch::PageFetch;
use super::page_share::PageShare;
use super::queue_status::RestingOrigin;
use super::recrawl::Recrawl;
use super::redirect_chains::RedirectChains;
use super::restore::RestoredUrls;
use super::scheduler::{SILENCE, Scheduler};
use super::sitemap_claims::SitemapClaims;
use super::soft_404::Soft404Prober;
use super::spellings::Spellings;
#[cfg(feature = "spider")]
use super::spider::Spider;
use super::taken_over::TakenOver;
use super::topic::{self, FocusOptions};
use super::url_log::StoredUrls;
use super::watch::{CrawlWatch, PauseSwitch};
use super::worker::Worker;
use super::{CrawlError, queue_status, restore};

/// Messages that may wait for the dispatcher. Workers wait when it is full, so that bodies do not pile up.
const MESSAGES_WAITING: usize = 16;
/// As [`MESSAGES_WAITING`], where a decision of several processes is waited for.
const MESSAGES_WAITING_SHARED: usize = 512;

/// Origins with queued URLs among which those that rest are looked for, when a crawl was stopped.
const MOST_RESTING: usize = 10_000;

/// Where a crawl begins.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The URL.
    pub url: CanonicalUrl,
    /// The http URL to try if the seed has no scheme and https fails.
    pub fallback: Option<CanonicalUrl>,
}

/// Everything that a crawl needs to begin; each room gets its own options.
#[allow(missing_docs)]
pub struct CrawlSetup {
    pub seeds: Vec<Seed>,
    pub normalizer: Normalizer,
    pub crawl: Options,
    pub frontier: frontier::Options,
    pub fetch: fetch::Options,
    pub render: pagetext::Options,
    /// Who reads PDF, if anybody does.
    pub documents: Option<documents::Options>,
    pub detect: detect::Options,
    /// Pages of earlier crawls, to compare with.
    pub against: Option<Arc<ReferenceCrawls>>,
    /// Pages of the generation before, for conditional requests.
    pub archived: Option<Arc<ArchivedPages>>,
    /// The topic of a focused crawl.
    pub focus: Option<FocusOptions>,
    /// What this crawl has in place of a decider and a log of its own, if several processes share it.
    pub shared: Option<SharedParts>,
    /// Which pages run in a headless browser, if any.
    #[cfg(all(feature = "browser", unix))]
    pub headless: Option<HeadlessOptions>,
}

/// The parts of one process in a crawl of several.
#[allow(missing_docs)]
pub struct SharedParts {
    pub decider: Box<dyn SharedDecider>,
    pub log: Box<dyn SharedLog>,
    /// Links that other slots have mailed, in the order of their numbers.
    pub mail: mpsc::Receiver<Vec<Letter>>,
    /// Whether the processes share a limit of pages.
    pub is_limited: bool,
    /// Where rests of hosts are noted for whoever takes the hosts over.
    pub rests: SharedRests,
    /// The rests that others have noted.
    pub resting: Vec<RestRow>,
}

impl CrawlSetup {
    /// Returns a text that names every option by which records become incomparable. A folder with another text is
    /// refused.
    pub fn rendering(&self) -> String {
        let renderer = PageReader::new(self.render.clone(), self.normalizer.clone());
        format!("{}, weights {:?}", renderer.signature(), self.detect.weights.0)
    }
}

/// A crawl whose state is restored and that is ready to run.
pub struct Crawl {
    options: Options,
    seeds: Vec<Seed>,
    crawl: String,
    store: Store,
    frontier: Arc<EmbeddedFrontier<StoredUrls>>,
    redirects: RedirectChains,
    unmatched: HashSet<UrlId>,
    stage: DecisionStage,
    /// The rest of what several processes share.
    log: Option<Box<dyn SharedLog>>,
    mail: Option<mpsc::Receiver<Vec<Letter>>>,
    pages: PageShare,
    fetcher: Fetcher,
    resting: Vec<RestingOrigin>,
    paused: PauseSwitch,
    renderer: Arc<ContentReader>,
    normalizer: Normalizer,
    recrawl: Option<Arc<Recrawl>>,
    focus: Option<FocusOptions>,
    #[cfg(all(feature = "browser", unix))]
    headless: Option<Arc<HeadlessFetch>>,
}

impl Crawl {
    /// Resumes the crawl in `store`, or begins one. Cost: reads all URLs in the store, half a microsecond each, and the
    /// records since the last index snapshot.
    pub fn open(setup: CrawlSetup, store: Store, identity: &Identity) -> Result<Self, CrawlError> {
        let reader = store.reader();
        let gap = setup.fetch.delay;
        let fetcher = Fetcher::new(setup.fetch)?;
        let RestoredUrls { frontier, redirects, unmatched } = restore::urls(setup.frontier, &reader, &identity.crawl)?;
        let hosts: Vec<HostRow> = reader.all_hosts()?.collect::<Result<_, _>>()?;
        let taken_over = setup.shared.as_ref().map(|shared| TakenOver {
            gap,
            hosts: &hosts,
            rests: shared.rests.clone(),
            resting: &shared.resting,
        });
        let archive = store.archive();
        fetcher.keep_site_files(move |file, fetched| {
            if let Err(error) = archive.put_site_file(file, fetched) {
                tracing::error!(file, %error, "file of a site not archived: what it says cannot be proven later");
            }
        });
        let resting = restore::rests(&store, &fetcher, &frontier, taken_over)?;
        let recrawl = setup.archived.map(|archived| Recrawl::new(archived, &setup.crawl)).transpose()?.map(Arc::new);
        let mark = store.mark();
        let policy =
            ArchivePolicy { obey_noarchive: setup.crawl.obey_noarchive, keep_duplicates: setup.crawl.keep_duplicates };
        let (counters, logged) = ((mark.totals, hosts), (mark.pages, mark.terms));
        let is_limited = setup.shared.as_ref().is_some_and(|shared| shared.is_limited);
        let pages = PageShare::new(is_limited, frontier.counts().pages);
        let (stage, log, mail) = match setup.shared {
            Some(SharedParts { decider, log, mail, .. }) => {
                (DecisionStage::shared(decider, reader, counters, policy), Some(log), Some(mail))
            }
            None => {
                let (decided, covered) = restore_decider(&setup.detect, &reader, setup.against.as_ref())?;
                let signature = snapshot_signature(&setup.detect, setup.against.as_deref());
                let snapshots = IndexSnapshots::new(reader.clone(), signature, setup.crawl.snapshot_after, covered);
                let stage = DecisionStage::new(decided, reader, counters, snapshots, setup.against, policy, logged);
                (stage, None, None)
            }
        };
        #[cfg(all(feature = "browser", unix))]
        let headless =
            setup.headless.map(|options| HeadlessFetch::new(options, fetcher.clone(), setup.normalizer.clone()));
        Ok(Self {
            #[cfg(all(feature = "browser", unix))]
            headless: headless.map(Arc::new),
            options: setup.crawl,
            seeds: setup.seeds,
            crawl: identity.crawl.clone(),
            frontier: Arc::new(frontier),
            redirects,
            unmatched,
            stage,
            log,
            mail,
            pages,
            fetcher,
            resting,
            paused: PauseSwitch::default(),
            renderer: Arc::new(ContentReader::new(
                PageReader::new(setup.render, setup.normalizer.clone()),
                setup.documents.map(Readers::new),
            )),
            normalizer: setup.normalizer,
            recrawl,
            focus: setup.focus,
            store,
        })
    }

    /// Returns the origins that still rest as an earlier run has learnt, the longest rest first.
    pub fn resting(&self) -> &[RestingOrigin] {
        &self.resting
    }

    /// Returns a view of the crawl for other threads.
    pub fn watch(&self) -> CrawlWatch {
        CrawlWatch {
            live: self.stage.live.clone(),
            frontier: self.frontier.clone(),
            fetcher: self.fetcher.clone(),
            paused: self.paused.clone(),
        }
    }

    /// Crawls until nothing is left, a limit is reached or a stop is requested. Then commits every page that has
    /// arrived and closes the store. A crawl that has ended can be resumed, with new seeds or higher limits.
    pub async fn run(mut self, stop: watch::Sender<Stop>) -> Result<CrawlEnding, CrawlError> {
        self.store.reopen()?;
        if !self.store.has_room()? {
            stop.send_replace(Stop::DiskFull);
        }
        let sitemaps = self.restore_robots().await;
        if self.log.is_some() {
            self.rest_known_hosts();
        }
        let (frontier, live, reader) = (self.frontier.clone(), self.stage.live.clone(), self.store.reader());
        let fetcher = self.fetcher.clone();
        let focus = self.focus_filter().await?;
        let is_focused = focus.is_some();
        let is_shared = self.log.is_some();
        let (hosts, mut store, reason) = self.crawl(stop, focus, sitemaps).await?;

        let nothing_left = reason == StopReason::Finished;
        // What was never fetched is told of once, and not by each process.
        let Unfetched { saved, deferred, out_of_scope, left_out, repeating, predicted } = if nothing_left && !is_shared
        {
            Unfetched::finish(&mut store, &reader, &frontier)?
        } else {
            Unfetched::so_far(&reader, &frontier)?
        };
        store.close()?;
        let (totals, hosts) = hosts.into_parts();
        Ok(CrawlEnding {
            reason,
            budget_used_up: nothing_left && deferred.contains_key(Deferral::Budget.name()),
            totals,
            hosts,
            frontier: frontier.counts(),
            saved,
            deferred,
            out_of_scope,
            is_topic_absent: is_focused && live.is_topic_absent(),
            repeating,
            predicted,
            rules: frontier.rules(),
            failed_seeds: live.failed_seeds(),
            given_up: frontier.given_up(),
            seed_notes: live.seed_notes(),
            left_out,
            resting: if nothing_left {
                Vec::new()
            } else {
                let queued = frontier.hosts_waiting(MOST_RESTING).into_iter().map(|waiting| waiting.origin);
                queue_status::resting(&fetcher, queued)
            },
        })
    }

    /// Restores the robots.txt of each host. Returns the sitemaps that they name.
    async fn restore_robots(&self) -> Vec<NamedSitemaps> {
        let mut sitemaps = Vec::new();
        for host in self.stage.hosts.hosts() {
            let Some(robots) = &host.robots else { continue };
            let robots = self.fetcher.restore_robots(&host.origin, robots.clone()).await;
            if self.options.sitemaps
                && !self.fetcher.options().ignore_robots
                && let Ok(origin) = self.normalizer.absolute(&host.origin)
            {
                sitemaps.extend(NamedSitemaps::of(&origin, &robots, &self.normalizer));
            }
        }
        sitemaps
    }

    /// Lets each host rest for one gap that another process may just have asked.
    fn rest_known_hosts(&self) {
        let now = Instant::now();
        for host in self.stage.hosts.hosts().filter(|host| host.requests > 0) {
            self.frontier.postpone(&host.origin, now + self.fetcher.gap(&host.origin));
        }
    }

    /// Determines the topic of a focused crawl.
    async fn focus_filter(&mut self) -> Result<Option<FocusFilter>, CrawlError> {
        let Some(options) = &self.focus else { return Ok(None) };
        let topic =
            topic::determine(options, &self.fetcher, self.renderer.pages(), &self.normalizer, &mut self.stage.hosts)
                .await?;
        let Some(folder) = self.stage.decider.folder() else { return Ok(None) };
        let focus = topic::restore(topic, &self.store.reader(), &folder.decider)?;
        Ok(Some(FocusFilter { focus, least: options.least, renderer: self.renderer.pages().clone() }))
    }

    /// Starts the parts and waits until all have ended.
    async fn crawl(
        self,
        stop: watch::Sender<Stop>,
        focus: Option<FocusFilter>,
        sitemaps: Vec<NamedSitemaps>,
    ) -> Result<(HostStats, Store, StopReason), CrawlError> {
        let waiting = if self.log.is_some() { MESSAGES_WAITING_SHARED } else { MESSAGES_WAITING };
        let (messages, arriving) = mpsc::channel(waiting);
        // No capacity: one batch is built while another is committed, and no third waits.
        let (commits, batches) = sync_channel(0);
        let (ready, is_ready) = oneshot::channel();
        let changed = Arc::new(Notify::new());
        let external =
            (self.options.engine != Engine::Frontier).then(|| Arc::new(ExternalEngine::new(changed.clone())));
        let committer = Committer {
            archive: self.store.archive(),
            reader: self.options.keep_text.then(|| self.renderer.pages().clone()),
            store: self.store,
            shared: self.log,
            frontier: self.frontier.clone(),
            progress: self.stage.progress.clone(),
            stop: stop.clone(),
        };
        let fallbacks: HashMap<_, _> =
            self.seeds.iter().filter_map(|seed| Some((seed.url.clone(), seed.fallback.clone()?))).collect();
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let fetch = Arc::new(PageFetch {
            fetcher: self.fetcher,
            renderer: self.renderer,
            normalizer: self.normalizer,
            frontier: self.frontier.clone(),
            rendering: Arc::new(Semaphore::new(cores)),
            stop: stop.subscribe(),
            paused: self.paused.subscribe(),
            messages: messages.clone(),
        });
        let prober = Soft404Prober::new(
            fetch.clone(),
            self.options.soft_404,
            self.stage.hosts.hosts(),
            self.options.random_seed,
        );
        let (runtime, frontier) = (Handle::current(), self.frontier.clone());
        let dispatcher = Dispatcher {
            earlier_millis: self.stage.hosts.totals().millis,
            outcomes: LeaseOutcomes {
                enqueuer: Enqueuer::new(frontier.clone(), external.clone(), runtime.clone(), &self.options),
                options: self.options.clone(),
                crawl: self.crawl,
                frontier,
                stage: self.stage,
                focus,
                redirects: self.redirects,
                sitemaps: SitemapClaims::default(),
                recrawl: self.recrawl.clone(),
                external: external.clone(),
                fallbacks,
                runtime,
                unmatched: self.unmatched,
            },
            commits,
            changed: changed.clone(),
            began: Instant::now(),
            checked: Sequence(0),
            pages: self.pages,
            is_idle: false,
        };
        let worker = Worker {
            options: self.options.clone(),
            fetch,
            prober,
            recrawl: self.recrawl.clone(),
            #[cfg(all(feature = "browser", unix))]
            headless: self.headless.clone(),
            changed: changed.clone(),
            spellings: Spellings::default(),
            reported_robots: Default::default(),
            reported_sitemaps: Default::default(),
            excused: Default::default(),
            early_failures: Default::default(),
        };
        let mut engine = JoinSet::new();
        #[cfg(feature = "spider")]
        if let Some(asked) = external.clone() {
            let options = worker.fetch.fetcher.options();
            let spider = Spider {
                asked,
                frontier: self.frontier.clone(),
                normalizer: worker.fetch.normalizer.clone(),
                host_concurrency: options.host_concurrency,
                user_agent: options.user_agent.clone(),
            };
            engine.spawn(spider.run());
        }
        match self.mail {
            Some(mail) => drop(engine.spawn(deliver(mail, messages))),
            // The crawl is over when nobody can send any more.
            None => drop(messages),
        }
        let scheduler = Scheduler {
            options: self.options,
            frontier: self.frontier,
            worker: Arc::new(worker),
            changed,
            external,
            engine,
            stop: stop.subscribe(),
            paused: self.paused.subscribe(),
            answer_overdue: Instant::now() + SILENCE,
        };
        let seeds = self.seeds.into_iter().map(|seed| seed.url).collect();
        let committing = spawn("commit", move || committer.run(batches))?;
        let deciding = spawn("decide", move || dispatcher.run(seeds, sitemaps, arriving, ready))?;
        // Without the seeds the frontier may look empty. If the dispatcher has failed, the scheduler finds its channel
        // closed.
        let _ = is_ready.await;
        // A task of its own: the waiting thread is no runtime thread, and each lease that ends would wake it.
        let mut scheduling = JoinSet::new();
        scheduling.spawn(scheduler.run().in_current_span());
        let scheduled = scheduling.join_next().await;
        #[cfg(all(feature = "browser", unix))]
        if let Some(headless) = self.headless {
            headless.close().await;
        }
        let decided = join(deciding, "decide").await;
        let committed = join(committing, "commit").await;
        // A failure of the committer comes first: the other parts stop because of it.
        let (store, committed) = committed?;
        committed?;
        let (hosts, snapshots) = decided??;
        if let Some(mut snapshots) = snapshots {
            snapshots.publish(store.mark().pages);
        }
        let reason = scheduled.transpose().map_err(CrawlError::Worker)?.unwrap_or(Ok(StopReason::Failed))?;
        Ok((hosts, store, reason))
    }
}

/// Hands on what other slots have mailed. Never ends by itself.
async fn deliver(mut mail: mpsc::Receiver<Vec<Letter>>, messages: mpsc::Sender<DispatchMessage>) {
    while let Some(letters) = mail.recv().await {
        if messages.send(DispatchMessage::Mail(letters)).await.is_err() {
            break;
        }
    }
    std::future::pending().await
}

fn spawn<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, CrawlError> {
    spawn_with(Builder::new(), name, work)
}

fn spawn_with<T: Send + 'static>(
    builder: Builder,
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, CrawlError> {
    let span = Span::current();
    builder
        .name(name.to_owned())
        .spawn(move || span.in_scope(work))
        .map_err(|source| CrawlError::Spawn { name, source })
}

/// Waits for a thread. Blocks no runtime thread, which the other thread may need.
async fn join<T: Send + 'static>(thread: JoinHandle<T>, name: &'static str) -> Result<T, CrawlError> {
    let joined = tokio::task::spawn_blocking(move || thread.join()).await;
    joined.ok().and_then(Result::ok).ok_or(CrawlError::Panic(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_the_system_refuses_is_no_panic_and_the_error_names_a_remedy() {
        let error = spawn_with(Builder::new().stack_size(1 << 60), "commit", || ()).unwrap_err();
        assert!(matches!(error, CrawlError::Spawn { name: "commit", .. }), "{error}");
        assert!(error.to_string().contains("ulimit -u"), "{error}");
    }
}
