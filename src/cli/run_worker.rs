//! Runs one worker of a crawl that several processes share, and prints what all of them have done.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use crate::cli::cluster_settings::seeds_of_crawl;
use crate::cli::config::settings::Settings;
use crate::cli::cookie_file;
use crate::cli::dashboard::{self, CrawlControls, Dashboard};
use crate::cli::dividable::dividable;
use crate::cli::errors::{CliError, cluster_error, crawl_error, exit, worker_error};
use crate::cli::format::{counted, thousands};
use crate::cli::helper::Helper;
use crate::cli::host::Host;
use crate::cli::monitor::Monitor;
use crate::cli::rule_file;
use crate::cli::run_crawl::{self, start_dashboard};
use crate::cli::seeds::Seeds;
use crate::cli::setup;
use crate::cli::signals::{self, ReceivedSignals};
use crate::cli::signing_key;
use crate::cli::status_file::RunState;
use crate::cli::terminal::write_stderr;
use crate::cluster::{
    Assignment, ClusterError, Connector, CrawlRow, CrawlState, CrawlWorker, EndOfGeneration, ErrorClass, Generation,
    RunDescription, RunnerSettings, WorkerSettings, crawl_totals,
};
use crate::crawl::{Crawl, CrawlError, CrawlSetup};
use crate::pipeline::{PipelineError, SharingError, Stop, StopReason};
use crate::store::Identity;

/// How long a run is tried to be begun while the database does not answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A crawl in a database.
pub(super) struct SharedCrawl {
    pub connector: Connector,
    pub row: CrawlRow,
    /// How long a run lives without renewing its lease.
    pub lease: Duration,
}

/// Returns the setup of a crawl that several processes share.
pub(super) fn shared_setup(settings: &Settings, seeds: &Seeds) -> Result<CrawlSetup, CliError> {
    let mut setup = setup::setup(settings, seeds)?;
    setup.detect = dividable(setup.detect);
    setup.fetch.cookies = cookie_file::read(settings)?;
    setup.fetch.signer = signing_key::read(settings)?;
    #[cfg(all(feature = "browser", unix))]
    {
        setup.headless = setup::headless_options(settings)?;
    }
    #[cfg(not(all(feature = "browser", unix)))]
    setup::reject_headless(settings)?;
    Ok(setup)
}

/// Works on a crawl until it is over or a signal comes. Prints what all workers have done. Returns the exit code.
pub(super) fn run(
    crawl: SharedCrawl,
    settings: &Settings,
    json: bool,
    helpers: Vec<Helper>,
    runtime: &Runtime,
    host: &Host,
) -> Result<u8, CliError> {
    let listener = dashboard::bind(settings)?;
    let (stop, _) = watch::channel(Stop::Go);
    let (end, signalled) = runtime.block_on(async {
        let signals = host.listen(stop.clone(), signals::OF_CRAWLS).map_err(anyhow::Error::from)?;
        let ends = settings.scope.max_time.and_then(|time| Instant::now().checked_add(time));
        let mut work = Work { crawl: &crawl, settings, host, ends, dashboard: None, listener, stop, signals };
        let end = work.run().await?;
        Ok::<_, CliError>((end, work.signals.exit_code()))
    })?;
    // A crawl in which nothing could be fetched is told by this process.
    let codes = [exit::FINISHED, exit::NOTHING_FETCHED, exit::TERMINATED];
    let failed = helpers.into_iter().filter_map(|helper| helper.end(signalled.is_some(), &codes)).next();
    let totals = runtime.block_on(crawl_totals(&crawl.connector, &crawl.row.plan.name)).map_err(cluster_error)?;
    let name = crawl.row.plan.name.text();
    let text = if json {
        format!("{}\n", json!({ "crawl": name, "state": end.told(), "totals": totals }))
    } else {
        summary(name, end.told(), &totals)
    };
    host.print_summary(&text)?;
    if let Some(failed) = failed {
        return Err(CliError::new(exit::INTERNAL, failed));
    }
    let pages: u64 = ["stored", "near-duplicate", "exact-duplicate"].iter().map(|kind| count(&totals, kind)).sum();
    Ok(match signalled {
        Some(code) => code,
        None if end == WorkerEnd::Stopped => exit::TERMINATED,
        None if end == WorkerEnd::Finished && pages == 0 => exit::NOTHING_FETCHED,
        None => exit::FINISHED,
    })
}

