//! Takes one input from its records to its files, and the second look of a manifest to its end.

use std::sync::Arc;

use tokio::sync::{Mutex, Semaphore, mpsc};

use ndcrawl_cluster::{
    ArrivalChunk, ArrivingPage, ClusterError, Connector, CrawlName, InputTask, LeasedInput, LookDecisions, PageFacts,
    RunId, Session, all_sent, arrived, chunk_of_pages, decisions_of, finish_input, finish_look, look_again,
    number_of_stream, read_arrivals, send_arrivals, test_point,
};
use ndcrawl_dedup::{InputReader, PageToDecide, ReadDocument, SharedInputReport};
use ndcrawl_model::Sequence;

use super::decisions::StreamDecisions;
use super::error::BatchError;
use super::final_decision::FinalDecision;
use super::input_files::InputFiles;
use super::originals::Originals;
use super::output::BatchOutput;
use super::spools::{Spool, Spools};
use super::waiting_inputs::WaitingInputs;

/// Pages that are sent together. Whoever reads an input cuts it alike.
const CHUNK: usize = 16;
/// Pages that wait between the reader and the sender.
const WAITING: usize = 64;
/// How long a connection is tried for.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

/// What all inputs of a process share.
#[derive(Clone)]
pub(super) struct InputTools {
    pub connector: Connector,
    pub crawl: CrawlName,
    pub reader: Arc<InputReader>,
    pub decisions: StreamDecisions,
    pub originals: Arc<Originals>,
    pub waiting: WaitingInputs,
    /// Those whose files are written at a time.
    pub writers: Arc<Semaphore>,
    /// What was read and may be written again.
    pub spools: Arc<Spools>,
    /// The decisions of the second look that was read last.
    pub looks: Arc<Mutex<Option<NumberedLook>>>,
    pub output: BatchOutput,
    pub turn_pages: i32,
}

/// The number of a second look, and its decisions.
type NumberedLook = (i32, Arc<LookDecisions>);

/// An input whose files are to be written.
struct FilesToWrite<'a> {
    input: &'a LeasedInput,
    name: &'a str,
    file: i32,
    look: Option<i32>,
}

impl InputTools {
    /// Works on an input until it is done.
    ///
    /// # Errors
    /// [`BatchError::is_lost`] if the input is another run's by now; else the process must end.
    pub async fn work(self, run: RunId, input: LeasedInput) -> Result<(), BatchError> {
        loop {
            let done = match &input.task {
                InputTask::Write { name, file, look } => {
                    self.write(run, FilesToWrite { input: &input, name, file: *file, look: *look }).await
                }
                InputTask::LookAgain => self.look_again(run, &input).await,
            };
            match done {
                Err(error) if error.is_passing() => {
                    tracing::warn!(input = input.number, "an input is begun again: {error}");
                }
                result => return result,
            }
        }
    }

    /// Looks at a manifest once more, and has inputs written again.
    async fn look_again(&self, run: RunId, input: &LeasedInput) -> Result<(), BatchError> {
        let mut session = self.session().await?;
        let look = look_again(&mut session, input, self.turn_pages).await?;
        test_point("looked");
        let again: Vec<i32> = look.streams.iter().map(|stream| number_of_stream(*stream)).collect();
        finish_look(&mut session, run, input, look.arrivals, &again).await?;
        Ok(())
    }

    /// Returns the decisions of a second look.
    async fn decisions_of_look(&self, session: &Session, look: i32) -> Result<Arc<LookDecisions>, ClusterError> {
        // Who comes next waits and finds it read.
        let mut last = self.looks.lock().await;
        if let Some((number, decisions)) = &*last
            && *number == look
        {
            return Ok(Arc::clone(decisions));
        }
        let decisions = Arc::new(LookDecisions::read(session, look).await?);
        *last = Some((look, Arc::clone(&decisions)));
        Ok(decisions)
    }

