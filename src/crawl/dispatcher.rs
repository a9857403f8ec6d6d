//! The loop that takes what workers hand over, in the order of arrival, and seals batches.
//!
//! It runs on a thread of its own. A URL's outcome, the URLs it names and its row go into the same batch, and batches
//! are committed in order, so a committed page never names a URL that is not. How a lease ends is in `outcomes`, what
//! becomes of links in `enqueue`, and the decision itself in [`pipeline`](crate::pipeline).

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc, oneshot};

use crate::model::{CanonicalUrl, Discovery, Judged, Lease, LinkKind, PageInput, Sequence, UrlId};
use crate::pipeline::{HostStats, IndexSnapshots, PipelineError, SealedBatch, group_of};

use super::CrawlError;
use super::enqueue::link;
use super::messages::{Found, Message};
use super::outcomes::{LeaseOutcomes, page_id};

/// A batch is committed at the latest this long after its first entry.
const BATCH_AGE: Duration = Duration::from_secs(1);
/// Messages that are handled together.
const MESSAGES_AT_ONCE: usize = 32;

/// Handles messages in order.
pub(super) struct Dispatcher {
    pub outcomes: LeaseOutcomes,
    pub commits: SyncSender<SealedBatch>,
    pub changed: Arc<Notify>,
    /// When this run began, and the milliseconds of earlier runs.
    pub began: Instant,
    pub earlier_millis: u64,
    /// Whether the log says that the index is over its memory limit.
    pub has_warned_of_memory: bool,
    /// Verdicts on pages below this number have been checked again.
    pub checked: Sequence,
}

impl Dispatcher {
    /// Offers the seeds and says so, then handles what arrives until the channel closes, and seals the last batch.
    ///
    /// Returns the counters, and the snapshots, of which one may wait for a commit.
    pub fn run(
        mut self,
        seeds: Vec<CanonicalUrl>,
        mut messages: mpsc::Receiver<Message>,
        ready: oneshot::Sender<()>,
    ) -> Result<(HostStats, IndexSnapshots), CrawlError> {
        self.outcomes.offer_seeds(seeds)?;
        // Nobody waits for it only if the crawl was dropped.
        let _ = ready.send(());
        let runtime = self.outcomes.runtime.clone();
        let mut deadline = Instant::now() + BATCH_AGE;
        loop {
            let mut arrived = Vec::with_capacity(MESSAGES_AT_ONCE);
            let receive = async {
                tokio::time::timeout_at(deadline.into(), messages.recv_many(&mut arrived, MESSAGES_AT_ONCE)).await
            };
            let closed = matches!(runtime.block_on(receive), Ok(0));
            if !arrived.is_empty() {
                self.handle(arrived)?;
                self.outcomes.stage.consider_snapshot();
            }
            if closed || Instant::now() >= deadline {
                self.seal()?;
                deadline = Instant::now() + BATCH_AGE;
            }
            if closed {
                let mut stage = self.outcomes.stage;
                stage.snapshots.finish(&stage.decider, &stage.page_urls);
                return Ok((stage.hosts, stage.snapshots));
            }
        }
    }

