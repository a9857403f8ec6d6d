//! The thread that takes messages from workers in the order of arrival and seals batches.
//!
//! A URL's outcome, the URLs that its page names and its row go into the same batch, and batches are committed in
//! order. So a committed page never names a URL that is not committed. `outcomes` ends leases, `enqueue` offers links,
//! and [`pipeline`](crate::pipeline) decides.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc, oneshot};

use crate::pipeline::{
    HostStats, IndexSnapshots, Letter, PageDecider, PipelineError, SealedBatch, SharedPage, SharedStep, group_of,
    link_hash, page_input,
};
use ndcrawl_model::{CanonicalUrl, Judged, PageInput, Relevance, Sequence, UrlId};

use super::CrawlError;
use super::messages::{DispatchMessage, FetchOutcome, FetchedPage, NamedSitemaps, WhenIdle};
use super::outcomes::{LeaseOutcomes, page_id};
use super::page_share::PageShare;
use super::shared_revisions::take_revisions;

/// Longest time from the first entry of a batch to its commit.
const BATCH_AGE: Duration = Duration::from_secs(1);
/// Messages that are handled together.
const MESSAGES_AT_ONCE: usize = 32;
/// As [`MESSAGES_AT_ONCE`], where a decision of several processes is waited for.
const MESSAGES_AT_ONCE_SHARED: usize = 512;
/// Pause between two looks at what is committed.
const COMMIT_PAUSE: Duration = Duration::from_millis(2);

/// Handles messages in order.
pub(super) struct Dispatcher {
    pub outcomes: LeaseOutcomes,
    pub commits: SyncSender<SealedBatch>,
    /// Wakes the scheduler.
    pub changed: Arc<Notify>,
    /// When this run began, and the milliseconds of earlier runs.
    pub began: Instant,
    pub earlier_millis: u64,
    /// Verdicts on pages below this number have been checked again.
    pub checked: Sequence,
    /// The share of the pages that the crawl may have, in a crawl of several processes.
    pub pages: PageShare,
    /// Whether the last commit has told other processes that nothing is to be done here.
    pub is_idle: bool,
}

impl Dispatcher {
    /// Offers the seeds, and links and sitemaps that are known from earlier runs, and signals `ready`. Then handles
    /// messages until the channel closes, and seals the last batch.
    ///
    /// Returns the counters and the snapshots, of which one may wait for the last commit.
    pub fn run(
        mut self,
        seeds: Vec<CanonicalUrl>,
        sitemaps: Vec<NamedSitemaps>,
        mut messages: mpsc::Receiver<DispatchMessage>,
        ready: oneshot::Sender<()>,
    ) -> Result<(HostStats, Option<IndexSnapshots>), CrawlError> {
        self.pages.take(&mut self.outcomes)?;
        self.outcomes.offer_seeds(seeds)?;
        self.outcomes.offer_skipped_links()?;
        sitemaps.into_iter().try_for_each(|named| self.outcomes.offer_sitemaps(named))?;
        // What other processes have asked for before this one had these slots.
        take_revisions(&mut self.outcomes)?;
        // The receiver is gone only if the crawl was dropped.
        let _ = ready.send(());
        let runtime = self.outcomes.runtime.clone();
        let most = if self.is_shared() { MESSAGES_AT_ONCE_SHARED } else { MESSAGES_AT_ONCE };
        let mut deadline = Instant::now() + BATCH_AGE;
        loop {
            let mut arrived = Vec::with_capacity(most);
            let receive =
                async { tokio::time::timeout_at(deadline.into(), messages.recv_many(&mut arrived, most)).await };
            let closed = matches!(runtime.block_on(receive), Ok(0));
            if !arrived.is_empty() {
                self.handle(arrived)?;
                self.pages.take_if_few(&mut self.outcomes)?;
                self.outcomes.stage.consider_snapshot();
            }
            if closed || Instant::now() >= deadline {
                self.seal()?;
                deadline = Instant::now() + BATCH_AGE;
            }
            if closed {
                return Ok(self.outcomes.stage.end());
            }
        }
    }