    /// Reads an input, waits until its pages are decided, and writes its files.
    async fn write(&self, run: RunId, files: FilesToWrite<'_>) -> Result<(), BatchError> {
        let FilesToWrite { input, name, file, look } = files;
        let mut session = self.session().await?;
        let mut decided = self.decisions.begin(input.stream());
        // What was sent may be lost since, after a failover.
        let there = arrived(&session, input.stream()).await?;
        let (spool, is_known) = match self.spools.take(input.number).filter(|spool| spool.sent == there) {
            Some(spool) => (spool, true),
            None => {
                let files = Arc::new(InputFiles::new(&self.output, file));
                let (report, sent, is_known) = self.send(&mut session, (input, name), &files).await?;
                (Spool { files, report, sent }, is_known)
            }
        };
        test_point("arrival");
        let (mut report, sent) = (spool.report.clone(), spool.sent);
        all_sent(&mut session, run, input, sent).await?;
        test_point("sent");
        if is_known {
            // Some of its pages may have been decided before this process kept their decisions.
            self.decisions.enter(&decisions_of(&session, input.stream(), input.first_turn, sent).await?);
        }
        // Many inputs may wait at a time.
        drop(session);
        let waits = self.waiting.enter(input.number, sent, decided.clone());
        if decided.wait_for(|decided| *decided >= sent).await.is_err() {
            return Err(ClusterError::RunLost(run.0).into());
        }
        drop(waits);
        test_point("decided");
        // One turn may decide the last pages of many.
        let _permit = self.writers.acquire().await;
        let answers = self.decisions.take(input.stream());
        let mut session = self.session().await?;
        let revised = match look {
            Some(look) => self.decisions_of_look(&session, look).await?,
            None => Arc::default(),
        };
        let decisions: Vec<FinalDecision> =
            answers.iter().map(|answer| FinalDecision::new(*answer, &revised)).collect();
        let named: std::collections::BTreeSet<Sequence> = decisions.iter().flat_map(FinalDecision::named).collect();
        let originals = self.originals.find(&session, named).await?;
        report.pages = answers.iter().filter(|answer| !answer.redelivered).count() as u64;
        self.make_room();
        // Writing goes on when this task is dropped, and must not replace what a later owner has written.
        let (alive, files) = (Arc::new(()), Arc::clone(&spool.files));
        let owner = Arc::downgrade(&alive);
        let written = tokio::task::spawn_blocking(move || {
            let may_go_on = || match owner.strong_count() {
                0 => Err(ClusterError::RunLost(run.0).into()),
                _ => Ok(()),
            };
            files.write(&decisions, &originals, &mut report, may_go_on)?;
            Ok::<_, BatchError>(report)
        });
        let report = match written.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())) {
            // Another worker of this folder has the input by now, and has removed what this one had begun.
            Err(error) if error.is_missing_file() => return Err(ClusterError::RunLost(run.0).into()),
            written => written?,
        };
        drop(alive);
        let report = serde_json::to_value(&report).unwrap_or_default();
        let is_spooled = look.is_none() && self.make_room();
        finish_input(&mut session, run, input, &report, is_spooled).await?;
        test_point("done");
        if is_spooled {
            self.spools.keep(input.number, spool);
        }
        Ok(())
    }

    /// Gives up what was read if the disk has too little room. Returns whether it has enough.
    fn make_room(&self) -> bool {
        let has_room = self.output.has_room();
        if !has_room {
            self.spools.clear();
        }
        has_room
    }

    async fn session(&self) -> Result<Session, ClusterError> {
        let session = self.connector.connect_patiently(PATIENCE).await?;
        session.use_crawl(&self.crawl).await?;
        Ok(session)
    }

    /// Reads the input and sends its pages. Returns what it gave, how many pages there are, and whether some of them were
    /// there.
    async fn send(
        &self,
        session: &mut Session,
        (input, name): (&LeasedInput, &str),
        files: &Arc<InputFiles>,
    ) -> Result<(SharedInputReport, i64, bool), BatchError> {
        let (documents, mut read) = mpsc::channel(WAITING);
        let (reader, input_name, files) = (Arc::clone(&self.reader), name.to_owned(), Arc::clone(files));
        let reading = tokio::task::spawn_blocking(move || read_all(&reader, &input_name, &files, &documents));
        let there = arrived(session, input.stream()).await?;
        let (mut next, mut pages) = (0, Vec::new());
        loop {
            let document = read.recv().await;
            let is_end = document.is_none();
            pages.extend(document.map(arriving));
            if pages.len() == CHUNK || (is_end && !pages.is_empty()) {
                let count = pages.len() as i32;
                let chunk = chunk_of_pages(input.stream(), next, std::mem::take(&mut pages))?;
                self.make_room();
                if next < there {
                    expect_same(session, &chunk, name).await?;
                } else if input.records.is_some_and(|records| next + i64::from(count) > records) {
                    return Err(BatchError::OtherInput(name.to_owned()));
                } else {
                    send_arrivals(session, &chunk).await?;
                    test_point("chunk");
                }
                next += i64::from(count);
            }
            if is_end {
                break;
            }
        }
        let report = reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
        let is_other = input.records.is_some_and(|records| records != next);
        if is_other || arrived(session, input.stream()).await? != next {
            return Err(BatchError::OtherInput(name.to_owned()));
        }
        Ok((report, next, there > 0))
    }
}

/// Checks that another worker has sent the same.
async fn expect_same(session: &Session, chunk: &ArrivalChunk, name: &str) -> Result<(), BatchError> {
    let there = read_arrivals(session, chunk.run, chunk.first, 1).await?;
    if there.first() == Some(chunk) { Ok(()) } else { Err(BatchError::OtherInput(name.to_owned())) }
}

fn arriving(page: PageToDecide) -> ArrivingPage {
    let facts = PageFacts { url: page.url, fetched: page.fetched, links: Vec::new() };
    ArrivingPage::new(page.input, facts)
}

/// Reads an input into its file, and passes its pages on.
fn read_all(
    reader: &InputReader,
    name: &str,
    files: &InputFiles,
    pages: &mpsc::Sender<PageToDecide>,
) -> Result<SharedInputReport, BatchError> {
    let (mut file, mut failed) = (files.begin()?, None);
    let report = reader.read(name, |mut document: ReadDocument| {
        if let Err(error) = file.add(&document) {
            failed = Some(error);
            return false;
        }
        // A closed channel means that the sender has failed, which returns the reason.
        document.page.take().is_none_or(|page| pages.blocking_send(page).is_ok())
    });
    match failed {
        Some(error) => Err(error),
        None => file.end().map(|()| report),
    }
}
