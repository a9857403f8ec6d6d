//! Sets the parts up, runs them, and takes them down in order.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use xxhash_rust::xxh3::xxh3_64;

use crate::detect::{self, EmbeddedDecider};
use crate::fetch::{self, Fetcher};
use crate::frontier::{self, EmbeddedFrontier};
use crate::record::{
    CanonicalUrl, Deferral, Frontier, FrontierCounts, HostRow, Normaliser, Outcome, OutcomeKind, Totals, UrlId,
};
use crate::render::{self, Renderer};
use crate::store::{DoneRow, Identity, Store, StoreReader};

use super::book::Book;
use super::commit::Committer;
use super::judge::{self, Judge};
use super::lines;
use super::live::{Live, Watch};
use super::log_access::{Records, Urls};
use super::options::Options;
use super::scheduler::Scheduler;
use super::worker::Worker;
use super::{CrawlError, Stop, StopReason};

/// Messages that may wait for the judge. Workers wait when it is full, so that bodies do not pile up.
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
    pub render: render::Options,
    pub detect: detect::Options,
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
    decider: EmbeddedDecider<Records>,
    worker: Arc<Worker>,
    book: Book,
    page_urls: Vec<UrlId>,
    changed: Arc<Notify>,
    live: Arc<Live>,
}

/// How a crawl ended.
#[derive(Debug)]
pub struct Ending {
    /// Why.
    pub reason: StopReason,
    /// Whether URLs were left because a budget of pages was used up.
    pub budget_used_up: bool,
    /// The counters of all runs.
    pub totals: Totals,
    /// By origin.
    pub hosts: Vec<HostRow>,
    /// Sizes of the frontier at the end.
    pub frontier: FrontierCounts,
    /// Requests saved by host: URLs that were not fetched because only duplicates name them.
    pub saved: BTreeMap<String, u64>,
    /// URLs left unfetched, by reason.
    pub deferred: BTreeMap<&'static str, u64>,
    /// Seeds that could not be had, each with the reason.
    pub failed_seeds: Vec<(String, String)>,
}

impl Crawl {
    /// Takes up the crawl that `store` holds, or begins it. Cost: reads all URLs and records that
    /// the store holds, some microseconds each.
    pub fn open(setup: Setup, store: Store, identity: &Identity) -> Result<Self, CrawlError> {
        let reader = store.reader();
        let mark = store.mark();
        let frontier = restore_frontier(setup.frontier, &reader, &identity.crawl)?;
        for (id, deliveries) in &mark.leased {
            frontier.restore_deliveries(*id, *deliveries);
        }
        frontier.restored();
        let (decider, page_urls) = restore_decider(setup.detect, &reader)?;
        let hosts: Vec<HostRow> = reader.all_hosts()?.collect::<Result<_, _>>()?;
        let (frontier, changed) = (Arc::new(frontier), Arc::new(Notify::new()));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let worker = Worker {
            options: setup.crawl.clone(),
            fetcher: Fetcher::new(setup.fetch)?,
            renderer: Arc::new(Renderer::new(setup.render, setup.normaliser.clone())),
            normaliser: setup.normaliser,
            frontier: frontier.clone(),
            changed: changed.clone(),
            rendering: Arc::new(Semaphore::new(cores)),
            robots_told: Default::default(),
        };
        let live = Arc::new(Live::default());
        live.publish(mark.totals.clone(), decider.stats());
        Ok(Self {
            options: setup.crawl,
            seeds: setup.seeds,
            crawl: identity.crawl.clone(),
            frontier,
            decider,
            worker: Arc::new(worker),
            book: Book::restore(mark.totals, hosts),
            page_urls,
            changed,
            live,
            store,
        })
    }

    /// Something to look at while it runs.
    pub fn watch(&self) -> Watch {
        Watch { live: self.live.clone(), frontier: self.frontier.clone() }
    }