fn count(totals: &Value, outcome: &str) -> u64 {
    totals["outcomes"][outcome].as_u64().unwrap_or(0)
}

/// Why a worker has ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkerEnd {
    /// The crawl is over.
    Finished,
    /// Somebody has stopped the crawl.
    Stopped,
    /// A signal has come.
    Signal,
    /// The time of this worker is over.
    Time,
}

impl WorkerEnd {
    fn told(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Signal => "left by this worker, as it was told to",
            Self::Time => "left by this worker, whose time is over",
        }
    }
}

fn summary(name: &str, state: &str, totals: &Value) -> String {
    let mut text = format!("crawl '{name}': {state}\n\n");
    let requests = totals["requests"].as_u64().unwrap_or(0);
    text.push_str(&format!("requests         {:>10}\n", thousands(requests)));
    for (outcome, count) in totals["outcomes"].as_object().into_iter().flatten() {
        text.push_str(&format!("{outcome:<17}{:>10}\n", thousands(count.as_u64().unwrap_or(0))));
    }
    let (turns, judged) = (totals["turns"].as_u64().unwrap_or(0), totals["pages"].as_u64().unwrap_or(0));
    let turns = counted(turns, "turn", "turns");
    text.push_str(&format!("\n{} decided in {turns}\n", counted(judged, "page", "pages")));
    text
}

/// Returns the folder of one of several workers on this machine.
pub(super) fn worker_folder(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("worker-{number}"))
}

/// A worker at work.
struct Work<'a> {
    crawl: &'a SharedCrawl,
    settings: &'a Settings,
    host: &'a Host,
    /// When the time of this worker is over.
    ends: Option<Instant>,
    listener: Option<TcpListener>,
    dashboard: Option<Dashboard>,
    stop: watch::Sender<Stop>,
    signals: ReceivedSignals,
}