    /// Decides the pages among the messages together, then handles the messages in order.
    fn handle(&mut self, mut messages: Vec<DispatchMessage>) -> Result<(), CrawlError> {
        self.appraise(&mut messages);
        let mut judged = self.decide(&mut messages)?.into_iter();
        for message in messages {
            match message {
                DispatchMessage::Requests(requests) => self.outcomes.stage.hosts.add_requests(&requests),
                DispatchMessage::Robots { origin, row } => {
                    tracing::debug!(origin, status = row.status, bytes = row.body.len(), "robots.txt");
                    self.outcomes.stage.hosts.set_robots(&origin, row);
                }
                DispatchMessage::Sitemaps(named) => self.outcomes.offer_sitemaps(named)?,
                DispatchMessage::Mail(letters) => self.take_mail(letters)?,
                DispatchMessage::Idle(answer) => {
                    let next = self.check_again()?;
                    // The receiver is gone only if the crawl was dropped.
                    let _ = answer.send(next);
                }
                DispatchMessage::Arrival { mut lease, outcome, requests } => {
                    // A shorter path may have turned up since the lease began.
                    lease.discovery = self.outcomes.frontier.better_path(lease.id).unwrap_or(lease.discovery);
                    requests.iter().for_each(|requests| self.outcomes.stage.hosts.add_requests(requests));
                    let verdict = if is_judged(&outcome) { judged.next() } else { None };
                    self.outcomes.end_lease_and_reply(&lease, *outcome, verdict)?;
                }
            }
            self.changed.notify_one();
            if self.outcomes.stage.building.is_full() {
                self.seal()?;
            }
        }
        self.outcomes.stage.publish();
        Ok(())
    }

    /// Queues duplicates that are to be decided again, and the URLs of reopened trap patterns. Considers verdicts since
    /// the last call. Returns whether there are any such URLs, or whether the crawl is over.
    fn check_again(&mut self) -> Result<WhenIdle, CrawlError> {
        if self.is_shared() {
            return self.check_others();
        }
        self.commit_all()?;
        let stage = &mut self.outcomes.stage;
        let from = std::mem::replace(&mut self.checked, Sequence(stage.page_urls.len() as u32));
        let urls: Vec<UrlId> = stage.outdated(from)?.into_iter().map(|(url, _)| url).collect();
        let is_any = !urls.is_empty();
        self.outcomes.frontier.revise(urls)?;
        let has_work = self.outcomes.frontier.reopen()? || is_any;
        if has_work {
            return Ok(WhenIdle::GoOn);
        }
        if self.exchange()? {
            // More is known now than when the duplicates were looked at.
            self.checked = Sequence(0);
            return self.check_again();
        }
        Ok(WhenIdle::End)
    }

    /// Has the copies that the user's rule prefers take the place of those that were decided first. Returns whether any has.
    fn exchange(&mut self) -> Result<bool, CrawlError> {
        let (rule, mut is_any) = (self.outcomes.options.keep_rule.clone(), false);
        for cluster in self.outcomes.stage.clusters(&rule) {
            is_any |= self.outcomes.stage.exchange(&rule, &cluster)?;
            if self.outcomes.stage.building.is_full() {
                self.seal()?;
            }
        }
        self.commit_all()?;
        Ok(is_any)
    }

    /// As [`check_again`](Self::check_again), in a crawl of several processes: all of them look again when none has
    /// anything to do.
    fn check_others(&mut self) -> Result<WhenIdle, CrawlError> {
        if self.outcomes.frontier.reopen()? {
            return Ok(WhenIdle::GoOn);
        }
        // Mail may have come since the frontier was asked for something to do.
        if !self.outcomes.frontier.is_done() {
            return Ok(WhenIdle::GoOn);
        }
        let is_idle = !self.outcomes.frontier.has_all_pages();
        if let PageDecider::Shared(shared) = &mut self.outcomes.stage.decider {
            shared.withdraw_rest().map_err(PipelineError::from)?;
        }
        self.commit_all()?;
        if is_idle && !self.is_idle {
            self.outcomes.stage.building.shared.is_idle = true;
            self.commit_all()?;
        }
        if is_idle {
            self.is_idle = true;
            self.pages.give_back(&mut self.outcomes)?;
        } else if self.pages.take(&mut self.outcomes)? {
            return Ok(WhenIdle::GoOn);
        }
        let PageDecider::Shared(shared) = &mut self.outcomes.stage.decider else { return Ok(WhenIdle::End) };
        match shared.next_step().map_err(PipelineError::from)? {
            SharedStep::End => Ok(WhenIdle::End),
            SharedStep::Wait => Ok(WhenIdle::Wait),
            SharedStep::Revise => {
                let has_work = take_revisions(&mut self.outcomes)?;
                self.commit_all()?;
                Ok(if has_work { WhenIdle::GoOn } else { WhenIdle::Wait })
            }
        }
    }

