//! Decides pages in the order of the input and builds batches. Nothing is leased, and no link is followed.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use ndcrawl_engine::pipeline::{
    Cluster, DecidedPage, DecisionStage, PipelineError, RenderedPage, SealedBatch, add_answer, add_document,
    add_original, add_page, outcome_of, page_input, unleased_line,
};
use ndcrawl_fetch::{Absent, absent_page};
use ndcrawl_model::{
    Discovery, Exclusion, FailureClass, Fetched, Judged, KeepRule, LinkKind, Outcome, PageId, Requeue, RowName,
    Sequence, UrlId, UrlRow, UrlState, capture_key,
};

use super::input::RowSource;

/// Pages that are decided together.
const AT_ONCE: usize = 32;

/// An answer from the input.
pub(super) struct InputPage {
    pub fetched: Arc<Fetched>,
    /// The row that it was, if it was one.
    pub row: Option<RowSource>,
    /// The number of this capture of its URL, from 1.
    pub capture: u32,
    /// The rendered page, or why rendering failed. `None` if status or type say that it is no page.
    pub read: Option<Result<RenderedPage, String>>,
}

/// Decides pages and hands batches to the committer.
pub(super) struct Intake {
    pub crawl: String,
    pub stage: DecisionStage,
    /// The number of the next new URL.
    pub next_url: u32,
    /// Pages that wait to be decided together, each with the page that it revises.
    pub waiting: Vec<(InputPage, Option<Sequence>)>,
    /// The channel to the committer, while there is one.
    pub commits: Option<SyncSender<SealedBatch>>,
}

impl Intake {
    /// Takes the next answer. `renews` is the page that it revises, if any.
    pub fn take(&mut self, arrival: InputPage, renews: Option<Sequence>) -> Result<(), PipelineError> {
        self.waiting.push((arrival, renews));
        if self.waiting.len() < AT_ONCE { Ok(()) } else { self.decide() }
    }

    /// Has the copy that a rule prefers take the place of the kept page of a cluster. Returns whether it has.
    pub fn exchange(&mut self, rule: &KeepRule, cluster: &Cluster) -> Result<bool, PipelineError> {
        let is_exchanged = self.stage.exchange(rule, cluster)?;
        if self.stage.building.is_full() {
            self.seal()?;
        }
        Ok(is_exchanged)
    }

    /// Decides the waiting pages and sends them to the committer.
    pub fn flush(&mut self) -> Result<(), PipelineError> {
        self.decide()?;
        self.seal()
    }