    /// Crawls until nothing is left, a limit is reached or a stop is asked for. Then everything
    /// that arrived is committed and the store is closed.
    pub async fn run(self, stop: watch::Sender<Stop>) -> Result<Ending, CrawlError> {
        for host in self.book.hosts() {
            if let Some(robots) = &host.robots {
                self.worker.fetcher.restore_robots(&host.origin, robots.clone()).await;
            }
        }
        let began = Instant::now();
        let earlier_millis = self.book.totals().millis;
        let (message_sender, messages) = mpsc::channel(MESSAGES_WAITING);
        let (commits, batches) = sync_channel(1);
        let committed_pages = Arc::new(AtomicU32::new(self.store.mark().pages));
        let committer = Committer {
            archive: self.store.archive(),
            store: self.store,
            frontier: self.frontier.clone(),
            committed_pages: committed_pages.clone(),
            stop: stop.clone(),
            runtime: Handle::current(),
        };
        let reader = committer.store.reader();
        let fallbacks: HashMap<_, _> =
            self.seeds.iter().filter_map(|seed| Some((seed.url.clone(), seed.fallback.clone()?))).collect();
        let judge = Judge {
            options: self.options.clone(),
            crawl: self.crawl,
            frontier: self.frontier.clone(),
            decider: self.decider,
            reader: reader.clone(),
            book: self.book,
            page_urls: self.page_urls,
            committed_pages,
            fallbacks,
            commits,
            changed: self.changed.clone(),
            live: self.live.clone(),
            runtime: Handle::current(),
            began,
            earlier_millis,
        };
        let scheduler = Scheduler {
            options: self.options,
            frontier: self.frontier.clone(),
            worker: self.worker,
            changed: self.changed,
            stop: stop.subscribe(),
            messages: message_sender,
        };
        let seeds = self.seeds.into_iter().map(|seed| seed.url).collect();
        let ready = Arc::new(Notify::new());
        let committing = spawn("commit", move || committer.run(batches))?;
        let judging = {
            let ready = ready.clone();
            spawn("judge", move || judge.run(seeds, messages, &ready))?
        };
        // Without the seeds the frontier may look empty.
        ready.notified().await;
        let scheduled = scheduler.run().await;
        let judged = join(judging, "judge").await?;
        let (mut store, committed) = join(committing, "commit").await?;
        // The first failure is the committer's if there is one: the others stop because of it.
        committed?;
        let book = judged?;
        let reason = scheduled?;

        let nothing_left = reason == StopReason::Finished;
        let (saved, deferred) = tell_deferred(&mut store, &reader, &self.frontier, nothing_left)?;
        store.close()?;
        Ok(Ending {
            reason,
            budget_used_up: nothing_left && deferred.contains_key(Deferral::Budget.name()),
            totals: book.totals().clone(),
            hosts: book.hosts().cloned().collect(),
            frontier: self.frontier.counts(),
            saved,
            deferred,
            failed_seeds: self.live.failed_seeds(),
        })
    }
}

fn restore_frontier(
    options: frontier::Options,
    reader: &StoreReader,
    crawl: &str,
) -> Result<EmbeddedFrontier<Urls>, CrawlError> {
    // Drawn once for a crawl: its name is.
    let hash_seed = xxh3_64(crawl.as_bytes());
    let frontier = EmbeddedFrontier::new(options, Urls(reader.clone()), hash_seed);
    for row in reader.all_urls()? {
        frontier.restore_url(&row?.1)?;
    }
    let mut done = Vec::new();
    for row in reader.all_done()? {
        match row? {
            DoneRow::Requeued(path) => frontier.restore_requeue(&path)?,
            DoneRow::Outcome(outcome) => done.push(outcome),
        }
    }
    for outcome in done.into_iter().filter(|outcome| outcome.kind != OutcomeKind::Deferred) {
        frontier.restore_done(outcome.url, judge::is_page(outcome.kind));
    }
    Ok(frontier)
}

fn restore_decider(
    options: detect::Options,
    reader: &StoreReader,
) -> Result<(EmbeddedDecider<Records>, Vec<UrlId>), CrawlError> {
    let mut decider = EmbeddedDecider::new(options, Records(reader.clone()));
    for term in reader.all_terms()? {
        decider.restore_term(&term?.1)?;
    }
    let mut page_urls = Vec::new();
    for page in reader.all_pages()? {
        let (sequence, page) = page?;
        decider.restore_page(sequence, page.group, &page)?;
        page_urls.push(page.url);
    }
    Ok((decider, page_urls))
}

/// Counts the URLs that were seen and not fetched. If the crawl is over, writes their lines.
#[allow(clippy::type_complexity)]
fn tell_deferred(
    store: &mut Store,
    reader: &StoreReader,
    frontier: &EmbeddedFrontier<Urls>,
    is_over: bool,
) -> Result<(BTreeMap<String, u64>, BTreeMap<&'static str, u64>), CrawlError> {
    let (mut saved, mut deferred) = (BTreeMap::new(), BTreeMap::new());
    let row = |id: UrlId| reader.url(id)?.ok_or(CrawlError::Lost { what: "URL", id: id.0 });
    let mut count = |id: UrlId, reason: Deferral| -> Result<(), CrawlError> {
        *deferred.entry(reason.name()).or_default() += 1;
        if reason == Deferral::DuplicateLink
            && let Ok(url) = url::Url::parse(&row(id)?.url)
        {
            *saved.entry(url.host_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        Ok(())
    };
    let line = |id: UrlId, reason: Deferral| -> Result<String, CrawlError> {
        let row = row(id)?;
        let referrer = match row.referrer {
            Some(id) => reader.url(id)?.map(|row| row.url),
            None => None,
        };
        Ok(serde_json::to_string(&lines::unleased_line(&row, referrer, &Outcome::Deferred(reason)))?)
    };
    // One at a time: there may be millions.
    let mut unfinished = frontier.unfinished();
    if is_over {
        store.finish(unfinished.map(|(id, reason)| count(id, reason).and_then(|()| line(id, reason))))?;
    } else {
        unfinished.try_for_each(|(id, reason)| count(id, reason))?;
    }
    Ok((saved, deferred))
}

fn spawn<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, CrawlError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(|_| CrawlError::Panic(name))
}

/// Waits for a thread without holding a runtime thread that it may need.
async fn join<T: Send + 'static>(thread: JoinHandle<T>, name: &'static str) -> Result<T, CrawlError> {
    let joined = tokio::task::spawn_blocking(move || thread.join()).await;
    joined.ok().and_then(Result::ok).ok_or(CrawlError::Panic(name))
}