    /// Takes links that other slots have mailed. Those that came before are passed over.
    fn take_mail(&mut self, letters: Vec<Letter>) -> Result<(), CrawlError> {
        let building = &mut self.outcomes.stage.building;
        for Letter { id, mail } in letters {
            building.urls += mail.len();
            building.shared.mail_taken.push(id);
            self.outcomes.frontier.deliver(mail)?;
        }
        Ok(())
    }

    fn is_shared(&self) -> bool {
        self.outcomes.stage.decider.folder().is_none()
    }

    /// Waits until all decided pages are committed. Nothing is under way meanwhile.
    fn commit_all(&mut self) -> Result<(), CrawlError> {
        self.seal()?;
        while !self.outcomes.stage.are_all_committed() {
            if self.outcomes.stage.progress.has_ended() {
                return Err(PipelineError::Stopped.into());
            }
            std::thread::sleep(COMMIT_PAUSE);
        }
        Ok(())
    }

    /// Compares the pages among the messages with the topic.
    fn appraise(&mut self, messages: &mut [DispatchMessage]) {
        let Some(focus) = &mut self.outcomes.focus else { return };
        for message in messages {
            if let DispatchMessage::Arrival { outcome, .. } = message
                && let FetchOutcome::Page(page) = &mut **outcome
            {
                focus.appraise(page);
                let relevance = page.appraisal.as_ref().map(|appraisal| appraisal.relevance);
                self.outcomes.stage.live.add_focused(relevance > Some(Relevance::NONE));
            }
        }
    }

    /// Returns the verdicts on the pages among the messages. Takes the pages' terms.
    fn decide(&mut self, messages: &mut [DispatchMessage]) -> Result<Vec<Judged>, CrawlError> {
        let is_shared = self.is_shared();
        let (mut pages, mut shared, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for message in messages {
            if let DispatchMessage::Arrival { lease, outcome, .. } = message
                && is_judged(outcome)
                && let FetchOutcome::Page(page) = &mut **outcome
            {
                let renews = self.outcomes.renewed(lease);
                let id = page_id(&self.outcomes.crawl, lease);
                let group = group_of(page.fetched.url.host());
                let input = page_input(id, &page.fetched, &mut page.rendered, (page.body_digest, group), renews);
                if is_shared {
                    shared.push(shared_page(input, page));
                } else {
                    pages.push(input);
                }
            } else if let DispatchMessage::Arrival { lease, .. } = message {
                gone.push(page_id(&self.outcomes.crawl, lease));
            }
        }
        let stage = &mut self.outcomes.stage;
        Ok(if is_shared { stage.decide_shared(shared, gone)? } else { stage.decide(pages)? })
    }

    /// Sends the batch, with the changes of the frontier, to the committer. Waits until the batch before is committed.
    fn seal(&mut self) -> Result<(), CrawlError> {
        let changes = self.outcomes.frontier.take_changes();
        let stage = &mut self.outcomes.stage;
        let batch = &mut stage.building.batch;
        batch.urls = changes.urls;
        batch.requeued.extend(changes.requeued);
        batch.shortened = changes.shortened;
        batch.links = changes.links;
        batch.leased = changes.leased;
        batch.counterparts = changes.counterparts;
        stage.building.shared.outbox = changes.outbox;
        stage.building.shared.adopted = changes.adopted;
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        stage.hosts.set_millis(self.earlier_millis.saturating_add(millis));
        let Some(sealed) = stage.seal() else { return Ok(()) };
        self.is_idle = false;
        tracing::debug!(pages = sealed.batch.pages.len(), urls = sealed.batch.urls.len(), "checkpoint");
        // A closed channel means that the committer has failed. Its thread returns the reason.
        self.commits.send(sealed).map_err(|_| PipelineError::Stopped.into())
    }
}

/// Returns a page with what other processes need to name it.
fn shared_page(input: PageInput, page: &FetchedPage) -> SharedPage {
    let mut links: Vec<u32> = page.rendered.links.iter().map(|link| link_hash(link.url.as_str())).collect();
    links.sort_unstable();
    links.dedup();
    SharedPage { input, url: page.fetched.url.to_string(), fetched_at: page.fetched.started_at, links }
}

/// Returns whether the decider sees a page.
fn is_judged(outcome: &FetchOutcome) -> bool {
    matches!(outcome, FetchOutcome::Page(page) if page.exclusion().is_none())
}
