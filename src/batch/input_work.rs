//! Takes one input from its records to its files.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::cluster::{
    ArrivalChunk, ArrivingPage, ClusterError, Connector, CrawlName, Division, LeasedInput, PageFacts, RunId, Session,
    all_sent, arrived, decisions_of, finish_input, read_arrivals, send_arrivals, test_point,
};
use crate::dedup::{InputReader, PageToDecide, ReadDocument, SharedInputReport};
use crate::detect::TurnAnswer;

use super::decisions::StreamDecisions;
use super::error::BatchError;
use super::input_files::InputFiles;
use super::originals::Originals;
use super::output::BatchOutput;

/// Pages that are sent together. Whoever reads an input cuts it alike.
const CHUNK: usize = 16;
/// As [`CHUNK`], where each slot gets pages of its own.
const CHUNK_BY_HOSTS: usize = 64;
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
    pub output: BatchOutput,
    pub division: Division,
    pub slots: u16,
}

impl InputTools {
    /// Works on an input until it is done.
    ///
    /// # Errors
    /// [`BatchError::is_lost`] if the input is another run's by now; else the process must end.
    pub async fn work(self, run: RunId, input: LeasedInput) -> Result<(), BatchError> {
        loop {
            match self.work_once(run, &input).await {
                Err(error) if error.is_passing() => {
                    tracing::warn!(input = input.name, "the input is read again: {error}");
                }
                result => return result,
            }
        }
    }

    async fn work_once(&self, run: RunId, input: &LeasedInput) -> Result<(), BatchError> {
        let mut session = self.session().await?;
        let mut decided = self.decisions.begin(input.stream());
        let files = Arc::new(InputFiles::new(&self.output, input.number));
        let (mut report, sent, is_known) = self.send(&mut session, input, &files).await?;
        test_point("arrival");
        all_sent(&mut session, run, input, sent).await?;
        test_point("sent");
        if is_known {
            // Some of its pages may have been decided before this process kept their decisions.
            self.decisions.enter(&decisions_of(&session, input.stream(), input.first_turn).await?);
        }
        if decided.wait_for(|decided| *decided >= sent).await.is_err() {
            return Err(ClusterError::RunLost(run.0).into());
        }
        test_point("decided");
        let answers = self.decisions.take(input.stream());
        let mut session = self.session().await?;
        let named = answers.iter().filter_map(|answer: &TurnAnswer| answer.verdict.duplicate_of());
        let originals = self.originals.find(&session, named.collect::<std::collections::BTreeSet<_>>()).await?;
        report.pages = answers.iter().filter(|answer| !answer.redelivered).count() as u64;
        let written = tokio::task::spawn_blocking(move || {
            files.write(&answers, &originals, &mut report)?;
            Ok::<_, BatchError>(report)
        });
        let report = match written.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())) {
            // Another worker of this folder has the input by now, and has removed what this one had begun.
            Err(error) if error.is_missing_file() => return Err(ClusterError::RunLost(run.0).into()),
            written => written?,
        };
        let report = serde_json::to_value(&report).unwrap_or_default();
        finish_input(&mut session, run, input, &report).await?;
        test_point("done");
        Ok(())
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
        input: &LeasedInput,
        files: &Arc<InputFiles>,
    ) -> Result<(SharedInputReport, i64, bool), BatchError> {
        let (documents, mut read) = mpsc::channel(WAITING);
        let (reader, name, files) = (Arc::clone(&self.reader), input.name.clone(), Arc::clone(files));
        let reading = tokio::task::spawn_blocking(move || read_all(&reader, &name, &files, &documents));
        let there = arrived(session, input.stream()).await?;
        let chunk_pages = if self.division == Division::ByHosts { CHUNK_BY_HOSTS } else { CHUNK };
        let (mut next, mut pages) = (0, Vec::new());
        loop {
            let document = read.recv().await;
            let is_end = document.is_none();
            pages.extend(document.map(arriving));
            if pages.len() == chunk_pages || (is_end && !pages.is_empty()) {
                let count = pages.len() as i32;
                let chunk = self.division.chunk(self.slots, input.stream(), next, std::mem::take(&mut pages))?;
                next += i64::from(count);
                if next <= there {
                    expect_same(session, &chunk, &input.name).await?;
                } else {
                    send_arrivals(session, &chunk).await?;
                    test_point("chunk");
                }
            }
            if is_end {
                break;
            }
        }
        if next < there {
            return Err(BatchError::OtherInput(input.name.clone()));
        }
        let report = reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
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