    fn decide(&mut self) -> Result<(), PipelineError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut candidates = Vec::new();
        for (arrival, renews) in &mut waiting {
            if let Some(Ok(read)) = &mut arrival.read
                && !read.rendered.robots.noindex
            {
                let key = capture_key(arrival.fetched.url.as_str(), arrival.capture);
                let id = PageId::new(&self.crawl, &key, u32::from(renews.is_some()));
                let keys = (read.body_digest, read.group);
                candidates.push(page_input(id, &arrival.fetched, &mut read.rendered, keys, *renews));
            }
        }
        let mut judged = self.stage.decide(candidates)?.into_iter();
        for (arrival, renews) in waiting {
            let is_judged = matches!(&arrival.read, Some(Ok(read)) if !read.rendered.robots.noindex);
            let judged = if is_judged { judged.next() } else { None };
            self.finish(arrival, judged, renews)?;
            if self.stage.building.is_full() {
                self.seal()?;
            }
        }
        self.stage.consider_snapshot();
        self.stage.publish();
        Ok(())
    }

    /// Gives the URL of a page its outcome.
    fn finish(
        &mut self,
        arrival: InputPage,
        judged: Option<Judged>,
        renews: Option<Sequence>,
    ) -> Result<(), PipelineError> {
        let key = capture_key(arrival.fetched.url.as_str(), arrival.capture).into_owned();
        let page = PageId::new(&self.crawl, &key, u32::from(renews.is_some()));
        let row = UrlRow { url: key, discovery: Discovery::SEED, state: UrlState::Queued, clue: None };
        let revised = renews.map(|earlier| self.stage.earlier_verdict(earlier, judged.as_ref())).transpose()?;
        let url = match renews.and_then(|earlier| self.stage.page_urls.get(earlier.index()).copied()) {
            Some(known) => {
                let discovery = Discovery { kind: LinkKind::Revision, ..row.discovery };
                let again = Requeue { url: known, discovery };
                self.stage.building.batch.requeued.push(again);
                if let Some(earlier) = renews {
                    self.stage.take_back(&arrival.fetched.url.origin(), earlier)?;
                }
                known
            }
            None => {
                self.stage.building.batch.urls.push(row.clone());
                self.next_url += 1;
                UrlId(self.next_url - 1)
            }
        };
        let original = judged.as_ref().and_then(|judged| judged.verdict.duplicate_of());
        let original = original.map(|of| self.stage.original(of)).transpose()?;
        let outcome = match &judged {
            Some(judged) => outcome_of(judged.verdict, original.as_ref().and_then(|original| original.id)),
            None => outcome_without_verdict(&arrival),
        };
        let mut line = unleased_line(&row, None, &outcome);
        line.url = arrival.fetched.url.shown().into_owned();
        line.capture = (arrival.capture > 1).then_some(arrival.capture);
        add_answer(&mut line, &arrival.fetched);
        line.revised = revised;
        let row = arrival.row.map(|RowSource { file, number, id, columns }| {
            line.columns = columns;
            RowName { file: file.to_string(), number, id }
        });
        if let Some(RowName { file, number, id }) = &row {
            (line.file, line.line) = (Some(file.clone()), Some(*number));
            line.id.clone_from(id);
        }
        add_original(&mut line, original.as_ref());
        if let Some(Ok(read)) = &arrival.read {
            add_page(&mut line, &read.rendered);
            add_document(&mut line, read.document_text.is_some(), read.text_error);
            line.digest = Some(read.payload_digest.clone());
        }
        let put = match (judged, arrival.read) {
            (Some(judged), Some(Ok(read))) => self.stage.enter_page(DecidedPage {
                url,
                capture: arrival.capture,
                page,
                text_digest: read.rendered.text_digest,
                document_text: read.document_text,
                is_noarchive: read.rendered.robots.noarchive,
                fetched: arrival.fetched.clone(),
                row,
                body_digest: read.body_digest,
                group: read.group,
                payload_digest: read.payload_digest,
                judged,
                original,
                renews,
                kind: read.rendered.kind,
                links: Vec::new(),
                relevance: None,
                unchanged: None,
            }),
            _ => None,
        };
        self.stage.enter_outcome((url, &arrival.fetched.url.origin()), 1, &outcome, line, put)
    }

    /// Sends the batch to the committer. Waits until the batch before is committed.
    fn seal(&mut self) -> Result<(), PipelineError> {
        let Some(sealed) = self.stage.seal() else { return Ok(()) };
        // A closed channel means that the committer has failed. Its thread returns the reason.
        let Some(commits) = &self.commits else { return Err(PipelineError::Stopped) };
        commits.send(sealed).map_err(|_| PipelineError::Stopped)
    }
}

/// Returns the outcome of an answer that the decider does not see.
pub(super) fn outcome_without_verdict(arrival: &InputPage) -> Outcome {
    let fetched = &arrival.fetched;
    match (&arrival.read, fetched.status) {
        (Some(Ok(_)), _) => Outcome::Excluded(Exclusion::NoIndex),
        (Some(Err(why)), _) => {
            Outcome::Failed { class: FailureClass::Internal, detail: format!("rendering failed: {why}") }
        }
        (None, 200..=299) => absent_page(fetched).map_or(Outcome::Excluded(Exclusion::Type), Absent::outcome),
        (None, 301 | 302 | 303 | 307 | 308) => match fetched.location() {
            Some(to) => Outcome::Redirected { to: fetched.url.as_url().join(&to).map_or(to, String::from), id: None },
            None => Outcome::Failed {
                class: FailureClass::Redirect,
                detail: format!("status {} without a Location", fetched.status),
            },
        },
        (None, status) => Outcome::Failed {
            class: FailureClass::Http,
            detail: format!("status {status} {}", fetched.reason).trim_end().to_owned(),
        },
    }
}