    /// Handles what arrived together, in order.
    fn handle(&mut self, mut messages: Vec<Message>) -> Result<(), CrawlError> {
        self.appraise(&mut messages);
        let mut judged = self.decide(&mut messages)?.into_iter();
        for message in messages {
            match message {
                Message::Attempts(attempts) => self.outcomes.stage.hosts.add_attempts(&attempts),
                Message::Robots { origin, row, sitemaps } => {
                    self.outcomes.stage.hosts.set_robots(&origin, row);
                    let links = sitemaps
                        .into_iter()
                        .map(|url| link(url, Discovery::new(LinkKind::SitemapFile, None, 0)))
                        .collect();
                    self.outcomes.offer(links, None)?;
                }
                Message::Idle(answer) => {
                    let has_work = self.check_again()?;
                    // Nobody waits for it only if the crawl was dropped.
                    let _ = answer.send(has_work);
                }
                Message::Arrival { lease, found, attempts } => {
                    attempts.iter().for_each(|attempts| self.outcomes.stage.hosts.add_attempts(attempts));
                    let verdict = if is_judged(&found) { judged.next() } else { None };
                    self.outcomes.end_lease_and_answer(&lease, *found, verdict)?;
                }
            }
            self.changed.notify_one();
            if self.outcomes.stage.building.is_full() {
                self.seal()?;
            }
        }
        if self.outcomes.stage.publish() > 0 && !std::mem::replace(&mut self.has_warned_of_memory, true) {
            tracing::warn!(
                "index memory limit reached: oldest pages are compared by sketch first (slower, still exact); raise it with --memory"
            );
        }
        Ok(())
    }

    /// Checks the near-duplicates since the last time again, and queues those that would be none by now. Queues also
    /// the URLs of trap patterns that were opened again. Returns whether there are any.
    fn check_again(&mut self) -> Result<bool, CrawlError> {
        let stage = &mut self.outcomes.stage;
        let from = std::mem::replace(&mut self.checked, Sequence(stage.page_urls.len() as u32));
        let urls: Vec<UrlId> = stage.outdated(from)?.into_iter().map(|(url, _)| url).collect();
        let is_any = !urls.is_empty();
        self.outcomes.frontier.revise(urls)?;
        Ok(self.outcomes.frontier.reopen()? || is_any)
    }

    /// Compares the pages among the messages with the topic.
    fn appraise(&mut self, messages: &mut [Message]) {
        let Some(focus) = &mut self.outcomes.focus else { return };
        for message in messages {
            if let Message::Arrival { found, .. } = message
                && let Found::Page(page) = &mut **found
            {
                focus.appraise(page);
            }
        }
    }

    /// Gives the verdicts on the pages among the messages. Takes the pages' terms.
    fn decide(&mut self, messages: &mut [Message]) -> Result<Vec<Judged>, CrawlError> {
        let mut pages = Vec::new();
        for message in messages {
            if let Message::Arrival { lease, found, .. } = message
                && is_judged(found)
            {
                let renews = self.outcomes.renewed(lease);
                pages.extend(page_input(&self.outcomes.crawl, lease, found, renews));
            }
        }
        Ok(self.outcomes.stage.decide(pages)?)
    }

    /// Hands the batch to the committer. Waits until the one before is committed.
    fn seal(&mut self) -> Result<(), CrawlError> {
        let changes = self.outcomes.frontier.take_changes();
        let stage = &mut self.outcomes.stage;
        let batch = &mut stage.building.batch;
        batch.urls = changes.urls;
        batch.requeued = changes.requeued;
        batch.leased = changes.leased;
        batch.counterparts = changes.counterparts;
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        stage.hosts.set_millis(self.earlier_millis.saturating_add(millis));
        let Some(sealed) = stage.seal() else { return Ok(()) };
        // A closed channel means that the committer has failed: it says why when it is joined.
        self.commits.send(sealed).map_err(|_| PipelineError::Stopped.into())
    }
}

/// Pages that ask not to be indexed are not decided, nor are those off the topic.
fn is_judged(found: &Found) -> bool {
    matches!(found, Found::Page(page) if !page.rendered.robots.noindex && !page.is_off_topic)
}

/// Takes the page's terms.
fn page_input(crawl: &str, lease: &Lease, found: &mut Found, renews: Option<Sequence>) -> Option<PageInput> {
    let Found::Page(page) = found else { return None };
    Some(PageInput {
        page: page_id(crawl, lease),
        group: group_of(lease.url.host()),
        body_digest: page.body_digest,
        text_digest: page.rendered.text_digest,
        terms: std::mem::take(&mut page.rendered.terms),
        order: std::mem::take(&mut page.rendered.order),
        renews,
    })
}