impl Work<'_> {
    async fn run(&mut self) -> Result<WorkerEnd, CliError> {
        let seeds = seeds_of_crawl(&self.crawl.row.plan.settings, self.crawl.row.plan.name.text())?;
        let settings = self.worker_settings(&seeds)?;
        let (connector, row) = (self.crawl.connector.clone(), self.crawl.row.clone());
        let mut worker = CrawlWorker::start(connector, row, settings).await.map_err(|error| worker_error(&error))?;
        let mut stopped = self.stop.subscribe();
        let result = loop {
            let assignment = tokio::select! {
                assignment = worker.next() => assignment,
                _ = stopped.wait_for(|stop| *stop != Stop::Go) => break Ok(WorkerEnd::Signal),
            };
            match assignment {
                Ok(Assignment::Nothing(CrawlState::Finished)) => break Ok(WorkerEnd::Finished),
                Ok(Assignment::Nothing(_)) => break Ok(WorkerEnd::Stopped),
                Ok(Assignment::Crawl(generation)) => match self.crawl(*generation, &seeds).await {
                    Ok(StopReason::Time) => break Ok(WorkerEnd::Time),
                    Ok(StopReason::DiskFull) => break Err(self.disk_full()),
                    Ok(StopReason::Finished | StopReason::Signal | StopReason::Failed) => {}
                    Err(error) => match of_cluster(&error) {
                        None => break Err(crawl_error(error)),
                        Some(broken) if broken.class() == ErrorClass::Broken => break Err(worker_error(broken)),
                        Some(error) => tracing::warn!("begins again with what the log has: {error}"),
                    },
                },
                Err(error) => break Err(worker_error(&error)),
            }
            if *stopped.borrow() != Stop::Go {
                break Ok(WorkerEnd::Signal);
            }
        };
        // After an error the slots are free when the lease has run out, at the latest.
        let ended = worker.end().await;
        let end = result?;
        ended.map_err(|error| worker_error(&error))?;
        Ok(end)
    }

    fn disk_full(&self) -> CliError {
        let folder = self.settings.out.dir.display();
        CliError::new(exit::DISK_FULL, format!("{folder}: the disk is full, or less than --min-free is free"))
            .with_hint("free some disk space, then start this worker again; others go on meanwhile")
    }

    fn worker_settings(&self, seeds: &Seeds) -> Result<WorkerSettings, CliError> {
        let setup = shared_setup(self.settings, seeds)?;
        let folder = &self.settings.out.dir;
        let failed = |error: std::io::Error| CliError::usage(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let place = folder.canonicalize().map_err(failed)?;
        let machine = setup::system_name();
        let description = RunDescription {
            name: format!("{machine}:{}", std::process::id()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            archive: format!("{machine}:{}", place.display()),
        };
        let limit = self.settings.scope.max_pages.filter(|most| *most > 0);
        let name = self.crawl.row.plan.name.text();
        // The names of pages follow from it: they are the same for all workers.
        let identity = Identity { crawl: name.to_owned(), ..Identity::new(setup.rendering(), "") };
        Ok(WorkerSettings {
            runner: RunnerSettings {
                description,
                options: setup.detect,
                ttl: self.crawl.lease,
                patience: PATIENCE,
                scratch: place.clone(),
            },
            folder: place,
            store: setup::store_options(self.settings),
            identity,
            limit,
        })
    }

    /// Crawls the slots of a generation to its end. Returns what has ended it.
    async fn crawl(&mut self, generation: Generation, seeds: &Seeds) -> Result<StopReason, CrawlError> {
        let Generation { own, store, shared, starts, change, mail } = generation;
        let mine = |seed: &&crate::cli::seeds::Seed| own.other_slot(&seed.url).is_none();
        let seeds = Seeds { seeds: seeds.seeds.iter().filter(mine).cloned().collect(), ..Seeds::default() };
        let failed = |error: CliError| CrawlError::Pipeline(PipelineError::Sharing(SharingError::new(error)));
        let mut setup = shared_setup(self.settings, &seeds).map_err(failed)?;
        setup.frontier.own = Some(own);
        setup.frontier.max_pages = 0;
        setup.crawl.max_time = self.ends.map(|ends| ends.saturating_duration_since(Instant::now()));
        setup.frontier.rules = rule_file::read_given(self.settings).map_err(failed)?;
        setup.fetch.shared_starts = Some(std::sync::Arc::new(starts));
        setup.shared = Some(shared);
        let name = self.crawl.row.plan.name.text().to_owned();
        let identity = Identity { crawl: name, ..Identity::new(setup.rendering(), "") };
        let crawl = Crawl::open(setup, store, &identity)?;
        let (stop, _) = watch::channel(Stop::Go);
        let mut watching = JoinSet::new();
        watching.spawn(end_at(change, stop.clone()));
        watching.spawn(pass_on(self.stop.subscribe(), stop.clone()));
        let monitor = self.monitor(&crawl);
        let (end_monitor, ended) = oneshot::channel();
        let monitoring = tokio::spawn(monitor.run(ended));
        let ending = crawl.run(stop).await;
        drop(mail);
        let _ = end_monitor.send(());
        if let Ok(monitor) = monitoring.await {
            self.dashboard = monitor.end(RunState::Stopped);
        }
        let ending = ending?;
        for (seed, why) in ending.failed_seeds {
            write_stderr(&crate::cli::terminal_safe::terminal_safe(&format!("warning: seed {seed}: {why}")));
        }
        Ok(ending.reason)
    }

    fn monitor(&mut self, crawl: &Crawl) -> Monitor {
        let controls = CrawlControls { pause: crawl.watch().pause_switch(), signals: self.signals.clone() };
        let started = self.listener.take().and_then(|listener| start_dashboard(self.settings, listener, controls));
        let dashboard = self.dashboard.take().or(started);
        run_crawl::monitor(self.settings, self.host, crawl, dashboard, None)
    }
}

/// Ends a generation when its slots change.
async fn end_at(change: crate::cluster::SlotsChange, stop: watch::Sender<Stop>) {
    let how = match change.wait().await {
        EndOfGeneration::Soon => Stop::Soon,
        EndOfGeneration::Now => Stop::Now,
    };
    stop.send_replace(how);
}

/// Passes the signals of the process on to a generation.
async fn pass_on(mut from: watch::Receiver<Stop>, to: watch::Sender<Stop>) {
    while from.wait_for(|stop| *stop != Stop::Go).await.is_ok() {
        to.send_replace(*from.borrow_and_update());
        if from.changed().await.is_err() {
            return;
        }
    }
}

/// Returns the error of the cluster by which a generation has ended.
fn of_cluster(error: &CrawlError) -> Option<&ClusterError> {
    let CrawlError::Pipeline(PipelineError::Sharing(error)) = error else { return None };
    error.cause()
}
