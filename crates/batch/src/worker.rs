//! A process's part in a shared run: it leases inputs, at most a few ahead, until all are done.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use ndcrawl_cluster::{
    ArrivalOrder, Connector, CrawlRow, CrawlSession, CrawlState, ManifestFlags, RunId, RunnerSettings, TurnRunner,
    abandoned_files, input_files, input_reports, inputs_left, lease_input, register_inputs, test_point,
};
use ndcrawl_dedup::{InputReader, SharedInputReport};
use ndcrawl_engine::pipeline::Stop;

use super::decisions::StreamDecisions;
use super::error::BatchError;
use super::input_work::InputTools;
use super::originals::Originals;
use super::output::BatchOutput;
use super::waiting_inputs::{Waiting, WaitingInputs};

/// Inputs that a worker reads at a time, and has under way unless their pages do not fill a turn or wait for another one
/// that nobody has.
const MOST_INPUTS: usize = 4;
/// How often a worker looks for inputs.
const LOOK: Duration = Duration::from_millis(200);
/// How long a connection is tried for.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a run may take to end.
const LONGEST_END: Duration = Duration::from_secs(10);

/// What a worker needs.
pub struct BatchSettings {
    /// The servers.
    pub connector: Connector,
    /// The crawl.
    pub crawl: CrawlRow,
    /// How the process takes part in turns.
    pub runner: RunnerSettings,
    /// Reads inputs.
    pub reader: InputReader,
    /// The inputs of the manifest, in order.
    pub names: Vec<String>,
    /// What the files of an input depend on.
    pub flags: ManifestFlags,
    /// Where the files go.
    pub output: BatchOutput,
}

/// How a worker's part ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchEnding {
    /// The inputs of the manifest that are done, with what they gave, in order.
    pub inputs: Vec<(String, SharedInputReport)>,
    /// Whether all inputs of the crawl are done.
    pub is_complete: bool,
}

/// A process's part in a shared run.
pub struct BatchWorker {
    tools: InputTools,
    runner: TurnRunner,
    session: CrawlSession,
    names: Vec<String>,
    work: JoinSet<(i32, Result<(), BatchError>)>,
    /// The inputs that are under way.
    under_way: Vec<i32>,
    /// The run whose inputs are under way.
    run: Option<RunId>,
}

impl BatchWorker {
    /// Enters the inputs and begins a run.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn start(settings: BatchSettings) -> Result<Self, BatchError> {
        let BatchSettings { connector, crawl, runner, reader, names, flags, output } = settings;
        let mut session = CrawlSession::new(connector.clone(), crawl.plan.name.clone(), PATIENCE);
        register_inputs(session.open().await?, &names, &flags).await?;
        let decisions = StreamDecisions::default();
        // What they have read and kept fills the disk.
        for file in abandoned_files(session.open().await?).await? {
            output.clean(file);
        }
        let (order, observer) = (ArrivalOrder::OfManifests, Some(decisions.observer()));
        let runner = TurnRunner::start_with(connector.clone(), &crawl, runner, order, observer).await?;
        let tools = InputTools {
            connector,
            crawl: crawl.plan.name,
            reader: Arc::new(reader),
            decisions,
            originals: Arc::new(Originals::default()),
            waiting: WaitingInputs::default(),
            writers: Arc::new(Semaphore::new(MOST_INPUTS)),
            spools: Arc::default(),
            looks: Arc::default(),
            output,
            turn_pages: crawl.plan.turn_pages,
        };
        Ok(Self { tools, runner, session, names, work: JoinSet::new(), under_way: Vec::new(), run: None })
    }

    /// Works until all inputs are done, the crawl is stopped, or `stop` is.
    ///
    /// # Errors
    /// What has ended the work. The inputs under way are free when the lease has run out.
    pub async fn run(mut self, mut stop: watch::Receiver<Stop>) -> Result<BatchEnding, BatchError> {
        let mut status = self.runner.status();
        let is_complete = loop {
            if *stop.borrow() != Stop::Go || status.borrow().state == CrawlState::Stopped {
                break false;
            }
            match self.look().await {
                Ok(true) => break true,
                Ok(false) => {}
                Err(error) if error.is_passing() => tracing::warn!("inputs are not leased: {error}; connecting again"),
                Err(error) => return Err(error),
            }
            tokio::select! {
                Some(done) = self.work.join_next() => {
                    let (number, result) = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
                    self.under_way.retain(|input| *input != number);
                    match result {
                        Err(error) if error.is_lost() => tracing::warn!("an input is given up: {error}"),
                        result => result?,
                    }
                }
                ended = self.runner.ended() => {
                    ended?;
                    break false;
                }
                _ = status.changed() => {}
                _ = stop.wait_for(|stop| *stop != Stop::Go) => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        };
        self.work.shutdown().await;
        let inputs = self.reports().await?;
        if is_complete {
            self.clean_up().await?;
        }
        // A run that cannot be ended, since the database does not answer, ends with its lease.
        if let Ok(ended) = tokio::time::timeout(LONGEST_END, self.runner.end()).await {
            ended?;
        }
        Ok(BatchEnding { inputs, is_complete })
    }

    /// Leases inputs. Returns whether all inputs are done.
    async fn look(&mut self) -> Result<bool, BatchError> {
        let run = self.runner.status().borrow().run;
        if run != self.run {
            // The inputs of the earlier run are given up.
            self.work.shutdown().await;
            self.under_way.clear();
            self.run = run;
        }
        while let Some(run) = run {
            let Waiting { inputs, pages } = self.tools.waiting.now();
            if self.work.len().saturating_sub(inputs) >= MOST_INPUTS {
                break;
            }
            // A turn is opened when it is full. So whoever holds back has the pages of one that waits for nothing but inputs
            // before these: others that nobody has, which are leased nevertheless.
            let is_full = self.work.len() >= MOST_INPUTS && pages >= i64::from(self.tools.turn_pages);
            let leased = lease_input(self.session.open().await?, run, &self.under_way, is_full).await;
            let Some(input) = self.session.after(leased)? else { break };
            test_point("leased");
            self.under_way.push(input.number);
            let (tools, number) = (self.tools.clone(), input.number);
            self.work.spawn(async move { (number, tools.work(run, input).await) });
        }
        if !self.work.is_empty() {
            return Ok(false);
        }
        let left = inputs_left(self.session.open().await?).await;
        Ok(self.session.after(left)? == 0)
    }

    /// Removes what killed workers have left of the inputs of the manifest, which are done.
    async fn clean_up(&mut self) -> Result<(), BatchError> {
        let files = input_files(self.session.open().await?, &self.names).await?;
        files.into_iter().for_each(|file| self.tools.output.clean(file));
        Ok(())
    }

    async fn reports(&mut self) -> Result<Vec<(String, SharedInputReport)>, BatchError> {
        let reports = input_reports(self.session.open().await?, &self.names).await?;
        let read = |(name, report)| (name, serde_json::from_value(report).unwrap_or_default());
        Ok(reports.into_iter().map(read).collect())
    }
}
